#include "gpu/ceilings.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/error.hpp"
#include "core/stats.hpp"
#include "gpu/driver_api.hpp"
#include "gpu/gpu_device.hpp"
#include "gpu/memory_kernels.hpp"
#include "gpu/square_product.hpp"

namespace attnprof {
namespace {

constexpr int64_t kMemoryBytes = int64_t{1} << 30;
constexpr int64_t kMatrixSize = 8192;
constexpr int kWarmups = 3;
constexpr int kSamples = 20;

double median_us(GpuDevice& gpu, Prepared& work, CacheMode cache) {
  for (int i = 0; i < kWarmups; ++i) gpu.run(work);
  return stats::median(gpu.sample_us(work, cache, kSamples));
}

/// The driver's own copy.
class DriverCopy final : public Prepared {
 public:
  DriverCopy(GpuDevice& gpu, Buffer& to, Buffer& from) : gpu_(gpu), to_(to), from_(from) {}
  void launch() override {
    check(gpu_.driver(),
          gpu_.driver().memcpy_dtod_async(reinterpret_cast<CUdeviceptr>(to_.data()),
                                          reinterpret_cast<CUdeviceptr>(from_.data()),
                                          static_cast<size_t>(from_.size_bytes()), gpu_.stream()),
          "copying in device memory");
  }

 private:
  GpuDevice& gpu_;
  Buffer& to_;
  Buffer& from_;
};

void measure_memory(GpuDevice& gpu, GpuCeilings& ceilings) {
  const std::unique_ptr<Buffer> from = gpu.allocate(kMemoryBytes);
  const std::unique_ptr<Buffer> to = gpu.allocate(kMemoryBytes);
  gpu.fill_normal(from->data(), DType::fp32, kMemoryBytes / 4, 1, 0);
  DeviceCopy copy(gpu, to->data(), from->data(), kMemoryBytes);
  DriverCopy driver_copy(gpu, *to, *from);
  const double copy_us =
      std::min(median_us(gpu, copy, CacheMode::cold), median_us(gpu, driver_copy, CacheMode::cold));
  ceilings.copy_gbps = 2.0 * static_cast<double>(kMemoryBytes) / copy_us / 1000;
  DeviceRead read(gpu, from->data(), kMemoryBytes);
  ceilings.read_gbps = static_cast<double>(kMemoryBytes) / median_us(gpu, read, CacheMode::cold) / 1000;
}

double matrix_tflops(GpuDevice& gpu, DType dtype) {
  SquareProduct product(gpu, dtype, kMatrixSize);
  return product.flops() / median_us(gpu, product, CacheMode::hot) / 1e6;
}

}  // namespace

GpuCeilings measure_ceilings(Device& device) {
  GpuDevice& gpu = as_gpu(device);
  GpuCeilings ceilings;
  const auto attempt = [&](const char* what, const auto& measure) {
    try {
      measure();
    } catch (const Error& error) {
      ceilings.message += fmt::format("{}{}: {}", ceilings.message.empty() ? "" : "; ", what, error.what());
    }
  };
  attempt("memory", [&] { measure_memory(gpu, ceilings); });
  attempt("bf16 matrix product", [&] { ceilings.bf16_matrix_tflops = matrix_tflops(gpu, DType::bf16); });
  attempt("fp16 matrix product", [&] { ceilings.fp16_matrix_tflops = matrix_tflops(gpu, DType::fp16); });
  return ceilings;
}

}  // namespace attnprof
