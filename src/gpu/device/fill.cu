// Fills device memory with the inputs of a problem: approximately normal values, element by element from a
// seed, so that host and device hold the same bits (core/random.hpp). Grid-stride; any grid and block
// size.
#include "core/random.hpp"

using namespace attnprof;

namespace {

__device__ unsigned long long first_index() {
  return blockIdx.x * static_cast<unsigned long long>(blockDim.x) + threadIdx.x;
}
__device__ unsigned long long stride() {
  return static_cast<unsigned long long>(gridDim.x) * blockDim.x;
}

/// Round to nearest even. The values are finite and small, so neither NaN nor overflow needs care.
__device__ unsigned short bf16_bits(float x) {
  const unsigned bits = __float_as_uint(x);
  return static_cast<unsigned short>((bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16);
}

/// Round to nearest even, subnormals included (the smallest nonzero value is 2^-16, below half's smallest
/// normal).
__device__ unsigned short fp16_bits(float x) {
  const unsigned bits = __float_as_uint(x);
  const unsigned sign = (bits >> 16) & 0x8000u;
  const unsigned magnitude = bits & 0x7fffffffu;
  if (magnitude <
      0x38800000u) {  // below 2^-14: adding 0.5 rounds to a multiple of 2^-24, half's subnormal step
    return static_cast<unsigned short>(sign |
                                       (__float_as_uint(__uint_as_float(magnitude) + 0.5f) - 0x3f000000u));
  }
  const unsigned rebiased = magnitude - ((127u - 15u) << 23);
  return static_cast<unsigned short>(sign | ((rebiased + 0xfffu + ((rebiased >> 13) & 1u)) >> 13));
}

}  // namespace

extern "C" __global__ void fill_normal_fp32(float* dst, unsigned long long count, unsigned long long key) {
  for (unsigned long long i = first_index(); i < count; i += stride()) dst[i] = random_normal(key, i);
}

extern "C" __global__ void fill_normal_bf16(unsigned short* dst, unsigned long long count,
                                            unsigned long long key) {
  for (unsigned long long i = first_index(); i < count; i += stride())
    dst[i] = bf16_bits(random_normal(key, i));
}

extern "C" __global__ void fill_normal_fp16(unsigned short* dst, unsigned long long count,
                                            unsigned long long key) {
  for (unsigned long long i = first_index(); i < count; i += stride())
    dst[i] = fp16_bits(random_normal(key, i));
}
