#include "gpu/device/peak_kernels.hpp"

#include <algorithm>

namespace attnprof {
namespace {

constexpr unsigned kMemoryThreads = 512;
constexpr int64_t kTileBytes = int64_t{64} * kMemoryThreads;  ///< four 16-byte elements a thread
constexpr unsigned kChainThreads = 256;
constexpr unsigned kChainBlocksPerSm = 24;  ///< whole waves, whether an SM holds six such blocks or eight
constexpr int kChains = 8;                  ///< of peak.cu

KernelSpec spec(const std::string& entry) {
  return {"gpu/device/peak.cu", entry, {}};
}

std::string entry_of(MemoryUse use) {
  switch (use) {
    case MemoryUse::read:
      return "read_over";
    case MemoryUse::write:
      return "write_over";
    case MemoryUse::copy:
      return "copy_over";
  }
  return "";
}

}  // namespace

MemoryPasses::MemoryPasses(GpuDevice& gpu, MemoryUse use, Buffer& to, Buffer& from, int64_t bytes,
                           int64_t passes)
    : gpu_(gpu),
      use_(use),
      kernel_(gpu.kernel(spec(entry_of(use)))),
      to_(to.data()),
      from_(from.data()),
      tiles_(static_cast<unsigned>(std::max<int64_t>(1, bytes / kTileBytes))),
      passes_(static_cast<unsigned>(passes)) {}

void MemoryPasses::launch() {
  const LaunchShape shape{.grid_x = static_cast<unsigned>(gpu_.info().multiprocessors) * 4,
                          .block_x = kMemoryThreads};
  switch (use_) {
    case MemoryUse::read:
      return gpu_.launch(kernel_, shape, {&from_, &tiles_, &passes_, &to_});
    case MemoryUse::write:
      return gpu_.launch(kernel_, shape, {&to_, &tiles_, &passes_});
    case MemoryUse::copy:
      return gpu_.launch(kernel_, shape, {&to_, &from_, &tiles_, &passes_});
  }
}

double MemoryPasses::bytes() const {
  return (use_ == MemoryUse::copy ? 2.0 : 1.0) * static_cast<double>(kTileBytes) * tiles_ * passes_;
}

ArithmeticChains::ArithmeticChains(GpuDevice& gpu, const std::string& entry, int rounds)
    : gpu_(gpu),
      kernel_(gpu.kernel(spec(entry))),
      rounds_(rounds),
      blocks_(static_cast<unsigned>(gpu.info().multiprocessors) * kChainBlocksPerSm),
      fma_(entry == "fma_chains") {}

void ArithmeticChains::launch() {
  const LaunchShape shape{.grid_x = blocks_, .block_x = kChainThreads};
  const float b = 1e-9f;
  const void* sink = nullptr;  // never written
  if (fma_) {
    gpu_.launch(kernel_, shape, {&rounds_, &b, &sink});
  } else {
    gpu_.launch(kernel_, shape, {&rounds_, &sink});
  }
}

double ArithmeticChains::operations() const {
  return static_cast<double>(kChains) * rounds_ * blocks_ * kChainThreads;
}

SquareProduct::SquareProduct(GpuDevice& gpu, DType dtype, int64_t n)
    : flops_(2.0 * static_cast<double>(n) * static_cast<double>(n) * static_cast<double>(n)) {
  constexpr int64_t kScratchBytes = int64_t{64} << 20;
  for (uint32_t i = 0; i < 3; ++i) {
    buffers_[i] = gpu.allocate(n * n * dtype_bytes(dtype));
    gpu.fill_normal(buffers_[i]->data(), dtype, n * n, 1, i);
  }
  buffers_[3] = gpu.allocate(kScratchBytes);
  product_ = gpu.bind({ProductLaunch{.name = "C = A B",
                                     .shape = {.dtype = dtype,
                                               .tf32 = dtype == DType::fp32,
                                               .m = n,
                                               .n = n,
                                               .k = n,
                                               .a_pitch = n,
                                               .b_pitch = n,
                                               .c_pitch = n},
                                     .a = buffers_[0]->data(),
                                     .b = buffers_[1]->data(),
                                     .c = buffers_[2]->data(),
                                     .scratch = buffers_[3]->data(),
                                     .scratch_bytes = kScratchBytes}});
}

EmptyLaunches::EmptyLaunches(GpuDevice& gpu, int count)
    : gpu_(gpu), kernel_(gpu.kernel(spec("nothing"))), count_(count) {}

void EmptyLaunches::launch() {
  for (int i = 0; i < count_; ++i) gpu_.launch(kernel_, {}, {});
}

}  // namespace attnprof
