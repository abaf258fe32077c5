// What a consumer warpgroup is made of: its place in the rings and in the turn order, and the tile it works
// on.
#pragma once

#include "kernels/flash3/load.cuh"
#include "kernels/flash3/softmax.cuh"

namespace attnprof {

/// Where masks matter for one warpgroup: a block needs one unless it lies inside [unmasked_begin,
/// unmasked_end).
struct TileMask {
  Keys<int> rows[2];  ///< of this thread's two rows
  int unmasked_begin;
  int unmasked_end;

  __device__ __forceinline__ TileMask(const AttentionParams& p, int first_row, int thread_row) {
    rows[0] = rows[1] = Keys<int>{0, p.seqlen_kv};
    unmasked_begin = 0;
    unmasked_end = p.seqlen_kv;
    if (kCausal || kWindow) {
      const int last = packed_rows(p) - 1;
#pragma unroll
      for (int h = 0; h < 2; ++h)
        rows[h] = visible_keys(p, position(p, smaller(larger(thread_row + 8 * h, 0), last)));
      const Positions range = positions(p, first_row, first_row + kWarpgroupRows - 1);
      unmasked_end = visible_keys(p, range.first).end;
      unmasked_begin = visible_keys(p, range.last).begin;
    }
  }

  __device__ __forceinline__ void apply(float (&s)[kScores], int block, int thread_column) const {
    const int first = block * kTileN;
    if (first + kTileN > unmasked_end || (kWindow && first < unmasked_begin))
      mask_scores(s, rows, first + thread_column);
  }
};

/// Leading blocks of a tile that a warpgroup passes over: those that only later rows see (causal), or all but
/// one when it has no rows.
__device__ __forceinline__ int blocks_unseen(const AttentionParams& p, const TileWork& work) {
  if (!kSpecialize || kConsumers == 1) return 0;
  if (work.first_row >= packed_rows(p) || work.first_row + kWarpgroupRows <= 0) return work.blocks - 1;
  if (!kCausal) return 0;
  const int end = visible_keys(p, positions(p, work.first_row, work.first_row + kWarpgroupRows - 1).last).end;
  const int last_seen = (larger(end, 1) - 1) / kTileN;
  return smaller(larger(work.last_block - last_seen, 0), work.blocks - 1);
}

/// One warpgroup's share of a tile.
struct Tile {
  TileWork work;
  int thread_row;  ///< packed row of this thread's first row
  int skipped;     ///< blocks_unseen
  TileMask mask;
  SoftmaxState state;

  __device__ __forceinline__ Tile(const AttentionParams& p, const TileWork& share, int lane)
      : work(share),
        thread_row(share.first_row + lane / 32 * 16 + lane % 32 / 4),
        skipped(blocks_unseen(p, share)),
        mask(p, share.first_row, thread_row) {}
};

/// What one consumer warpgroup carries across its tiles.
struct Consumer {
  SharedMemory& smem;
  int warpgroup;
  int lane;  ///< in the warpgroup, 0 to 127
  Ring<kQBuffers> q_ring;
  Ring<kStages> k_ring;
  Ring<kStages> v_ring;

  __device__ __forceinline__ int thread_column() const { return 2 * (lane % 4); }

  __device__ __forceinline__ void wait_q() {
    mbarrier_wait(smem_address(&smem.q_full[q_ring.stage][warpgroup]), q_ring.parity);
  }
  __device__ __forceinline__ void wait_k() {
    mbarrier_wait(smem_address(&smem.k_full[k_ring.stage]), k_ring.parity);
  }
  __device__ __forceinline__ void wait_v() {
    mbarrier_wait(smem_address(&smem.v_full[v_ring.stage]), v_ring.parity);
  }
  __device__ __forceinline__ void wait_next_v() {
    Ring<kStages> next = v_ring;
    next.advance();
    mbarrier_wait(smem_address(&smem.v_full[next.stage]), next.parity);
  }

  /// This warp has read the buffer. Without a producer the block's own barriers say so.
  __device__ __forceinline__ void release(uint64& empty) {
    if (kSpecialize && lane % 32 == 0) mbarrier_arrive(smem_address(&empty));
  }
  /// By every thread for itself: each of them has read which tile it is.
  __device__ __forceinline__ void release_q() {
    if (kSpecialize) mbarrier_arrive(smem_address(&smem.q_empty[q_ring.stage][warpgroup]));
    q_ring.advance();
  }
  __device__ __forceinline__ void release_k() {
    release(smem.k_empty[k_ring.stage]);
    k_ring.advance();
  }
  __device__ __forceinline__ void release_v() {
    release(smem.v_empty[v_ring.stage]);
    v_ring.advance();
  }

  // Turns on the tensor cores: warpgroup w owns named barrier 1 + w, which the warpgroup before it in the
  // ring opens. All warpgroups take the same number of turns in a tile: one a block, the first block
  // excepted.
  __device__ __forceinline__ void await_turn() {
    if (kPingPong) named_barrier_sync(1 + warpgroup, 2 * kWarpgroup);
  }
  __device__ __forceinline__ void pass_turn() {
    if (kPingPong)
      named_barrier_arrive(1 + (warpgroup + 1 == kConsumers ? 0 : warpgroup + 1), 2 * kWarpgroup);
  }
  __device__ __forceinline__ void first_turn() {  // belongs to warpgroup 0
    if (warpgroup == kConsumers - 1) pass_turn();
  }
  __device__ __forceinline__ void last_turn() {  // takes the turn that nobody will use
    if (warpgroup == 0) await_turn();
  }

  /// Passes over the first `count` K blocks of a tile: gives up their turns and buffers.
  __device__ __forceinline__ void skip_k(int count) {
    for (int i = 0; i < count; ++i) {
      if (i > 0) {
        await_turn();
        pass_turn();
      }
      wait_k();
      release_k();
    }
  }
  __device__ __forceinline__ void skip_v(int count) {
    for (int i = 0; i < count; ++i) {
      wait_v();
      release_v();
    }
  }
  /// Both, alternately, as they are loaded: more of them than the rings hold.
  __device__ __forceinline__ void skip_blocks(int count) {
    for (int i = 0; i < count; ++i) {
      if (i > 0) {
        await_turn();
        pass_turn();
      }
      wait_k();
      release_k();
      wait_v();
      release_v();
    }
  }
};

}  // namespace attnprof
