// flash3: fused exact attention for Hopper, forward. O = softmax(scale Q K^T + mask) V and its log-sum-exp;
// the scores never leave registers.
//
// Algorithm: FlashAttention-3 (Shah et al. 2024) over the online softmax of FlashAttention-2: one warpgroup
// loads with TMA; one to three compute with wgmma and run the softmax of a block under the product of the one
// before, optionally taking turns on the tensor cores (ping-pong). Persistent blocks draw tiles from a
// counter, long ones first under a causal mask.
//
// Q, O [batch, heads, seqlen_q, head_dim]; K, V [batch, kv_heads, seqlen_kv, head_dim]; LSE [batch, heads,
// seqlen_q]; contiguous, bf16 or fp16 with fp32 accumulation, LSE fp32. The query heads of one KV head share
// its tiles. Masks: causal (bottom-right) and sliding window; a row that sees no key gives O = 0, LSE = -inf.
// Grid: any number of blocks up to the number of tiles. Macros, limits and ladder: config.cuh.
// Results do not depend on which block takes which tile: bits repeat from run to run.
#include "kernels/flash3/compute.cuh"
#include "kernels/flash3/store.cuh"

namespace attnprof {

__device__ __forceinline__ void initialise_barriers(SharedMemory& smem) {
  constexpr int kConsumerWarps = kConsumers * kWarpgroup / 32;
  for (int w = 0; w < kConsumers; ++w) {
    for (int b = 0; b < kQBuffers; ++b) {
      mbarrier_init(smem_address(&smem.q_full[b][w]), 1);
      mbarrier_init(smem_address(&smem.q_empty[b][w]), kWarpgroup);
    }
  }
  for (int s = 0; s < kStages; ++s) {
    mbarrier_init(smem_address(&smem.k_full[s]), 1);
    mbarrier_init(smem_address(&smem.v_full[s]), 1);
    mbarrier_init(smem_address(&smem.k_empty[s]), kConsumerWarps);
    mbarrier_init(smem_address(&smem.v_empty[s]), kConsumerWarps);
  }
  mbarrier_init_fence();
}

/// One tile from start to end.
__device__ __forceinline__ void compute_tile(const AttentionParams& p, Consumer& c, Tile& tile,
                                             Loader& loader) {
  Outputs o;
  if (kOverlap) {
    Scores s;
    Probabilities probabilities;
    start_tile(s, c, tile.skipped);
    attend_overlapped(s, probabilities, o, c, tile, p.scale_log2, loader);
    finish_tile(o, probabilities, c, tile.work.blocks > tile.skipped + 1);
  } else {
    attend_in_order(o, c, tile, p.scale_log2, loader);
  }
  store_tile(p, tile.work, tile.thread_row, c.lane % 32, o, tile.state);
}

/// The tile that belongs to the Q at hand.
__device__ __forceinline__ const TileWork& announced_work(const Consumer& c) {
  return c.smem.work[c.q_ring.stage][c.warpgroup];
}

/// Waits for the next tile's Q; with it comes which tile it is.
__device__ __forceinline__ TileWork await_work(Consumer& c) {
  c.wait_q();
  return announced_work(c);
}

/// A consumer warpgroup, tile after tile.
__device__ __forceinline__ void consume(const AttentionParams& p, Consumer& c, Loader& loader) {
  for (TileWork work = await_work(c); work.blocks > 0; work = await_work(c)) {
    Tile tile(p, work, c.lane);
    c.skip_blocks(tile.skipped);
    compute_tile(p, c, tile, loader);
  }
}

/// As consume(), with the seam between tiles closed: the next tile's first Q K^T runs under the end of this
/// one.
__device__ __forceinline__ void consume_seamless(const AttentionParams& p, Consumer& c, Loader& loader) {
  Scores s;
  Probabilities probabilities;
  Outputs o;
  Tile tile(p, await_work(c), c.lane);  // the grid is no larger than the number of tiles
  c.skip_blocks(tile.skipped);
  start_tile(s, c, tile.skipped);
  while (true) {
    attend_overlapped(s, probabilities, o, c, tile, p.scale_log2, loader);
    const TileWork work = await_work(c);
    if (work.blocks == 0) break;
    const int skipped = blocks_unseen(p, work);
    issue_pv(o, probabilities, c, tile.work.blocks > tile.skipped + 1);
    // The producer loads V of the blocks passed over before it gets to the K wanted here. It needs buffers
    // for them: when there are too few, the one of the P V in flight is given back first.
    const bool seamless = skipped < kStages;
    if (seamless) {
      c.skip_k(skipped);
    } else {
      wgmma_wait<0>();
      pin_registers(o);
      c.release_v();
      c.skip_blocks(skipped);
    }
    start_tile(s, c, skipped);
    wgmma_wait<1>();
    pin_registers(o);
    if (seamless) {
      c.release_v();
      c.skip_v(skipped);
    }
    store_tile(p, tile.work, tile.thread_row, c.lane % 32, o, tile.state);
    tile = Tile(p, announced_work(c), c.lane);
  }
  finish_tile(o, probabilities, c, tile.work.blocks > tile.skipped + 1);
  store_tile(p, tile.work, tile.thread_row, c.lane % 32, o, tile.state);
}

/// The ladder's rung without a producer: the first thread loads, and block-wide barriers say when a stage is
/// free.
__device__ __forceinline__ void load_and_consume(const AttentionParams& p, Consumer& c, Loader& loader) {
  const Schedule schedule(p);
  for (int tile_index = blockIdx.x; tile_index < schedule.tiles(); tile_index += gridDim.x) {
    const TileWork work = schedule.work(tile_index);
    __syncthreads();  // every warpgroup is done with the tile before
    if (threadIdx.x == 0) {
      for (int w = 0; w < kConsumers; ++w) loader.load_q(c.q_ring.stage, w, share_of(work, w, false));
      Ring<kStages> ring = c.v_ring;
      for (int i = 0; i < kStages && i < work.blocks; ++i, ring.advance()) {
        loader.load_k(ring.stage, work.last_block - i, work.kv_head);
        loader.load_v(ring.stage, work.last_block - i, work.kv_head);
      }
    }
    c.wait_q();
    Tile tile(p, share_of(work, c.warpgroup, false), c.lane);
    compute_tile(p, c, tile, loader);
  }
}

}  // namespace attnprof

extern "C" __global__ void __launch_bounds__(attnprof::kThreads, 1)
    flash3_forward(const __grid_constant__ attnprof::AttentionParams p,
                   const __grid_constant__ attnprof::TensorMap q_map,
                   const __grid_constant__ attnprof::TensorMap k_map,
                   const __grid_constant__ attnprof::TensorMap v_map) {
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
  const int lane = threadIdx.x % kWarpgroup;
  if (!kSpecialize) {
    Consumer consumer{smem, warpgroup, lane};
    consumer.first_turn();
    load_and_consume(p, consumer, loader);
    consumer.last_turn();
  } else if (warpgroup == 0) {
    release_registers<kLoaderRegisters>();
    if (threadIdx.x == 0) produce(p, smem, loader);
  } else {
    claim_registers<kConsumerRegisters>();
    Consumer consumer{smem, warpgroup - 1, lane};
    consumer.first_turn();
    if (kOverlap && kQBuffers > 1) {
      consume_seamless(p, consumer, loader);
    } else {
      consume(p, consumer, loader);
    }
    consumer.last_turn();
  }
}
