// Which tile a block works on next, and which K/V blocks that tile visits.
#pragma once

#include "kernels/device/params.cuh"
#include "kernels/flash3/config.cuh"

namespace attnprof {

__device__ __forceinline__ int smaller(int a, int b) {
  return a < b ? a : b;
}
__device__ __forceinline__ int larger(int a, int b) {
  return a > b ? a : b;
}

__device__ __forceinline__ int packed_rows(const AttentionParams& p) {
  return flash3_layout::packed_rows(p.heads, p.kv_heads, p.seqlen_q);
}

/// Query position of a packed row.
__device__ __forceinline__ int position(const AttentionParams& p, int row) {
  return row < p.seqlen_q ? row : row % p.seqlen_q;
}

__device__ __forceinline__ Keys<int> visible_keys(const AttentionParams& p, int position) {
  return visible(mask_of(p, kCausal, kWindow), position);
}

/// First and last query position among packed rows [first, last]; every position when they belong to several
/// heads.
struct Positions {
  int first;
  int last;
};

__device__ __forceinline__ Positions positions(const AttentionParams& p, int first_row, int last_row) {
  last_row = larger(smaller(last_row, packed_rows(p) - 1), 0);
  first_row = larger(smaller(first_row, last_row), 0);
  if (last_row < p.seqlen_q) return {first_row, last_row};
  const int head = first_row / p.seqlen_q;
  if (head != last_row / p.seqlen_q) return {0, p.seqlen_q - 1};
  return {first_row - head * p.seqlen_q, last_row - head * p.seqlen_q};
}

/// Order of the tiles. Without a causal mask: along the rows of one KV head, then the next head, so that few
/// K and V are in flight. With one, tiles differ in length: within a section of KV heads, the longest (last
/// rows) of all its heads come first, and the short ones fill the gaps at the end.
class Schedule {
 public:
  __device__ __forceinline__ explicit Schedule(const AttentionParams& p)
      : params_(p), tiles_m_((packed_rows(p) + kTileM - 1) / kTileM), kv_heads_(p.batch * p.kv_heads) {
    if (kCausal)
      section_ =
          flash3_layout::section_heads(tiles_m_, gridDim.x, static_cast<uint64>(p.seqlen_kv) * kHeadDim * 4);
  }

  __device__ __forceinline__ int tiles() const { return tiles_m_ * kv_heads_; }

  __device__ __forceinline__ TileWork work(int tile) const {
    const int section = tile / (section_ * tiles_m_);
    const int within = tile - section * section_ * tiles_m_;
    const int heads = smaller(section_, kv_heads_ - section * section_);
    const int row_tile = within / heads;
    TileWork work;
    work.kv_head = section * section_ + within - row_tile * heads;
    // Under a causal mask tiles are counted from the last row, so that a tile that is not full is the
    // shortest one.
    work.first_row =
        kCausal ? packed_rows(params_) - (row_tile + 1) * kTileM : (tiles_m_ - 1 - row_tile) * kTileM;
    const Positions range = positions(params_, work.first_row, work.first_row + kTileM - 1);
    const int begin = visible_keys(params_, range.first).begin / kTileN;
    const int end = (visible_keys(params_, range.last).end + kTileN - 1) / kTileN;
    work.blocks = larger(end - begin, 1);  // a tile that sees nothing still visits a block, all masked
    work.last_block = begin + work.blocks - 1;
    return work;
  }

 private:
  const AttentionParams& params_;
  int tiles_m_;
  int kv_heads_;
  int section_ = 1;  // KV heads
};

/// Tiles handed out so far beyond the first of each block. Every launch takes exactly as many as there are
/// tiles, so the wrapping increment leaves it at 0 for the next launch. One launch of a module at a time.
__device__ unsigned int tile_counter;

/// Block b starts with tile b; whoever finishes first takes the next one.
__device__ __forceinline__ int next_tile(int tiles) {
  return static_cast<int>(atomicInc(&tile_counter, tiles - 1) + gridDim.x);
}

}  // namespace attnprof
