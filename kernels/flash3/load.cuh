// The loading side: TMA copies into the rings of Q, K and V tiles.
#pragma once

#include "kernels/flash3/schedule.cuh"

namespace attnprof {

/// Used by one thread. A tile in shared memory is a row of panels, each 64 columns wide and all rows high.
class Loader {
 public:
  __device__ __forceinline__ Loader(SharedMemory& smem, const TensorMap& q, const TensorMap& k,
                                    const TensorMap& v)
      : smem_(smem),
        q_map_(q),
        k_map_(k),
        v_map_(v),
        keep_(l2_evict_last_policy()),
        drop_(l2_evict_first_policy()) {}

  __device__ __forceinline__ void load_q(int buffer, int warpgroup, const TileWork& work) {
    const uint32 full = smem_address(&smem_.q_full[buffer][warpgroup]);
    mbarrier_arrive_expect(full, kQBytes);
    load_panels<kWarpgroupRows>(smem_address(smem_.q[buffer][warpgroup]), q_map_, full, work.first_row,
                                work.kv_head, drop_);
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
  __device__ __forceinline__ void load_panels(uint32 destination, const TensorMap& map, uint32 barrier,
                                              int row, int head, uint64 policy) {
#pragma unroll
    for (int panel = 0; panel < kPanels; ++panel) {
      tma_load_3d(destination + panel * kRows * kPanelRowBytes, map, barrier, panel * kPanelColumns, row,
                  head, policy);
    }
  }

  SharedMemory& smem_;
  const TensorMap& q_map_;
  const TensorMap& k_map_;
  const TensorMap& v_map_;
  uint64 keep_;
  uint64 drop_;
};

/// The warpgroup's 64 rows of a tile. Under a causal mask later rows see more keys; `reversed` gives them to
/// the other end of the row of warpgroups, so that over two tiles all have the same to do.
__device__ __forceinline__ TileWork share_of(TileWork work, int warpgroup, bool reversed) {
  work.first_row += (reversed ? kConsumers - 1 - warpgroup : warpgroup) * kWarpgroupRows;
  return work;
}

/// Announces `tile` to every warpgroup with its Q; past the last tile, announces the end.
__device__ __forceinline__ void announce(SharedMemory& smem, Loader& loader, const Schedule& schedule,
                                         int tile, Ring<kQBuffers>& ring) {
  const bool more = tile < schedule.tiles();
  TileWork work{0, 0, 0, 0};
  if (more) work = schedule.work(tile);
#pragma unroll 1  // the loader has 32 registers
  for (int w = 0; w < kConsumers; ++w) {
    mbarrier_wait(smem_address(&smem.q_empty[ring.stage][w]), ring.parity);
    const TileWork share = more ? share_of(work, w, kCausal && ring.stage == 1) : work;
    smem.work[ring.stage][w] = share;
    if (more) {
      loader.load_q(ring.stage, w, share);
    } else {
      mbarrier_arrive(smem_address(&smem.q_full[ring.stage][w]));
    }
  }
  ring.advance();
}

/// The producer: keeps every ring full, across tiles, until the tiles run out. With two Q buffers the next
/// tile's Q is asked for under this tile; with one, it must wait for this tile's last Q K^T, and the next
/// tile's first K goes ahead of it.
///
/// Under a causal mask the next tile is drawn as late as its loads allow: whoever has drawn a long one early
/// would hold on to another that somebody else could start sooner.
__device__ __forceinline__ void produce(const AttentionParams& p, SharedMemory& smem, Loader loader) {
  const Schedule schedule(p);
  Ring<kQBuffers> q_ring;
  Ring<kStages> k_ring, v_ring;
  q_ring.parity = k_ring.parity = v_ring.parity = 1;  // empty rings: the first waits pass

  if (kQBuffers > 1) announce(smem, loader, schedule, blockIdx.x, q_ring);
  for (int tile = blockIdx.x; tile < schedule.tiles();) {
    const TileWork work = schedule.work(tile);
    const int announce_at = kCausal ? work.blocks - 1 : smaller(1, work.blocks - 1);
    int following = 0;
    for (int i = 0; i < work.blocks; ++i) {
      const int block = work.last_block - i;
      mbarrier_wait(smem_address(&smem.k_empty[k_ring.stage]), k_ring.parity);
      loader.load_k(k_ring.stage, block, work.kv_head);
      k_ring.advance();
      if (kQBuffers == 1 && i == 0) announce(smem, loader, schedule, tile, q_ring);
      mbarrier_wait(smem_address(&smem.v_empty[v_ring.stage]), v_ring.parity);
      loader.load_v(v_ring.stage, block, work.kv_head);
      v_ring.advance();
      if (i == announce_at) {
        following = next_tile(schedule.tiles());
        if (kQBuffers > 1) announce(smem, loader, schedule, following, q_ring);
      }
    }
    tile = following;
  }
  if (kQBuffers == 1) announce(smem, loader, schedule, schedule.tiles(), q_ring);
}

}  // namespace attnprof
