// Instructions of sm_80 and newer that C++ has no name for, one wrapper each: asynchronous copies, matrix
// fragments, the matrix product, conversions. Sections are those of the PTX ISA, version 9.0. Includes
// nothing, for NVRTC, which is why 16-bit numbers travel here as bits: two of them in one 32-bit register,
// the first in the low half.
#pragma once

namespace attnprof {

/// Element types of the tensors, as tags.
struct Fp16 {};
struct Bf16 {};

/// Address in the 32-bit shared window, as ldmatrix and cp.async want it.
__device__ __forceinline__ unsigned smem_address(const void* pointer) {
  return static_cast<unsigned>(__cvta_generic_to_shared(pointer));
}

/// The same value, but the compiler cannot know it: what is computed from it here is computed again rather
/// than kept in registers since it was last needed.
__device__ __forceinline__ int recomputed(int value) {
  asm volatile("" : "+r"(value));
  return value;
}

// ---- asynchronous copies, global to shared (9.7.9.25.3)
// --------------------------------------------------------

/// 16 bytes through L2 only; both addresses 16-byte aligned.
__device__ __forceinline__ void cp_async_16(unsigned destination, const void* source) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(destination), "l"(source) : "memory");
}

/// As cp_async_16, or 16 zero bytes; then `source` is not read.
__device__ __forceinline__ void cp_async_16_or_zero(unsigned destination, const void* source, bool read) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(destination), "l"(source),
               "r"(read ? 16 : 0)
               : "memory");
}

/// Closes this thread's current group of copies.
__device__ __forceinline__ void cp_async_commit() {
  asm volatile("cp.async.commit_group;" ::: "memory");
}

/// Waits until at most `kPending` of this thread's groups are unfinished.
template <int kPending>
__device__ __forceinline__ void cp_async_wait() {
  asm volatile("cp.async.wait_group %0;" ::"n"(kPending) : "memory");
}

// ---- loads (9.7.9.8)
// --------------------------------------------------------------------------------------------

/// 16 bytes from L2 or beyond, never from the SM's own L1; read again however often it is called.
__device__ __forceinline__ uint4 load_past_l1(const uint4* source) {
  uint4 x;
  asm volatile("ld.global.cg.v4.u32 {%0, %1, %2, %3}, [%4];"
               : "=r"(x.x), "=r"(x.y), "=r"(x.z), "=r"(x.w)
               : "l"(source));
  return x;
}

// ---- barriers (9.7.13.1)
// ----------------------------------------------------------------------------------------

/// Barrier `id` (1 to 15; 0 is __syncthreads) of `threads` threads, whole warps.
__device__ __forceinline__ void barrier_sync(int id, int threads) {
  asm volatile("bar.sync %0, %1;" ::"r"(id), "r"(threads) : "memory");
}

// ---- matrix fragments (9.7.15.5.15)
// ----------------------------------------------------------------------------

/// Four 8x8 matrices of 16-bit elements. Lane 8i + r supplies the address of row r of matrix i; afterwards
/// registers[i] of lane 4r + c holds elements 2c and 2c + 1 of its row r.
__device__ __forceinline__ void ldmatrix_x4(unsigned (&registers)[4], unsigned address) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(registers[0]), "=r"(registers[1]), "=r"(registers[2]), "=r"(registers[3])
               : "r"(address));
}

/// As ldmatrix_x4, each matrix transposed on the way.
__device__ __forceinline__ void ldmatrix_x4_transposed(unsigned (&registers)[4], unsigned address) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(registers[0]), "=r"(registers[1]), "=r"(registers[2]), "=r"(registers[3])
               : "r"(address));
}

/// c += a * b on the tensor cores: a 16x16, b 16x8 (by column), c 16x8 in fp32 (9.7.15.5.8). With g = lane /
/// 4 and t = lane % 4, c holds columns 2t and 2t + 1 of row g, then of row g + 8.
template <class Element>
__device__ __forceinline__ void mma_m16n8k16(float (&c)[4], const unsigned (&a)[4], unsigned b0, unsigned b1);

template <>
__device__ __forceinline__ void mma_m16n8k16<Bf16>(float (&c)[4], const unsigned (&a)[4], unsigned b0,
                                                   unsigned b1) {
  asm("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
      "{%0, %1, %2, %3};"
      : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

template <>
__device__ __forceinline__ void mma_m16n8k16<Fp16>(float (&c)[4], const unsigned (&a)[4], unsigned b0,
                                                   unsigned b1) {
  asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
      "{%0, %1, %2, %3};"
      : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

// ---- arithmetic and conversions
// --------------------------------------------------------------------------------

/// 2^x, relative error below 2^-22; 0 for x <= -127, 2^-inf included (9.7.3.21).
__device__ __forceinline__ float exp2_approx(float x) {
  float y;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}

/// Rounds two floats to nearest even and packs them, `low` into the low half (9.7.9.22).
template <class Element>
__device__ __forceinline__ unsigned pack_2(float low, float high);

template <>
__device__ __forceinline__ unsigned pack_2<Bf16>(float low, float high) {
  unsigned packed;
  asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(packed) : "f"(high), "f"(low));
  return packed;
}

template <>
__device__ __forceinline__ unsigned pack_2<Fp16>(float low, float high) {
  unsigned packed;
  asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(packed) : "f"(high), "f"(low));
  return packed;
}

/// The two floats of a packed pair; exact.
template <class Element>
__device__ __forceinline__ void unpack_2(unsigned packed, float& low, float& high);

template <>
__device__ __forceinline__ void unpack_2<Bf16>(unsigned packed, float& low, float& high) {
  low = __uint_as_float(packed << 16);
  high = __uint_as_float(packed & 0xffff0000u);
}

template <>
__device__ __forceinline__ void unpack_2<Fp16>(unsigned packed, float& low, float& high) {
  asm("{\n"
      ".reg .b16 l, h;\n"
      "mov.b32 {l, h}, %2;\n"
      "cvt.f32.f16 %0, l;\n"
      "cvt.f32.f16 %1, h;\n"
      "}\n"
      : "=f"(low), "=f"(high)
      : "r"(packed));
}

}  // namespace attnprof
