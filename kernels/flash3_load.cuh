// The loading side: TMA copies into the rings of Q, K and V tiles.
#pragma once

#include "flash3_schedule.cuh"

namespace attnprof {

/// Used by one thread. A tile in shared memory is a row of panels, each 64 columns wide and all rows high.
class Loader {
 public:
  __device__ __forceinline__ Loader(SharedMemory& smem, const TensorMap& q, const TensorMap& k, const TensorMap& v)
      : smem_(smem), q_map_(q), k_map_(k), v_map_(v), keep_(l2_evict_last_policy()), drop_(l2_evict_first_policy()) {}

  __device__ __forceinline__ void load_q(int warpgroup, const TileWork& work) {
    const uint32 full = smem_address(&smem_.q_full[warpgroup]);
    mbarrier_arrive_expect(full, kQBytes);
    load_panels<kWarpgroupRows>(smem_address(smem_.q[warpgroup]), q_map_, full,
                                work.first_row + warpgroup * kWarpgroupRows, work.kv_head, drop_);
  }

  __device__ __forceinline__ void load_k(int stage, int block, int kv_head) {
    const uint32 full = smem_address(&smem_.k_full[stage]);
    mbarrier_arrive_expect(full, kKvBytes);
    load_panels<kTileN>(smem_address(smem_.k[stage]), k_map_, full, block * kTileN, kv_head, keep_);
  }

  __device__ __forceinline__ void load_v(int stage, int block, int kv_head) {
    const uint32 full = smem_address(&smem_.v_full[stage]);
    mbarrier_arrive_expect(full, kKvBytes);
    load_panels<kTileN>(smem_address(smem_.v[stage]), v_map_, full, block * kTileN, kv_head, keep_);
  }

 private:
  template <int kRows>
  __device__ __forceinline__ void load_panels(uint32 destination, const TensorMap& map, uint32 barrier, int row,
                                              int head, uint64 policy) {
#pragma unroll
    for (int panel = 0; panel < kPanels; ++panel) {
      tma_load_3d(destination + panel * kRows * kPanelRowBytes, map, barrier, panel * kPanelColumns, row, head, policy);
    }
  }

  SharedMemory& smem_;
  const TensorMap& q_map_;
  const TensorMap& k_map_;
  const TensorMap& v_map_;
  uint64 keep_;
  uint64 drop_;
};

/// The producer: keeps every ring full, across tiles, until the tiles run out. The first K block of a tile is asked
/// for before its Q, whose buffer is freed later.
__device__ __forceinline__ void produce(const AttentionParams& p, SharedMemory& smem, Loader loader) {
  const Schedule schedule(p);
  Ring<kStages> k_ring, v_ring;
  uint32 q_parity = 0;
  k_ring.parity = v_ring.parity = 1;  // an empty ring: the first waits pass

  for (int tile = blockIdx.x; tile < schedule.tiles();) {
    const int following = next_tile(schedule.tiles());  // asked for now: its latency hides under this tile
    const TileWork work = schedule.work(tile);
    for (int i = 0; i < work.blocks; ++i) {
      const int block = work.last_block - i;
      mbarrier_wait(smem_address(&smem.k_empty[k_ring.stage]), k_ring.parity);
      loader.load_k(k_ring.stage, block, work.kv_head);
      k_ring.advance();
      if (i == 0) {
        q_parity ^= 1;
        for (int w = 0; w < kConsumers; ++w) {
          mbarrier_wait(smem_address(&smem.q_empty[w]), q_parity);
          smem.work[w] = work;
          loader.load_q(w, work);
        }
      }
      mbarrier_wait(smem_address(&smem.v_empty[v_ring.stage]), v_ring.parity);
      loader.load_v(v_ring.stage, block, work.kv_head);
      v_ring.advance();
    }
    tile = following;
  }
  for (int w = 0; w < kConsumers; ++w) {  // tell every warpgroup that nothing follows
    mbarrier_wait(smem_address(&smem.q_empty[w]), q_parity ^ 1);
    smem.work[w].first_row = -1;
    mbarrier_arrive(smem_address(&smem.q_full[w]));
  }
}

}  // namespace attnprof
