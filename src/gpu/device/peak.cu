// What the chip can do at most, one resource each: memory at every size, fp32 multiply-adds, exponentials,
// launches. Grids fill the device; the host divides known work by measured time (ceilings.cpp).
#include "kernels/device/ptx.cuh"

namespace attnprof {

constexpr int kChains =
    8;  ///< independent operations in flight per thread: covers their latency at full occupancy

/// Tiles of four 16-byte elements per thread, dealt out over the grid; a buffer of `tiles` (a power of two)
/// is gone through `passes` times, and all blocks are busy however small it is.
template <class Body>
__device__ __forceinline__ void for_each_tile(unsigned tiles, unsigned passes, Body body) {
  const unsigned long long tile_elements = 4ull * blockDim.x;
  const unsigned work = tiles * passes;
  for (unsigned w = blockIdx.x; w < work; w += gridDim.x)
    body((w & (tiles - 1)) * tile_elements + threadIdx.x, w);
}

}  // namespace attnprof

/// Reads. `sink` is written only if the data has a property that it never has.
extern "C" __global__ void read_over(const uint4* data, unsigned tiles, unsigned passes, unsigned* sink) {
  unsigned seen = 0;
  attnprof::for_each_tile(tiles, passes, [&](unsigned long long at, unsigned) {
    uint4 x[4];
#pragma unroll
    for (int i = 0; i < 4; ++i) x[i] = attnprof::load_past_l1(data + at + i * blockDim.x);
#pragma unroll
    for (int i = 0; i < 4; ++i) seen |= x[i].x & x[i].y & x[i].z & x[i].w;
  });
  if (seen == 0xfeedfaceu) *sink = seen;
}

/// Writes, each time another value.
extern "C" __global__ void write_over(uint4* data, unsigned tiles, unsigned passes) {
  attnprof::for_each_tile(tiles, passes, [&](unsigned long long at, unsigned w) {
    const uint4 x{w, threadIdx.x, w ^ threadIdx.x, w * 2654435761u};
#pragma unroll
    for (int i = 0; i < 4; ++i) data[at + i * blockDim.x] = x;
  });
}

/// Copies.
extern "C" __global__ void copy_over(uint4* to, const uint4* from, unsigned tiles, unsigned passes) {
  attnprof::for_each_tile(tiles, passes, [&](unsigned long long at, unsigned) {
    uint4 x[4];
#pragma unroll
    for (int i = 0; i < 4; ++i) x[i] = attnprof::load_past_l1(from + at + i * blockDim.x);
#pragma unroll
    for (int i = 0; i < 4; ++i) to[at + i * blockDim.x] = x[i];
  });
}

/// `rounds` rounds of kChains multiply-adds per thread: x = b x + x with a b so small that x stays what it
/// is. Two registers to read, not three, and none of them uniform: either would slow the units down. b is an
/// argument, so that nothing is known at compile time.
extern "C" __global__ void fma_chains(int rounds, float b, float* sink) {
  b = fmaf(static_cast<float>(threadIdx.x), 0.0f, b);
  float x[attnprof::kChains];
#pragma unroll
  for (int i = 0; i < attnprof::kChains; ++i)
    x[i] = 0.1f * static_cast<float>(i) + static_cast<float>(threadIdx.x);
#pragma unroll 8
  for (int round = 0; round < rounds; ++round) {
#pragma unroll
    for (int i = 0; i < attnprof::kChains; ++i) x[i] = fmaf(x[i], b, x[i]);
  }
  float sum = 0;
#pragma unroll
  for (int i = 0; i < attnprof::kChains; ++i) sum += x[i];
  if (sum == -1.0f) *sink = sum;
}

/// `rounds` rounds of kChains exponentials per thread: x = 2^-x tends to 0.641.
extern "C" __global__ void exp_chains(int rounds, float* sink) {
  float x[attnprof::kChains];
#pragma unroll
  for (int i = 0; i < attnprof::kChains; ++i)
    x[i] = 0.1f * static_cast<float>(i + static_cast<int>(threadIdx.x % 8));
#pragma unroll 8
  for (int round = 0; round < rounds; ++round) {
#pragma unroll
    for (int i = 0; i < attnprof::kChains; ++i) x[i] = attnprof::exp2_approx(-x[i]);
  }
  float sum = 0;
#pragma unroll
  for (int i = 0; i < attnprof::kChains; ++i) sum += x[i];
  if (sum == -1.0f) *sink = sum;
}

/// Does nothing: what a launch costs.
extern "C" __global__ void nothing() {}
