// What a block of flash2 works on: one tile of query rows of one head, and the key tiles that those rows see.
#pragma once

#include "kernels/device/params.cuh"

namespace attnprof {

/// Asked for anew wherever it is used: kept in a variable, it costs registers that the kernel does not have.
template <class Config>
__device__ __forceinline__ Mask<int> mask_of(const AttentionParams& params) {
  return mask_of(params, Config::kCausal, Config::kWindow);
}

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
  const int last_row = min(w.first_row + Config::kTileM, params.seqlen_q) - 1;
  const int begin = visible_begin(mask_of<Config>(params), w.first_row);
  const int end = max(visible_end(mask_of<Config>(params), last_row), begin);
  w.first_tile = begin / kTileN;
  w.last_tile = end == begin ? w.first_tile : (end + kTileN - 1) / kTileN;
  w.last_whole =
      max(min(max(visible_end(mask_of<Config>(params), w.first_row), 0) / kTileN, w.last_tile), w.first_tile);
  const int whole_begin = (visible_begin(mask_of<Config>(params), last_row) + kTileN - 1) / kTileN;
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
