// What a block of flash2 works on: one tile of query rows of one head, and the key tiles that those rows see.
#pragma once

#include "kernels/device/params.cuh"

namespace attnprof {

/// Keys [begin, end) that a query row sees, begin not yet clipped to 0 (src/core/problem.hpp: visible_keys).
template <class Config>
struct Visibility {
  const AttentionParams& params;

  __device__ __forceinline__ int begin(int row) const {
    return Config::kWindow ? row + params.seqlen_kv - params.seqlen_q - params.window + 1 : 0;
  }
  __device__ __forceinline__ int end(int row) const {
    const int diagonal = row + params.seqlen_kv - params.seqlen_q;
    if (Config::kCausal) return min(diagonal + 1, params.seqlen_kv);
    return Config::kWindow ? min(diagonal + params.window, params.seqlen_kv) : params.seqlen_kv;
  }
};

/// Key tiles are [first_tile, last_tile), of which [first_whole, last_whole) are seen whole by every row: no
/// mask there.
struct BlockWork {
  int head;  ///< of batch * heads, which fits: the grid has a block for each
  int first_row;
  int first_tile, first_whole, last_whole, last_tile;
};

template <class Config>
__device__ __forceinline__ void find_tiles(BlockWork& w, const AttentionParams& params) {
  constexpr int kTileN = Config::kTileN;
  const Visibility<Config> visible{params};
  const int last_row = min(w.first_row + Config::kTileM, params.seqlen_q) - 1;
  const int begin = max(visible.begin(w.first_row), 0);
  const int end = max(visible.end(last_row), begin);
  w.first_tile = begin / kTileN;
  w.last_tile = end == begin ? w.first_tile : (end + kTileN - 1) / kTileN;
  w.last_whole = max(min(max(visible.end(w.first_row), 0) / kTileN, w.last_tile), w.first_tile);
  const int whole_begin = (max(visible.begin(last_row), 0) + kTileN - 1) / kTileN;
  w.first_whole = min(max(whole_begin, w.first_tile), w.last_whole);
}

/// The block's place in the grid. Blocks that run at the same time share few heads, so that K and V come from
/// L2. Without a causal mask: all rows of a head, then the next head. With one, rows differ in length: the
/// longest rows of all heads go first, which leaves short ones to fill the end of the grid; but only within a
/// section of heads whose K and V fit in L2 together.
template <class Config>
__device__ __forceinline__ BlockWork find_work(const AttentionParams& params, int block) {
  const int m_tiles = (params.seqlen_q + Config::kTileM - 1) / Config::kTileM;
  BlockWork w;
  if constexpr (Config::kCausal) {
    constexpr long long kSectionBytes = 16ll << 20;
    const int heads = params.batch * params.heads;
    const long long kv_bytes = 4ll * Config::kHeadDim * params.seqlen_kv;
    const long long fitting = max(1ll, kSectionBytes / kv_bytes) * (params.heads / params.kv_heads);
    const int per_section = static_cast<int>(min(fitting, static_cast<long long>(heads)));
    const int section_blocks = per_section * m_tiles;  // no more than the grid
    const int section = block / section_blocks;
    const int within = block % section_blocks;
    const int heads_here = min(per_section, heads - section * per_section);
    w.head = section * per_section + within % heads_here;
    w.first_row = (m_tiles - 1 - within / heads_here) * Config::kTileM;
  } else {
    w.head = block / m_tiles;
    w.first_row = static_cast<int>(block % m_tiles) * Config::kTileM;
  }
  find_tiles<Config>(w, params);
  return w;
}

}  // namespace attnprof
