// Kernels that put the device into a known state between measurements, and the two that measure its memory.
// All move 16 bytes per access; any grid and block size.

namespace {

// A block takes tiles of four elements per thread, the grid a run of neighbouring tiles: four accesses in
// flight per thread, all within one stretch of memory, which keeps DRAM pages open.
__device__ unsigned long long tile_size() {
  return 4ull * blockDim.x;
}
__device__ unsigned long long first_tile() {
  return blockIdx.x * tile_size();
}
__device__ unsigned long long tile_step() {
  return gridDim.x * tile_size();
}

}  // namespace

/// Reads `count` 16-byte elements. A buffer of several times the L2 evicts what was there: dirty lines are
/// written back, and the lines that take their place are clean, so nothing of this is charged to whoever runs
/// next. `sink` is written only if the data has a property it never has: the loads cannot be optimised away.
extern "C" __global__ void read_all(const uint4* data, unsigned long long count, unsigned* sink) {
  unsigned seen = 0;
  unsigned long long tile = first_tile();
  for (; tile + tile_size() <= count; tile += tile_step()) {
    const uint4* p = data + tile + threadIdx.x;
    const uint4 a = p[0], b = p[blockDim.x], c = p[2 * blockDim.x], d = p[3 * blockDim.x];
    seen |=
        (a.x & a.y & a.z & a.w) | (b.x & b.y & b.z & b.w) | (c.x & c.y & c.z & c.w) | (d.x & d.y & d.z & d.w);
  }
  for (unsigned long long i = tile + threadIdx.x; i < count && i < tile + tile_size(); i += blockDim.x) {
    const uint4 a = data[i];
    seen |= a.x & a.y & a.z & a.w;
  }
  if (seen == 0xfeedfaceu) *sink = seen;
}

/// Copies `count` 16-byte elements: the yardstick for memory bandwidth and for the byte counters.
extern "C" __global__ void copy_all(uint4* dst, const uint4* src, unsigned long long count) {
  unsigned long long tile = first_tile();
  for (; tile + tile_size() <= count; tile += tile_step()) {
    const unsigned long long i = tile + threadIdx.x;
    const uint4 a = src[i], b = src[i + blockDim.x], c = src[i + 2 * blockDim.x], d = src[i + 3 * blockDim.x];
    dst[i] = a;
    dst[i + blockDim.x] = b;
    dst[i + 2 * blockDim.x] = c;
    dst[i + 3 * blockDim.x] = d;
  }
  for (unsigned long long i = tile + threadIdx.x; i < count && i < tile + tile_size(); i += blockDim.x)
    dst[i] = src[i];
}

/// Keeps the device busy for `cycles` SM clocks, so that the host can enqueue what follows before any of it
/// starts.
extern "C" __global__ void spin(long long cycles) {
  const long long start = clock64();
  while (clock64() - start < cycles) {
  }
}
