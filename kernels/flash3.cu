// flash3: fused exact attention for Hopper, forward. O = softmax(scale Q K^T + mask) V and its log-sum-exp; the scores
// never leave registers.
//
// Algorithm: FlashAttention-3 (Shah et al. 2024) over the online softmax of FlashAttention-2: one warpgroup loads with
// TMA, one to three compute with wgmma, take turns on the tensor cores (ping-pong), and run the softmax of a block
// under the product of the one before. Persistent blocks draw tiles from a counter, long ones first under a mask.
//
// Q, O [batch, heads, seqlen_q, head_dim]; K, V [batch, kv_heads, seqlen_kv, head_dim]; LSE [batch, heads, seqlen_q];
// contiguous, bf16 or fp16 with fp32 accumulation, LSE fp32. The query heads of one KV head share its tiles.
// Masks: causal (bottom-right) and sliding window; a row that sees no key gives O = 0, LSE = -inf.
// Grid: any number of blocks up to the number of tiles. Macros, limits and ladder: flash3_config.cuh.
// Results do not depend on which block takes which tile: bits repeat from run to run.
#include "flash3_compute.cuh"
#include "flash3_store.cuh"

namespace attnprof {

__device__ __forceinline__ void initialise_barriers(SharedMemory& smem) {
  constexpr int kConsumerWarps = kConsumers * kWarpgroup / 32;
  for (int w = 0; w < kConsumers; ++w) {
    mbarrier_init(smem_address(&smem.q_full[w]), 1);
    mbarrier_init(smem_address(&smem.q_empty[w]), kWarpgroup / 32);
  }
  for (int s = 0; s < kStages; ++s) {
    mbarrier_init(smem_address(&smem.k_full[s]), 1);
    mbarrier_init(smem_address(&smem.v_full[s]), 1);
    mbarrier_init(smem_address(&smem.k_empty[s]), kConsumerWarps);
    mbarrier_init(smem_address(&smem.v_empty[s]), kConsumerWarps);
  }
  mbarrier_init_fence();
}

__device__ __forceinline__ void compute_tile(const AttentionParams& p, Consumer& c, const TileWork& work, Loader& loader) {
  const int lane = c.lane_in_warpgroup % 32;
  const int first_row = work.first_row + c.warpgroup * kWarpgroupRows;
  const int thread_row = first_row + c.lane_in_warpgroup / 32 * 16 + lane / 4;
  const TileMask mask(p, first_row, thread_row);
  SoftmaxState state;
  float o[kOutputs] = {};
  if (kOverlap) {
    attend_overlapped(o, state, c, mask, work, p.scale_log2, loader);
  } else {
    attend_in_order(o, state, c, mask, work, p.scale_log2, loader);
  }
  store_tile(p, work, thread_row, lane, o, state);
}

/// A consumer warpgroup: tiles as the producer announces them with their Q.
__device__ __forceinline__ void consume(const AttentionParams& p, Consumer& c, Loader& loader) {
  if (kPingPong && c.warpgroup == kConsumers - 1) c.pass_turn();  // the first turn belongs to warpgroup 0
  while (true) {
    mbarrier_wait(smem_address(&c.smem.q_full[c.warpgroup]), c.q_parity);
    const TileWork work = c.smem.work[c.warpgroup];
    if (work.first_row < 0) break;
    compute_tile(p, c, work, loader);
    c.q_parity ^= 1;
  }
  if (kPingPong && c.warpgroup == 0) c.await_turn();  // takes the turn nobody will use
}

/// The ladder's rung without a producer: the first thread loads, and block-wide barriers say when a stage is free.
__device__ __forceinline__ void load_and_consume(const AttentionParams& p, Consumer& c, Loader& loader) {
  const Schedule schedule(p);
  if (kPingPong && c.warpgroup == kConsumers - 1) c.pass_turn();
  for (int tile = blockIdx.x; tile < schedule.tiles(); tile += gridDim.x) {
    const TileWork work = schedule.work(tile);
    __syncthreads();  // every warpgroup is done with the tile before
    if (threadIdx.x == 0) {
      for (int w = 0; w < kConsumers; ++w) loader.load_q(w, work);
      Ring<kStages> ring = c.v_ring;
      for (int i = 0; i < kStages && i < work.blocks; ++i, ring.advance()) {
        loader.load_k(ring.stage, work.last_block - i, work.kv_head);
        loader.load_v(ring.stage, work.last_block - i, work.kv_head);
      }
    }
    mbarrier_wait(smem_address(&c.smem.q_full[c.warpgroup]), c.q_parity);
    compute_tile(p, c, work, loader);
    c.q_parity ^= 1;
  }
  if (kPingPong && c.warpgroup == 0) c.await_turn();
}

}  // namespace attnprof

extern "C" __global__ void __launch_bounds__(attnprof::kThreads, 1)
    flash3_forward(const __grid_constant__ attnprof::AttentionParams p, const __grid_constant__ attnprof::TensorMap q_map,
                   const __grid_constant__ attnprof::TensorMap k_map, const __grid_constant__ attnprof::TensorMap v_map) {
  using namespace attnprof;
  extern __shared__ __align__(1024) unsigned char shared_bytes[];
  SharedMemory& smem = *reinterpret_cast<SharedMemory*>(shared_bytes);

  if (threadIdx.x == 0) {
    prefetch_tensor_map(q_map);
    prefetch_tensor_map(k_map);
    prefetch_tensor_map(v_map);
    initialise_barriers(smem);
  }
  __syncthreads();

  // The same in every lane of a warp, and known to the compiler as such.
  const int warpgroup = __shfl_sync(0xFFFFFFFF, threadIdx.x / kWarpgroup, 0);
  Loader loader(smem, q_map, k_map, v_map);
  if (!kSpecialize) {
    Consumer consumer{smem, warpgroup, static_cast<int>(threadIdx.x % kWarpgroup)};
    load_and_consume(p, consumer, loader);
  } else if (warpgroup == 0) {
    release_registers<kLoaderRegisters>();
    if (threadIdx.x == 0) produce(p, smem, loader);
  } else {
    claim_registers<kConsumerRegisters>();
    Consumer consumer{smem, warpgroup - 1, static_cast<int>(threadIdx.x % kWarpgroup)};
    consume(p, consumer, loader);
  }
}
