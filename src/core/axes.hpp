// From what the user typed to the list of planned cases.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/axis.hpp"
#include "core/problem.hpp"

namespace attnprof {

/// Parses a list of whole numbers: comma-separated items, each a number with an optional suffix (k = 1024, m
/// = 1024^2) or an inclusive range `first:last:xF` (geometric), `first:last:+S` (arithmetic), `first:last`
/// (powers of two when both are, else +1). Order is kept, duplicates dropped. Throws UsageError that names
/// the option, quotes the item, says what is wrong (empty, not a number, zero, negative, overflow, range that
/// never ends or is reversed, more than 4096 values) and shows a right form.
std::vector<int64_t> parse_int_axis(std::string_view option, std::string_view text, int64_t min_value = 1);

/// The values of one item of an option: one for each axis that the option sets (--tile: two).
using AxisItem = std::vector<Cell>;
/// Parses what was typed for an option of the table of axes, as parse_int_axis where the axis is a number;
/// words by the table.
std::vector<AxisItem> parse_axis(std::string_view option, std::string_view text);

/// Everything a sweep ranges over.
struct Axes {
  std::map<std::string, std::vector<AxisItem>, std::less<>>
      given;                         ///< by option; others follow or are neutral
  std::optional<int64_t> tokens;     ///< batch = max(1, tokens / seqlen_q); excludes --batch
  int64_t hidden = Sizing{}.hidden;  ///< heads * head_dim where heads are not given
  std::vector<std::string> impls{};  ///< as typed: may hold "fused"

  /// parse_axis under its option.
  void set(std::string_view option, std::string_view text) {
    given.insert_or_assign(std::string(option), parse_axis(option, text));
  }
};

/// A planned combination; `invalid` says why it makes no sense (a row with status "skipped"), else it is
/// empty.
struct PlannedCase {
  Case planned;         ///< impl as typed
  std::string invalid;  ///< "kv_heads 3 does not divide heads 8"
};

/// The cross product in a stable order (Axis::nesting): problems outermost, then tiles, then implementations,
/// so that those of one problem are adjacent. Throws UsageError for contradictions (tokens with batch; every
/// combination invalid; more than 1,000,000 cases).
std::vector<PlannedCase> expand(const Axes& axes);

/// Named shapes: "gpt2-medium", "llama3-8b", ... Sets heads, kv_heads, head_dim (and seqlen, batch if not
/// given).
struct Preset {
  std::string_view name;
  std::string_view summary;
  int64_t heads, kv_heads, head_dim, seqlen, batch;
  bool causal;
};
const std::vector<Preset>& presets();
const Preset& find_preset(std::string_view name);  ///< throws UsageError listing the names

}  // namespace attnprof
