// The computing side: one warpgroup, 64 query rows, K/V blocks from the last one down.
#pragma once

#include "flash3_load.cuh"
#include "flash3_softmax.cuh"
#include "wgmma_sm90.cuh"

namespace attnprof {

/// What one consumer warpgroup carries across its tiles.
struct Consumer {
  SharedMemory& smem;
  int warpgroup;
  int lane_in_warpgroup;
  Ring<kStages> k_ring;
  Ring<kStages> v_ring;
  uint32 q_parity = 0;

  __device__ __forceinline__ bool elected() const { return lane_in_warpgroup % 32 == 0; }  // one lane of each warp

  __device__ __forceinline__ void wait_k() { mbarrier_wait(smem_address(&smem.k_full[k_ring.stage]), k_ring.parity); }
  __device__ __forceinline__ void wait_v() { mbarrier_wait(smem_address(&smem.v_full[v_ring.stage]), v_ring.parity); }

  __device__ __forceinline__ void wait_next_v() {
    Ring<kStages> next = v_ring;
    next.advance();
    mbarrier_wait(smem_address(&smem.v_full[next.stage]), next.parity);
  }

  /// This warp has read the K (V) stage. Without a producer the block's own barriers say so.
  __device__ __forceinline__ void release_k() {
    if (kSpecialize && elected()) mbarrier_arrive(smem_address(&smem.k_empty[k_ring.stage]));
    k_ring.advance();
  }
  __device__ __forceinline__ void release_v() {
    if (kSpecialize && elected()) mbarrier_arrive(smem_address(&smem.v_empty[v_ring.stage]));
    v_ring.advance();
  }
  __device__ __forceinline__ void release_q() {
    if (kSpecialize && elected()) mbarrier_arrive(smem_address(&smem.q_empty[warpgroup]));
  }

  // Turns on the tensor cores: warpgroup w owns named barrier 1 + w, which the warpgroup before it in the ring opens.
  __device__ __forceinline__ void await_turn() {
    if (kPingPong) named_barrier_sync(1 + warpgroup, 2 * kWarpgroup);
  }
  __device__ __forceinline__ void pass_turn() {
    if (kPingPong) named_barrier_arrive(1 + (warpgroup + 1 == kConsumers ? 0 : warpgroup + 1), 2 * kWarpgroup);
  }
};

/// S = Q K^T for the K stage at hand; asynchronous, one group.
__device__ __forceinline__ void issue_qk(float (&s)[kScores], const Consumer& c) {
  const uint64 q = wgmma_descriptor(smem_address(c.smem.q[c.warpgroup]), 0, 8 * kPanelRowBytes);
  const uint64 k = wgmma_descriptor(smem_address(c.smem.k[c.k_ring.stage]), 0, 8 * kPanelRowBytes);
  wgmma_fence();
#pragma unroll
  for (int step = 0; step < kQkSteps; ++step) {
    const int panel = step / 4, in_panel = step % 4 * 32;  // 16 columns are 32 bytes; a panel holds 4 steps
    Wgmma<kTileN>::shared_shared(s, descriptor_at(q, panel * kWarpgroupRows * kPanelRowBytes + in_panel),
                                 descriptor_at(k, panel * kTileN * kPanelRowBytes + in_panel), step != 0);
  }
  wgmma_commit();
}

/// O += P V for the V stage at hand; asynchronous, one group.
__device__ __forceinline__ void issue_pv(float (&o)[kOutputs], const uint32 (&p)[kPvSteps][4], const Consumer& c) {
  const uint64 v = wgmma_descriptor(smem_address(c.smem.v[c.v_ring.stage]), kTileN * kPanelRowBytes, 8 * kPanelRowBytes);
  wgmma_fence();
#pragma unroll
  for (int step = 0; step < kPvSteps; ++step) {
    Wgmma<kHeadDim>::register_shared(o, p[step], descriptor_at(v, step * 16 * kPanelRowBytes), 1);
  }
  wgmma_commit();
}

/// Where masks matter for this warpgroup: a block needs one unless it lies inside [unmasked_begin, unmasked_end).
struct TileMask {
  VisibleKeys rows[2];  ///< of this thread's two rows
  int unmasked_begin;
  int unmasked_end;

  __device__ __forceinline__ TileMask(const AttentionParams& p, int first_row, int thread_row) {
    const int packed = packed_rows(p);
#pragma unroll
    for (int h = 0; h < 2; ++h) {
      rows[h] = kCausal || kWindow ? visible_keys(p, smaller(thread_row + 8 * h, packed - 1) % p.seqlen_q)
                                   : VisibleKeys{0, p.seqlen_kv};
    }
    unmasked_begin = 0;
    unmasked_end = p.seqlen_kv;
    if (kCausal || kWindow) {
      const Positions range = positions(p, first_row, first_row + kWarpgroupRows - 1);
      unmasked_end = visible_keys(p, range.first).end;
      unmasked_begin = visible_keys(p, range.last).begin;
    }
  }

  __device__ __forceinline__ void apply(float (&s)[kScores], int block, int thread_column) const {
    const int first = block * kTileN;
    if (first + kTileN > unmasked_end || (kWindow && first < unmasked_begin)) mask_scores(s, rows, first + thread_column);
  }
};

/// Without a producer: loads block `i + kStages` of the tile into the stages that every warpgroup has just finished.
__device__ __forceinline__ void refill(Loader& loader, const TileWork& work, int i, int stage) {
  __syncthreads();
  const int block = work.last_block - i - kStages;
  if (threadIdx.x == 0 && i + kStages < work.blocks) {
    loader.load_k(stage, block, work.kv_head);
    loader.load_v(stage, block, work.kv_head);
  }
}

/// Softmax under the products: Q K^T of block i is issued before P V of block i - 1, and block i's softmax runs while
/// P V is still in flight.
__device__ __forceinline__ void attend_overlapped(float (&o)[kOutputs], SoftmaxState& state, Consumer& c, const TileMask& mask,
                                                  const TileWork& work, float scale_log2, Loader& loader) {
  const int thread_column = 2 * (c.lane_in_warpgroup % 4);
  float s[kScores];
  uint32 p[kPvSteps][4];
  float alpha[2];

  c.wait_k();
  issue_qk(s, c);
  wgmma_wait<0>();
  pin_registers(s);
  c.release_k();
  mask.apply(s, work.last_block, thread_column);
  softmax_step(s, state, alpha, scale_log2);
  pack_probabilities(p, s);
  c.wait_v();

#pragma unroll 1
  for (int i = 1; i < work.blocks; ++i) {
    c.wait_k();
    c.await_turn();
    issue_qk(s, c);
    issue_pv(o, p, c);
    c.pass_turn();
    wgmma_wait<1>();  // S is there, P V may still run
    pin_registers(s);
    c.release_k();
    mask.apply(s, work.last_block - i, thread_column);
    const bool grew = softmax_step(s, state, alpha, scale_log2);
    pin_registers(s);
    c.wait_next_v();  // a loop here also keeps the assembler from moving the exponentials below the next wait
    wgmma_wait<0>();  // P's registers and O are free again
    pin_registers(o);
    pin_registers(s);
    const int stage = c.v_ring.stage;
    c.release_v();
    pack_probabilities(p, s);
    if (grew) rescale(o, alpha);
    if (!kSpecialize) refill(loader, work, i - 1, stage);
  }
  c.release_q();
  issue_pv(o, p, c);
  wgmma_wait<0>();
  pin_registers(o);
  c.release_v();
}

/// One product after the other; only the other warpgroups keep the tensor cores busy meanwhile.
__device__ __forceinline__ void attend_in_order(float (&o)[kOutputs], SoftmaxState& state, Consumer& c, const TileMask& mask,
                                                const TileWork& work, float scale_log2, Loader& loader) {
  const int thread_column = 2 * (c.lane_in_warpgroup % 4);
#pragma unroll 1
  for (int i = 0; i < work.blocks; ++i) {
    float s[kScores];
    uint32 p[kPvSteps][4];
    float alpha[2];
    c.wait_k();
    c.await_turn();
    issue_qk(s, c);
    wgmma_wait<0>();
    pin_registers(s);
    c.release_k();
    if (i + 1 == work.blocks) c.release_q();
    c.pass_turn();
    mask.apply(s, work.last_block - i, thread_column);
    if (softmax_step(s, state, alpha, scale_log2)) rescale(o, alpha);
    pack_probabilities(p, s);
    c.wait_v();
    issue_pv(o, p, c);
    wgmma_wait<0>();
    pin_registers(o);
    const int stage = c.v_ring.stage;
    c.release_v();
    if (!kSpecialize) refill(loader, work, i, stage);
  }
}

}  // namespace attnprof
