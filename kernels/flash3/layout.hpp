// How flash3 cuts a problem, where the plan on the host and the kernel have to agree. Compiled by the host
// compiler and by NVRTC, so it includes nothing.
#pragma once

namespace attnprof::flash3_layout {

constexpr int kWarpgroup = 128;     ///< threads
constexpr int kWarpgroupRows = 64;  ///< of Q
constexpr int kPanelColumns = 64;   ///< 128 bytes: the width of the 128-byte swizzle
constexpr int kPanelRowBytes = 128;
constexpr int kSharedLimit = 232448;  ///< bytes of a block: 227 KiB

/// One tile of query rows and the K and V tiles in flight beside it.
struct TileShape {
  int head_dim, tile_m, tile_n, stages;
  bool specialize;  ///< a warpgroup of its own loads
};

constexpr int consumers(const TileShape& t) {
  return t.tile_m / kWarpgroupRows;
}
constexpr int threads(const TileShape& t) {
  return kWarpgroup * (consumers(t) + (t.specialize ? 1 : 0));
}
constexpr int panels(const TileShape& t) {
  return (t.head_dim + kPanelColumns - 1) / kPanelColumns;
}
/// One warpgroup's rows of Q.
constexpr int q_bytes(const TileShape& t) {
  return panels(t) * kWarpgroupRows * kPanelRowBytes;
}
/// One stage of K, or of V.
constexpr int kv_bytes(const TileShape& t) {
  return panels(t) * t.tile_n * kPanelRowBytes;
}
/// Two where they fit: the next tile's Q then arrives under the current tile.
constexpr int q_buffers(const TileShape& t) {
  return 2 * (consumers(t) * q_bytes(t) + t.stages * kv_bytes(t)) + 1024 <= kSharedLimit ? 2 : 1;
}
/// Of a block. Beside the tiles: per Q buffer and warpgroup the work and two barriers, per stage four
/// barriers.
constexpr int smem_bytes(const TileShape& t) {
  return q_buffers(t) * consumers(t) * (q_bytes(t) + 32) + t.stages * (2 * kv_bytes(t) + 32);
}

/// Query rows that share one KV head: the query heads of the group, one after the other. Where heads do not
/// share, the kernel saves the division.
template <class Int>
constexpr Int packed_rows(Int heads, Int kv_heads, Int seqlen_q) {
  return heads == kv_heads ? seqlen_q : heads / kv_heads * seqlen_q;
}

/// KV heads whose tiles are interleaved under a causal mask: some tiles for every block to choose from, but
/// no more heads than that takes, since their K and V are in use all together and have to stay in L2.
constexpr int section_heads(int row_tiles, int blocks, unsigned long long kv_head_bytes) {
  constexpr int kTilesPerBlock = 3;
  constexpr unsigned long long kL2Budget = 32ull << 20;
  int heads = 1;
  while (2 * heads * row_tiles <= kTilesPerBlock * blocks && 2 * heads * kv_head_bytes <= kL2Budget)
    heads *= 2;
  return heads;
}

}  // namespace attnprof::flash3_layout
