// The products and their order: one warpgroup, 64 query rows, K/V blocks from the last one down.
#pragma once

#include "kernels/device/wgmma_sm90.cuh"
#include "kernels/flash3/consumer.cuh"

namespace attnprof {

using Scores = float[kScores];
using Outputs = float[kOutputs];
using Probabilities = uint32[kPvSteps][4];

/// S = Q K^T for the K stage at hand; asynchronous, one group.
__device__ __forceinline__ void issue_qk(Scores& s, const Consumer& c) {
  const uint64 q =
      wgmma_descriptor(smem_address(c.smem.q[c.q_ring.stage][c.warpgroup]), 0, 8 * kPanelRowBytes);
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

/// O += P V for the V stage at hand, or O = P V; asynchronous, one group.
__device__ __forceinline__ void issue_pv(Outputs& o, const Probabilities& p, const Consumer& c,
                                         bool accumulate) {
  const uint64 v =
      wgmma_descriptor(smem_address(c.smem.v[c.v_ring.stage]), kTileN * kPanelRowBytes, 8 * kPanelRowBytes);
  wgmma_fence();
#pragma unroll
  for (int step = 0; step < kPvSteps; ++step) {
    Wgmma<kHeadDim>::register_shared(o, p[step], descriptor_at(v, step * 16 * kPanelRowBytes),
                                     step != 0 || accumulate);
  }
  wgmma_commit();
}

/// Without a producer: loads block `i + kStages` of the tile into the stages that every warpgroup has just
/// finished.
__device__ __forceinline__ void refill(Loader& loader, const TileWork& work, int i, int stage) {
  __syncthreads();
  const int block = work.last_block - i - kStages;
  if (threadIdx.x == 0 && i + kStages < work.blocks) {
    loader.load_k(stage, block, work.kv_head);
    loader.load_v(stage, block, work.kv_head);
  }
}

/// Starts a tile: Q K^T of the first block that this warpgroup sees, `skipped` of them passed over.
__device__ __forceinline__ void start_tile(Scores& s, Consumer& c, int skipped) {
  if (skipped > 0) c.await_turn();
  c.wait_k();
  issue_qk(s, c);
  if (skipped > 0) c.pass_turn();
}

/// Softmax under the products: Q K^T of block i is issued before P V of block i - 1, and block i's softmax
/// runs while P V is still in flight. Enters with the first Q K^T in flight (start_tile), leaves with the
/// last P V to be issued.
__device__ __forceinline__ void attend_overlapped(Scores& s, Probabilities& p, Outputs& o, Consumer& c,
                                                  Tile& tile, float scale_log2, Loader& loader) {
  float alpha[2];
  wgmma_wait<0>();
  pin_registers(s);
  c.release_k();
  tile.mask.apply(s, tile.work.last_block - tile.skipped, c.thread_column());
  softmax_step(s, tile.state, alpha, scale_log2);
  pack_probabilities(p, s);
  c.wait_v();

#pragma unroll 1
  for (int i = tile.skipped + 1; i < tile.work.blocks; ++i) {
    c.wait_k();
    c.await_turn();
    issue_qk(s, c);
    issue_pv(o, p, c, i > tile.skipped + 1);
    c.pass_turn();
    wgmma_wait<1>();  // S is there, P V may still run
    pin_registers(s);
    c.release_k();
    tile.mask.apply(s, tile.work.last_block - i, c.thread_column());
    const bool grew = softmax_step(s, tile.state, alpha, scale_log2);
    pin_registers(s);
    pin_registers(tile.state.sum);
    c.wait_next_v();  // a loop here also keeps the assembler from moving the exponentials below the next wait
    wgmma_wait<0>();  // P's registers and O are free again
    pin_registers(o);
    pin_registers(s);
    const int stage = c.v_ring.stage;
    c.release_v();
    pack_probabilities(p, s);
    if (grew) rescale(o, alpha);
    if (!kSpecialize) refill(loader, tile.work, i - 1, stage);
  }
  c.release_q();
}

/// The last P V of a tile, waited for.
__device__ __forceinline__ void finish_tile(Outputs& o, const Probabilities& p, Consumer& c,
                                            bool accumulate) {
  issue_pv(o, p, c, accumulate);
  wgmma_wait<0>();
  pin_registers(o);
  c.release_v();
}

/// One product after the other; only the other warpgroups keep the tensor cores busy meanwhile.
__device__ __forceinline__ void attend_in_order(Outputs& o, Consumer& c, Tile& tile, float scale_log2,
                                                Loader& loader) {
#pragma unroll 1
  for (int i = tile.skipped; i < tile.work.blocks; ++i) {
    Scores s;
    Probabilities p;
    float alpha[2];
    c.wait_k();
    if (i > 0) c.await_turn();
    issue_qk(s, c);
    wgmma_wait<0>();
    pin_registers(s);
    if (i > 0) c.pass_turn();
    c.release_k();
    if (i + 1 == tile.work.blocks) c.release_q();
    tile.mask.apply(s, tile.work.last_block - i, c.thread_column());
    if (softmax_step(s, tile.state, alpha, scale_log2) && i > tile.skipped) rescale(o, alpha);
    pack_probabilities(p, s);
    c.wait_v();
    const int stage = c.v_ring.stage;
    finish_tile(o, p, c, i > tile.skipped);
    if (!kSpecialize) refill(loader, tile.work, i, stage);
  }
}

}  // namespace attnprof
