#include "cli/axis_options.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/typed.hpp"
#include "core/error.hpp"

namespace attnprof {
namespace {

std::string joined(const std::vector<std::string>& items) {
  return fmt::format("{}", fmt::join(items, ","));
}

std::vector<int64_t> numbers(const char* axis, const std::vector<std::string>& items) {
  return items.empty() ? std::vector<int64_t>{} : parse_int_axis(axis, joined(items));
}

int64_t one_number(const char* axis, const std::string& text, int64_t min_value = 1) {
  const std::vector<int64_t> values = parse_int_axis(axis, text, min_value);
  if (values.size() != 1) throw UsageError(fmt::format("--{} takes one number, not '{}'", axis, text));
  return values.front();
}

std::vector<std::string> names(const std::vector<std::string>& items) {
  std::vector<std::string> result;
  for (const std::string& part : split(joined(items), ',')) {
    if (part.empty())
      throw UsageError(fmt::format("--impl: empty name in '{}'; e.g. naive,fused", joined(items)));
    result.push_back(part);
  }
  return result;
}

}  // namespace

void setup_axis_options(Command& command, AxisOptions& o) {
  command.group("Axes");
  const auto list = [&command](const char* name, std::vector<std::string>& value, const char* help) {
    command.option(name, value, help).type_name("LIST");
  };
  list("--seqlen", o.seqlen, "Sequence length of Q (and K/V): 512,1k,2k or 1k:32k:x2 or 64:256:+64");
  list("--seqlen-kv", o.seqlen_kv, "Sequence length of K/V when it differs");
  list("--head-dim", o.head_dim, "Head width: 64,128,256 or 32:256:+8");
  list("--heads", o.heads, "Query heads (default: hidden / head-dim)");
  list("--kv-heads", o.kv_heads, "Key/value heads, dividing heads (default: as heads)");
  list("--batch", o.batch, "Batch size");
  command
      .option("--tokens", o.tokens, "Batch follows: tokens / seqlen (16k: the FlashAttention papers' sizing)")
      .type_name("N");
  command
      .option("--hidden", o.hidden, "heads * head-dim when heads is not given (default 2048; on the CPU 256)")
      .type_name("N");
  list("--causal", o.causal, "0, 1 or both; bottom-right aligned");
  list("--window", o.window,
       "Sliding window: none, or the number of keys that a query sees on each side, itself included");
  list("--dtype", o.dtype, "fp32, fp16, bf16");
  list("--pass", o.pass, "fwd, bwd, fwd+bwd");
  list("--tile", o.tile, "tile_m x tile_n: 128x64,64x64, or default");
  list("--stages", o.stages, "K/V tiles in flight (GPU kernels)");
  list("--warps", o.warps, "Warps per tile (GPU kernels)");
  command
      .option("--tuned", o.tuned,
              "Tiles from FILE go before the shipped ones, where --tile is not given; none: each "
              "implementation's own rule (default: $ATTNPROF_TUNED, else ~/.config/attnprof/tuned.csv; "
              "see `attnprof tune`)")
      .type_name("FILE|none");
  list("--impl", o.impl, "Implementations: naive,fused,... (see `attnprof list`)");
  command
      .option("--preset", o.preset,
              "Shape of a known model: gpt2-medium, llama3-8b, ... (see `attnprof list`)")
      .type_name("NAME");
  command.option("--scale", o.scale, "Factor on QK^T (default 1/sqrt(head-dim))").type_name("X");
  command.option("--fill", o.fill, "Input data: normal (default) or zeros (runs faster: less power)")
      .one_of({"normal", "zeros"});
  command.option("--seed", o.seed, "Seed of the input data").type_name("N");
  command
      .option("--config", o.config_file, "TOML file with any of these options as keys; the command line wins")
      .type_name("FILE");
}

Axes parse_axes(const AxisOptions& o, DeviceKind device) {
  Axes axes;
  const bool host = device == DeviceKind::host;
  if (!o.preset.empty()) {
    const Preset& preset = find_preset(o.preset);
    axes.heads = {preset.heads};
    axes.kv_heads = {preset.kv_heads};
    axes.head_dims = {preset.head_dim};
    axes.seqlens = {preset.seqlen};
    axes.batches = {preset.batch};
    axes.causal = {preset.causal};
  } else {
    axes.seqlens = parse_int_axis("seqlen", host ? "256:2k:x2" : "512:16k:x2");
    axes.hidden = host ? 256 : 2048;
    if (!host && o.batch.empty() && o.tokens.empty()) axes.tokens = 16 * 1024;
  }
  if (!o.seqlen.empty()) axes.seqlens = numbers("seqlen", o.seqlen);
  if (!o.seqlen_kv.empty()) axes.seqlens_kv = numbers("seqlen-kv", o.seqlen_kv);
  if (!o.head_dim.empty()) axes.head_dims = numbers("head-dim", o.head_dim);
  if (!o.heads.empty()) {
    axes.heads = numbers("heads", o.heads);
    axes.kv_heads.clear();
  }
  if (!o.kv_heads.empty()) axes.kv_heads = numbers("kv-heads", o.kv_heads);
  if (!o.batch.empty()) axes.batches = numbers("batch", o.batch);
  if (!o.tokens.empty()) {
    axes.tokens = one_number("tokens", o.tokens);
    if (o.batch.empty()) axes.batches.clear();
  }
  if (!o.hidden.empty()) axes.hidden = one_number("hidden", o.hidden);
  if (!o.causal.empty()) axes.causal = parse_causal_axis(joined(o.causal));
  if (!o.window.empty()) axes.windows = parse_window_axis(joined(o.window));
  if (!o.dtype.empty()) axes.dtypes = parse_dtype_axis(joined(o.dtype));
  if (!o.pass.empty()) axes.passes = parse_pass_axis(joined(o.pass));
  if (!o.tile.empty()) axes.tiles = parse_tile_axis(joined(o.tile));
  axes.impls = o.impl.empty() ? std::vector<std::string>{"naive", "fused"} : names(o.impl);
  axes.scale = o.scale;
  axes.fill = o.fill == "zeros" ? Fill::zeros : Fill::normal;
  axes.seed = static_cast<uint64_t>(one_number("seed", o.seed, 0));
  return axes;
}

std::vector<PlannedCase> planned_cases(const AxisOptions& o, DeviceKind device) {
  std::vector<PlannedCase> cases = expand(parse_axes(o, device));
  const auto multiply = [&cases](const std::vector<int64_t>& values, int KernelConfig::*field) {
    if (values.empty()) return;
    std::vector<PlannedCase> product;
    for (const PlannedCase& c : cases) {
      for (int64_t value : values) {
        product.push_back(c);
        product.back().planned.config.*field = static_cast<int>(std::min<int64_t>(value, 1 << 20));
      }
    }
    cases = std::move(product);
  };
  multiply(numbers("stages", o.stages), &KernelConfig::stages);
  multiply(numbers("warps", o.warps), &KernelConfig::warps);
  return cases;
}

}  // namespace attnprof
