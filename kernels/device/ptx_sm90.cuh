// Hopper's own instructions, one named wrapper each: mbarriers, the bulk tensor copy engine (TMA), register
// reallocation, and the bookkeeping around wgmma (the products themselves: wgmma_sm90.cuh).
// Section numbers refer to the PTX ISA, version 9.0. Needs sm_90a.
#pragma once

#include "kernels/device/ptx.cuh"

namespace attnprof {

using uint32 = unsigned int;
using uint64 = unsigned long long;

/// A CUtensorMap as device code sees it: 128 opaque bytes, a kernel argument in constant memory
/// (__grid_constant__).
struct alignas(64) TensorMap {
  uint64 opaque[16];
};

// ---- mbarrier (9.7.13.15)
// --------------------------------------------------------------------------------------

/// `arrivals` arrivals complete a phase.
__device__ __forceinline__ void mbarrier_init(uint32 barrier, uint32 arrivals) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(barrier), "r"(arrivals) : "memory");
}

/// Makes initialised barriers visible to the copy engine; a __syncthreads() makes them visible to the block.
__device__ __forceinline__ void mbarrier_init_fence() {
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
}

__device__ __forceinline__ void mbarrier_arrive(uint32 barrier) {
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(barrier) : "memory");
}

/// One arrival, plus `bytes` that the copy engine must deliver before the phase completes.
__device__ __forceinline__ void mbarrier_arrive_expect(uint32 barrier, uint32 bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barrier), "r"(bytes)
               : "memory");
}

/// True once the phase of parity `parity` has completed; may suspend the thread for a short while first.
__device__ __forceinline__ bool mbarrier_try_wait(uint32 barrier, uint32 parity) {
  uint32 done;
  asm volatile(
      "{\n"
      ".reg .pred p;\n"
      "mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2;\n"
      "selp.u32 %0, 1, 0, p;\n"
      "}\n"
      : "=r"(done)
      : "r"(barrier), "r"(parity)
      : "memory");
  return done != 0;
}

/// Waits for the phase of parity `parity`. With ATTNPROF_SPIN_LIMIT (debugging) a hang becomes a wrong
/// result; a trap instead would cost every warp its reallocated registers.
__device__ __forceinline__ void mbarrier_wait(uint32 barrier, uint32 parity) {
#ifdef ATTNPROF_SPIN_LIMIT
  for (int polls = 0; !mbarrier_try_wait(barrier, parity) && polls < ATTNPROF_SPIN_LIMIT; ++polls) {
  }
#else
  while (!mbarrier_try_wait(barrier, parity)) {
  }
#endif
}

// ---- bulk tensor copy (9.7.9.27)
// -------------------------------------------------------------------------------

__device__ __forceinline__ void prefetch_tensor_map(const TensorMap& map) {
  asm volatile("prefetch.tensormap [%0];" ::"l"(&map) : "memory");
}

/// L2 keeps these lines longest: data that many blocks read (9.7.9.20).
__device__ __forceinline__ uint64 l2_evict_last_policy() {
  uint64 policy;
  asm volatile("createpolicy.fractional.L2::evict_last.b64 %0, 1.0;" : "=l"(policy));
  return policy;
}

/// L2 drops these lines first: data that one block reads once (9.7.9.20).
__device__ __forceinline__ uint64 l2_evict_first_policy() {
  uint64 policy;
  asm volatile("createpolicy.fractional.L2::evict_first.b64 %0, 1.0;" : "=l"(policy));
  return policy;
}

/// Copies the map's box at (x, y, z), in elements, to shared memory; elements outside the tensor arrive as
/// zero. Completion counts the whole box's bytes on `barrier`.
__device__ __forceinline__ void tma_load_3d(uint32 destination, const TensorMap& map, uint32 barrier, int x,
                                            int y, int z, uint64 policy) {
  asm volatile(
      "cp.async.bulk.tensor.3d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.L2::cache_hint"
      " [%0], [%1, {%3, %4, %5}], [%2], %6;" ::"r"(destination),
      "l"(&map), "r"(barrier), "r"(x), "r"(y), "r"(z), "l"(policy)
      : "memory");
}

// ---- warpgroups
// ------------------------------------------------------------------------------------------------

/// Gives registers back to the SM, down to `kCount` a thread; all warps of a warpgroup execute it (9.7.19.5).
template <int kCount>
__device__ __forceinline__ void release_registers() {
  asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(kCount));
}

/// Takes registers, up to `kCount` a thread; waits until they are free (9.7.19.5).
template <int kCount>
__device__ __forceinline__ void claim_registers() {
  asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(kCount));
}

/// Barrier `id` of the block (1 to 15), complete when `threads` have synced or arrived (9.7.13.1).
__device__ __forceinline__ void named_barrier_sync(int id, int threads) {
  asm volatile("bar.sync %0, %1;" ::"r"(id), "r"(threads) : "memory");
}

__device__ __forceinline__ void named_barrier_arrive(int id, int threads) {
  asm volatile("bar.arrive %0, %1;" ::"r"(id), "r"(threads) : "memory");
}

// ---- around wgmma (9.7.15)
// -------------------------------------------------------------------------------------

/// Orders register and shared-memory accesses before the wgmma that follow.
__device__ __forceinline__ void wgmma_fence() {
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
}

__device__ __forceinline__ void wgmma_commit() {
  asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
}

/// Waits until at most `kPending` of the committed groups are unfinished.
template <int kPending>
__device__ __forceinline__ void wgmma_wait() {
  asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(kPending) : "memory");
}

/// Keeps the compiler from moving uses of these registers across this point: an unfinished wgmma owns them
/// before it.
template <int kCount>
__device__ __forceinline__ void pin_registers(float (&registers)[kCount]) {
#pragma unroll
  for (int i = 0; i < kCount; ++i) asm volatile("" : "+f"(registers[i])::"memory");
}

/// Shared-memory operand of wgmma, 128-byte swizzle (9.7.15.5.1.2). `leading_bytes`: from one 64-column panel
/// to the next, for operands whose rows run along K (V); `stride_bytes`: from 8 rows to the next 8.
__device__ __forceinline__ uint64 wgmma_descriptor(uint32 address, uint32 leading_bytes,
                                                   uint32 stride_bytes) {
  constexpr uint64 kSwizzle128 = 1ull << 62;
  return kSwizzle128 | (static_cast<uint64>(stride_bytes >> 4) << 32) |
         (static_cast<uint64>(leading_bytes >> 4) << 16) | static_cast<uint64>((address & 0x3FFFF) >> 4);
}

/// A descriptor `bytes` further on in shared memory.
__device__ __forceinline__ uint64 descriptor_at(uint64 descriptor, uint32 bytes) {
  return descriptor + (bytes >> 4);
}

}  // namespace attnprof
