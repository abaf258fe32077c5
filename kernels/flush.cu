// Kernels that put the device into a known state between measurements, and the two that measure its memory.
// All move 16 bytes per access, grid-stride.

namespace {

__device__ unsigned long long first_index() {
  return blockIdx.x * static_cast<unsigned long long>(blockDim.x) + threadIdx.x;
}
__device__ unsigned long long stride() {
  return static_cast<unsigned long long>(gridDim.x) * blockDim.x;
}

}  // namespace

/// Reads `count` 16-byte elements. A buffer of several times the L2 evicts what was there: dirty lines are
/// written back, and the lines that take their place are clean, so nothing of this is charged to whoever runs
/// next. `sink` is written only if the data has a property it never has: the loads cannot be optimised away.
extern "C" __global__ void read_all(const uint4* data, unsigned long long count, unsigned* sink) {
  unsigned seen = 0;
  const unsigned long long step = stride();
  unsigned long long i = first_index();
  for (; i + 3 * step < count; i += 4 * step) {  // four loads in flight per thread
    const uint4 a = data[i], b = data[i + step], c = data[i + 2 * step], d = data[i + 3 * step];
    seen |=
        (a.x & a.y & a.z & a.w) | (b.x & b.y & b.z & b.w) | (c.x & c.y & c.z & c.w) | (d.x & d.y & d.z & d.w);
  }
  for (; i < count; i += step) {
    const uint4 a = data[i];
    seen |= a.x & a.y & a.z & a.w;
  }
  if (seen == 0xfeedfaceu) *sink = seen;
}

/// Copies `count` 16-byte elements: the yardstick for memory bandwidth and for the byte counters.
extern "C" __global__ void copy_all(uint4* dst, const uint4* src, unsigned long long count) {
  const unsigned long long step = stride();
  unsigned long long i = first_index();
  for (; i + 3 * step < count; i += 4 * step) {
    const uint4 a = src[i], b = src[i + step], c = src[i + 2 * step], d = src[i + 3 * step];
    dst[i] = a;
    dst[i + step] = b;
    dst[i + 2 * step] = c;
    dst[i + 3 * step] = d;
  }
  for (; i < count; i += step) dst[i] = src[i];
}

/// Keeps the device busy for `cycles` SM clocks, so that the host can enqueue what follows before any of it
/// starts.
extern "C" __global__ void spin(long long cycles) {
  const long long start = clock64();
  while (clock64() - start < cycles) {
  }
}
