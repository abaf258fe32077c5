#include "cli/axis_options.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "cli/say.hpp"
#include "core/error.hpp"
#include "core/text.hpp"

namespace attnprof {
namespace {

std::string joined(const std::vector<std::string>& items) {
  return fmt::format("{}", fmt::join(items, ","));
}

int64_t one_number(const char* option, const std::string& text) {
  const std::vector<int64_t> values = parse_int_axis(option, text);
  if (values.size() != 1) throw UsageError(fmt::format("--{} takes one number, not '{}'", option, text));
  return values.front();
}

std::vector<std::string> names(const std::vector<std::string>& items) {
  std::vector<std::string> result;
  const std::string all = joined(items);
  for (const std::string_view name : split(all, ',')) {
    if (name.empty()) throw UsageError(fmt::format("--impl: empty name in '{}'; e.g. naive,fused", all));
    result.emplace_back(name);
  }
  return result;
}

/// Heads and sequences are whole, so hidden = heads * head-dim and tokens = batch * seqlen may not come out:
/// says so of the first case of each kind.
void say_inexact(const AxisOptions& o, const Axes& axes, const std::vector<PlannedCase>& cases) {
  const auto first_off = [&cases](int64_t wanted, auto size) {
    return std::find_if(cases.begin(), cases.end(), [&](const PlannedCase& c) {
      return c.invalid.empty() && size(c.planned.problem) != wanted;
    });
  };
  if (!o.hidden.empty() && axes.given.contains("heads")) {
    say("--hidden {} is not used: the number of heads is given", o.hidden);
  } else if (!o.hidden.empty()) {
    const auto off = first_off(axes.hidden, [](const Problem& p) { return p.heads * p.head_dim; });
    if (off != cases.end()) {
      const Problem& p = off->planned.problem;
      say("--hidden {}: not a multiple of head-dim {}; {} x {} = {} is measured", o.hidden, p.head_dim,
          p.heads, p.head_dim, p.heads * p.head_dim);
    }
  }
  if (o.tokens.empty()) return;
  const auto off = first_off(*axes.tokens, [](const Problem& p) { return p.batch * p.seqlen_q; });
  if (off == cases.end()) return;
  const Problem& p = off->planned.problem;
  say("--tokens {}: not a multiple of seqlen {}; {} x {} = {} are measured", o.tokens, p.seqlen_q, p.batch,
      p.seqlen_q, p.batch * p.seqlen_q);
}

/// The shape of a known model.
void set_preset(Axes& axes, const Preset& preset) {
  const auto set = [&axes](const char* option, int64_t value) { axes.set(option, std::to_string(value)); };
  set("heads", preset.heads);
  set("kv-heads", preset.kv_heads);
  set("head-dim", preset.head_dim);
  set("seqlen", preset.seqlen);
  set("batch", preset.batch);
  set("causal", preset.causal);
}

}  // namespace

void setup_axis_options(Command& command, AxisOptions& o) {
  command.group("Axes");
  for (const std::vector<const Axis*>& parts : axis_options()) {
    const Axis& axis = *parts.front();
    std::vector<std::string>& typed = o.axes[std::string(axis.option)];
    command.option(fmt::format("--{}", axis.option), typed, std::string(axis.help)).type_name("LIST");
  }
  command
      .option("--tokens", o.tokens, "Batch follows: tokens / seqlen (16k: the FlashAttention papers' sizing)")
      .type_name("N");
  command
      .option("--hidden", o.hidden, "heads * head-dim when heads is not given (default 2048; on the CPU 256)")
      .type_name("N");
  command
      .option("--tuned", o.tuned,
              "FILE overrides the shipped tiles, where --tile is not given; none: each implementation's own "
              "rule (default: $ATTNPROF_TUNED, else ~/.config/attnprof/tuned.csv; see `attnprof tune`)")
      .type_name("FILE|none");
  command.option("--impl", o.impl, "Implementations: naive,fused,... (see `attnprof list`)")
      .type_name("LIST");
  command
      .option("--preset", o.preset,
              "Shape of a known model: gpt2-medium, llama3-8b, ... (see `attnprof list`)")
      .type_name("NAME");
  command
      .option("--config", o.config_file, "TOML file with any of these options as keys; the command line wins")
      .type_name("FILE");
}

Axes parse_axes(const AxisOptions& o, DeviceKind device) {
  Axes axes;
  const bool host = device == DeviceKind::host;
  if (!o.preset.empty()) {
    set_preset(axes, find_preset(o.preset));
  } else {
    axes.set("seqlen", host ? "256:2k:x2" : "512:16k:x2");
    if (host) axes.hidden = 256;
    if (!host && !o.given("batch") && o.tokens.empty()) axes.tokens = 16 * 1024;
  }
  if (o.given("heads")) axes.given.erase("kv-heads");  // they follow the heads that were given
  if (!o.tokens.empty()) {
    axes.tokens = one_number("tokens", o.tokens);
    axes.given.erase("batch");
  }
  if (!o.hidden.empty()) axes.hidden = one_number("hidden", o.hidden);
  for (const auto& [option, items] : o.axes) {
    if (!items.empty()) axes.set(option, joined(items));
  }
  axes.impls = o.impl.empty() ? std::vector<std::string>{"naive", "fused"} : names(o.impl);
  return axes;
}

std::vector<PlannedCase> planned_cases(const AxisOptions& o, DeviceKind device) {
  const Axes axes = parse_axes(o, device);
  std::vector<PlannedCase> cases = expand(axes);
  say_inexact(o, axes, cases);
  return cases;
}

}  // namespace attnprof
