// From what the user typed to the list of planned cases.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/problem.hpp"

namespace attnprof {

/// Parses one axis: comma-separated items, each a number with an optional suffix (k = 1024, m = 1024^2) or an
/// inclusive range `first:last:xF` (geometric), `first:last:+S` (arithmetic), `first:last` (powers of two
/// when both are, else +1). Order is kept, duplicates dropped. Throws UsageError that quotes the item, says
/// what is wrong (empty, not a number, zero, negative, overflow, range that never ends or is reversed, more
/// than 4096 values) and shows a right form.
std::vector<int64_t> parse_int_axis(std::string_view axis_name, std::string_view text, int64_t min_value = 1);

/// "0", "1", "false", "true", "no", "yes", "both".
std::vector<bool> parse_causal_axis(std::string_view text);
std::vector<DType> parse_dtype_axis(std::string_view text);
std::vector<Pass> parse_pass_axis(std::string_view text);
/// "default" or MxN, each side a number; "128x64,64x64". default is {0, 0}.
std::vector<std::pair<int, int>> parse_tile_axis(std::string_view text);
/// "none" (0) or numbers.
std::vector<int64_t> parse_window_axis(std::string_view text);

/// Everything a sweep ranges over. Vectors are nonempty after parsing. Optional ones follow another axis when
/// absent: seqlen_kv = seqlen_q, kv_heads = heads, batch = tokens / seqlen_q when tokens is set.
struct Axes {
  std::vector<Pass> passes{Pass::fwd};
  std::vector<DType> dtypes{DType::bf16};
  std::vector<int64_t> seqlens{};
  std::vector<int64_t> seqlens_kv{};  ///< empty: as seqlen_q
  std::vector<int64_t> head_dims{64};
  std::vector<int64_t> heads{};     ///< empty: hidden / head_dim
  std::vector<int64_t> kv_heads{};  ///< empty: as heads
  std::vector<int64_t> batches{};   ///< empty: tokens / seqlen_q, or 1
  std::optional<int64_t> tokens;    ///< batch = max(1, tokens / seqlen_q); excludes batches
  int64_t hidden = 2048;  ///< heads * head_dim when heads is empty (the FlashAttention papers' sizing)
  std::vector<bool> causal{false};
  std::vector<int64_t> windows{0};
  std::vector<std::pair<int, int>> tiles{{0, 0}};
  std::vector<std::string> impls{};  ///< as typed: may hold "fused"
  double scale = 0.0;
  Fill fill = Fill::normal;
  uint64_t seed = 1;
};

/// A planned combination; `invalid` says why it makes no sense (a row with status "skipped"), else it is
/// empty.
struct PlannedCase {
  Case planned;         ///< impl as typed
  std::string invalid;  ///< "kv_heads 3 does not divide heads 8"
};

/// The cross product in a stable order: problems outermost (pass, dtype, head_dim, heads, kv_heads, batch,
/// seqlen, seqlen_kv, window, causal), then tile, then impl innermost, so that implementations of one problem
/// are adjacent. Throws UsageError for contradictions (tokens with batch; every combination invalid; more
/// than 1,000,000 cases).
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
