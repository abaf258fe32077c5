// The rows of the table of axes.
#include <algorithm>

#include "core/axis.hpp"

namespace attnprof {
namespace {

// ---- the fields of Case as cells, and back

Cell to_cell(int64_t value) {
  return value;
}
Cell to_cell(int value) {
  return int64_t{value};
}
Cell to_cell(bool value) {
  return int64_t{value};
}
Cell to_cell(uint64_t value) {
  return static_cast<int64_t>(value);
}
Cell to_cell(double value) {
  return value;
}
template <class Word>
requires std::is_enum_v<Word> Cell to_cell(Word word) {
  return std::string(to_string(word));
}

template <class Number>
requires std::is_arithmetic_v<Number>
void assign(Number& field, const Cell& cell) {
  if (const auto* real = std::get_if<double>(&cell)) {
    field = static_cast<Number>(*real);
  } else {
    field = static_cast<Number>(std::get<int64_t>(cell));
  }
}
template <class Word>
requires std::is_enum_v<Word>
void assign(Word& field, const Cell& cell) {
  const std::string& text = std::get<std::string>(cell);
  for (int value = 0; to_string(static_cast<Word>(value)) != "?"; ++value) {
    if (to_string(static_cast<Word>(value)) == text) field = static_cast<Word>(value);
  }
}

template <class T>
AxisField of(T Problem::*field) {
  return {[field](const Case& c) { return to_cell(c.problem.*field); },
          [field](Case& c, const Cell& cell) { assign(c.problem.*field, cell); }};
}

const int64_t kNo = 0, kYes = 1;
constexpr double kMostSeed = 1.9e19;  // 64 bits

/// A field of KernelConfig, where 0 is the implementation's own choice.
Axis tiling(std::string_view name, std::string_view option, int KernelConfig::*field, int nesting,
            std::string_view help, std::string_view meaning, std::vector<AxisWord> words = {}) {
  return {.name = name,
          .option = option,
          .help = help,
          .meaning = meaning,
          .kind = AxisKind::count,
          .words = std::move(words),
          .least = 1,
          .most = 1 << 20,
          .field = {[field](const Case& c) { return to_cell(c.config.*field); },
                    [field](Case& c, const Cell& cell) { assign(c.config.*field, cell); }},
          .nesting = nesting,
          .tiling = true,
          .empty_when_neutral = true};
}

/// Words that stand for themselves.
std::vector<AxisWord> words(std::initializer_list<std::string_view> list) {
  std::vector<AxisWord> all;
  for (const std::string_view word : list) all.push_back({word, {std::string(word)}});
  return all;
}

}  // namespace

std::vector<Axis> built_in_axes() {
  using Kind = AxisKind;
  return {
      {.name = "pass",
       .option = "pass",
       .help = "fwd, bwd, fwd+bwd",
       .meaning = "fwd, bwd or fwd+bwd",
       .kind = Kind::word,
       .words = words({"fwd", "bwd", "fwd+bwd"}),
       .field = of(&Problem::pass),
       .nesting = 0,
       .always_typed = true,
       .label = "{} "},
      {.name = "dtype",
       .option = "dtype",
       .help = "fp32, fp16, bf16",
       .meaning = "type of Q, K, V and O: fp32, fp16 or bf16",
       .kind = Kind::word,
       .words = words({"fp32", "fp16", "bf16"}),
       .field = of(&Problem::dtype),
       .feature = [](const Case& c) { return std::string(to_string(c.problem.dtype)); },
       .nesting = 1,
       .always_typed = true,
       .always_said = true,
       .label = "{}",
       .tuned = TunedMatch::equal},
      {.name = "batch",
       .option = "batch",
       .help = "Batch size",
       .meaning = "batch size",
       .field = of(&Problem::batch),
       .follows = [](const Case& c, const Sizing& sizing) -> Cell {
         return std::max<int64_t>(1, sizing.tokens / std::max<int64_t>(1, c.problem.seqlen_q));
       },
       .nesting = 6,
       .always_typed = true,
       .always_said = true,
       .label = " b{}"},
      {.name = "heads",
       .option = "heads",
       .help = "Query heads (default: hidden / head-dim)",
       .meaning = "query heads",
       .field = of(&Problem::heads),
       .follows = [](const Case& c, const Sizing& sizing) -> Cell {
         return std::max<int64_t>(1, sizing.hidden / std::max<int64_t>(1, c.problem.head_dim));
       },
       .nesting = 3,
       .always_typed = true,
       .always_said = true,
       .label = " h{}"},
      {.name = "kv_heads",
       .option = "kv-heads",
       .help = "Key/value heads, dividing heads (default: as heads)",
       .meaning = "key/value heads; fewer than heads means grouped queries",
       .field = of(&Problem::kv_heads),
       .follows = [](const Case& c, const Sizing&) -> Cell { return c.problem.heads; },
       .feature = [](const Case& c) { return c.problem.kv_heads == c.problem.heads ? "" : "gqa"; },
       .nesting = 4,
       .always_typed = true,
       .label = "/{}",
       .same_as = "heads",
       .title = "heads"},
      {.name = "seqlen_q",
       .option = "seqlen",
       .help = "Sequence length of Q (and K/V): 512,1k,2k or 1k:32k:x2 or 64:256:+64",
       .meaning = "queries per sequence",
       .field = of(&Problem::seqlen_q),
       .nesting = 5,
       .always_typed = true,
       .always_said = true,
       .label = " s{}"},
      {.name = "seqlen_kv",
       .option = "seqlen-kv",
       .help = "Sequence length of K/V when it differs",
       .meaning = "keys per sequence",
       .field = of(&Problem::seqlen_kv),
       .follows = [](const Case& c, const Sizing&) -> Cell { return c.problem.seqlen_q; },
       .nesting = 7,
       .always_typed = true,
       .label = "x{}",
       .same_as = "seqlen_q",
       .title = "seqlen",
       .tuned = TunedMatch::from,
       .tuned_rank = 3},
      {.name = "head_dim",
       .option = "head-dim",
       .help = "Head width: 64,128,256 or 32:256:+8",
       .meaning = "width of one head",
       .field = of(&Problem::head_dim),
       .follows = [](const Case&, const Sizing&) -> Cell { return int64_t{64}; },
       .nesting = 2,
       .always_typed = true,
       .always_said = true,
       .label = " d{}",
       .title = "d",
       .tuned = TunedMatch::up_to,
       .tuned_rank = 1},
      {.name = "causal",
       .option = "causal",
       .help = "0, 1 or both; bottom-right aligned",
       .meaning = "1: query i sees keys up to i + seqlen_kv - seqlen_q",
       .unit = "0/1",
       .kind = Kind::flag,
       .words = {{"0", {kNo}},
                 {"1", {kYes}},
                 {"both", {kNo, kYes}},
                 {"false", {kNo}},
                 {"true", {kYes}},
                 {"no", {kNo}},
                 {"yes", {kYes}}},
       .field = of(&Problem::causal),
       .feature = [](const Case& c) { return c.problem.causal ? "causal" : ""; },
       .nesting = 9,
       .always_typed = true,
       .label = " causal",
       .title = "mask",
       .neutral_text = "full",
       .tuned = TunedMatch::equal},
      {.name = "window",
       .option = "window",
       .help = "Sliding window: none, or the number of keys that a query sees on each side, itself included",
       .meaning = "sliding window in keys; 0 is none",
       .kind = Kind::count,
       .words = {{"none", {kNo}}},
       .least = 1,
       .field = of(&Problem::window),
       .feature = [](const Case& c) { return c.problem.window > 0 ? "window" : ""; },
       .nesting = 8,
       .label = " window {}",
       .title = "mask",
       .tuned = TunedMatch::from,
       .tuned_rank = 2},
      {.name = "scale",
       .option = "scale",
       .help = "Factor on QK^T (default 1/sqrt(head-dim))",
       .meaning = "factor on QK^T before the softmax, in effect",
       .kind = Kind::number,
       .field = of(&Problem::scale),
       .shown = [](const Case& c) -> Cell {
         return c.problem.head_dim > 0 ? softmax_scale(c.problem) : c.problem.scale;
       },
       .nesting = 10,
       .neutral_text = "1/sqrt(d)"},
      {.name = "fill",
       .option = "fill",
       .help = "Input data: normal (default) or zeros (runs faster: less power)",
       .meaning = "what the inputs held: normal or zeros",
       .kind = Kind::word,
       .words = words({"normal", "zeros"}),
       .field = of(&Problem::fill),
       .nesting = 11,
       .label = " {}"},
      {.name = "seed",
       .option = "seed",
       .help = "Seed of the input data",
       .meaning = "seed of the inputs",
       .kind = Kind::count,
       .most = kMostSeed,
       .field = of(&Problem::seed),
       .nesting = 12,
       .always_typed = true},
      tiling("tile_m", "tile", &KernelConfig::tile_m, 20, "tile_m x tile_n: 128x64,64x64, or default",
             "query rows per tile; empty when untiled", {{"default", {kNo}}}),
      tiling("tile_n", "tile", &KernelConfig::tile_n, 20, "", "keys per tile; empty when untiled"),
      tiling("stages", "stages", &KernelConfig::stages, 40, "K/V tiles in flight (GPU kernels)",
             "K/V tiles in flight; empty when it does not apply"),
      tiling("warps", "warps", &KernelConfig::warps, 41, "Warps per tile (GPU kernels)",
             "warps that share a tile; empty when it does not apply"),
  };
}

}  // namespace attnprof
