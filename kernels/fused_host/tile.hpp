// One query tile of the tiled host kernel: what the threads run, compiled once per instruction set.
#pragma once

#include <algorithm>
#include <cstdint>

#include "core/implementation.hpp"
#include "core/problem.hpp"

namespace attnprof {

/// Rows of a query tile that go through scores, softmax and PV together: their scores stay in the first-level
/// cache while the packed K and V tiles stream from the second. A multiple of the product kernel's rows (6 or
/// 12).
constexpr int64_t kFusedRowGroup = 24;

/// Widest panel of any instruction set, in floats (two AVX-512 vectors): what scratch is padded to.
constexpr int64_t kFusedMaxPanel = 32;

/// A launch as every thread sees it.
struct FusedLaunch {
  Problem problem;
  Tensors tensors;
  int64_t tile_m = 0;  ///< clipped to seqlen_q
  int64_t tile_n = 0;  ///< clipped to seqlen_kv
  float scale_log2 =
      0;  ///< softmax scale * log2(e): scores are kept in units in which softmax is 2^s / sum 2^s

  int64_t query_tiles() const { return (problem.seqlen_q + tile_m - 1) / tile_m; }
};

/// Where the pieces of one thread's working set lie, in floats from its start. All fp32.
struct FusedScratch {
  int64_t q = 0;        ///< [tile_m][head_dim], times scale_log2
  int64_t k = 0;        ///< packed panels of K^T
  int64_t v = 0;        ///< packed panels of V
  int64_t s = 0;        ///< [row group][tile_n]: scores, then probabilities
  int64_t o = 0;        ///< [tile_m][head_dim, padded]: unnormalised output
  int64_t row_max = 0;  ///< [tile_m]
  int64_t row_sum = 0;  ///< [tile_m]
  int64_t keep = 0;     ///< [row group]: factor on what was accumulated before this tile
  int64_t floats = 0;   ///< size of the whole
};

inline FusedScratch fused_scratch(int64_t tile_m, int64_t tile_n, int64_t head_dim) {
  const auto padded = [](int64_t count) {
    return (count + kFusedMaxPanel - 1) / kFusedMaxPanel * kFusedMaxPanel;
  };
  FusedScratch scratch;
  int64_t at = 0;
  const auto take = [&at](int64_t floats) {
    const int64_t begin = at;
    at += (floats + 63) / 64 * 64;  // 256 bytes: no two pieces share a line
    return begin;
  };
  scratch.q = take(tile_m * head_dim);
  scratch.k = take(padded(tile_n) * head_dim);
  scratch.v = take(tile_n * padded(head_dim));
  scratch.s = take(std::min(tile_m, kFusedRowGroup) * padded(tile_n));
  scratch.o = take(tile_m * padded(head_dim));
  scratch.row_max = take(tile_m);
  scratch.row_sum = take(tile_m);
  scratch.keep = take(kFusedRowGroup);
  scratch.floats = at;
  return scratch;
}

/// Keys that rows [begin, end) of one head see together: both ends of the visible range grow with the row,
/// and ranges of neighbouring rows overlap or touch. Empty when the last row sees nothing (then no row before
/// it does).
inline KeyRange keys_of_rows(const Problem& p, int64_t begin, int64_t end) {
  const KeyRange last = visible_keys(p, end - 1);
  if (last.size() <= 0) return {0, 0};
  return {visible_keys(p, begin).begin, last.end};
}

/// Computes query tile `tile` of query head `head` (counted over the batch): rows of O and LSE. Adds what
/// crossed between main memory and the tile working set to `traffic`. `scratch` holds fused_scratch().floats
/// floats, 64-byte aligned.
void fused_query_tile(const FusedLaunch& launch, int64_t head, int64_t tile, float* scratch,
                      Traffic& traffic);

}  // namespace attnprof
