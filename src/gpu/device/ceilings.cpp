#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <limits>
#include <memory>

#include "core/error.hpp"
#include "core/stats.hpp"
#include "gpu/api/driver_api.hpp"
#include "gpu/device/gpu_device.hpp"
#include "gpu/device/memory_kernels.hpp"
#include "gpu/device/peak_kernels.hpp"
#include "gpu/gpu.hpp"

namespace attnprof {
namespace {

constexpr int64_t kMiB = int64_t{1} << 20;
constexpr int64_t kLargestBytes = 1024 * kMiB;
constexpr int64_t kMatrixSize = 8192;
constexpr int kWarmups = 3;
constexpr int kSamples = 20;
/// Moved in one launch at least: launching and the last lines, still in L2 when a kernel ends, then hardly
/// count.
constexpr int64_t kMovedBytes = int64_t{4} << 30;
constexpr int kFmaRounds = 5000;
constexpr int kExpRounds = 640;
/// Empty launches between two events, and such runs at once: together well below the depth of the launch
/// queue, so that the device never waits for the host.
constexpr int kEmptyLaunches = 200;
constexpr int kEmptyRuns = 4;

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

class Measurement {
 public:
  Measurement(GpuDevice& gpu, CeilingScope scope) : gpu_(gpu) { list_.scope = scope; }

  CeilingList run() {
    const bool full = list_.scope == CeilingScope::full;
    attempt("memory", [&] { memory(full); });
    for (const DType dtype : {DType::bf16, DType::fp16}) {
      attempt("matrix product", [&] { matrix(fmt::format("matrix_{}", to_string(dtype)), dtype); });
    }
    if (full) attempt("tf32 matrix product", [&] { matrix("matrix_tf32", DType::fp32); });
    attempt("fp32 rate", [&] {
      chains("fma_chains", "fp32_fma", kFmaRounds, 2e-6, "TFLOP/s",
             "multiply-adds in registers, each counting 2");
    });
    attempt("exp rate",
            [&] { chains("exp_chains", "exp", kExpRounds, 1e-3, "Gexp/s", "ex2.approx in registers"); });
    attempt("launches", [&] { launches(full); });
    return std::move(list_);
  }

 private:
  template <class Step>
  void attempt(const char* what, Step step) {
    try {
      step();
    } catch (const Error& error) {
      list_.message += fmt::format("{}{}: {}", list_.message.empty() ? "" : "; ", what, error.what());
    }
  }
  void add(const std::string& name, double value, const char* unit, const std::string& how,
           std::optional<int64_t> bytes = std::nullopt) {
    list_.add({name, bytes, value, unit, how});
  }

  void memory(bool full) {
    int64_t largest = kLargestBytes;
    while (largest > 64 * kMiB && 3 * largest > gpu_.free_bytes()) largest /= 2;
    const std::unique_ptr<Buffer> from = gpu_.allocate(largest);
    const std::unique_ptr<Buffer> to = gpu_.allocate(largest);
    gpu_.fill_normal(from->data(), DType::fp32, largest / 4, 1, 0);
    const std::string size = fmt::format("{} MiB, larger than the caches", largest / kMiB);
    DeviceCopy ours(gpu_, to->data(), from->data(), largest);
    DriverCopy drivers(gpu_, *to, *from);
    const double copy_us =
        std::min(median_us(gpu_, ours, CacheMode::cold), median_us(gpu_, drivers, CacheMode::cold));
    add("copy", 2e-3 * static_cast<double>(largest) / copy_us, "GB/s", size + "; read plus written");
    if (!full) return;
    DeviceRead reading(gpu_, from->data(), largest);
    add("read", 1e-3 * static_cast<double>(largest) / median_us(gpu_, reading, CacheMode::cold), "GB/s",
        size);
    const double writing = over(MemoryUse::write, *to, *from, largest);
    add("write", writing, "GB/s", size);
    by_size(*to, *from, largest);
  }

  /// GB/s of going over `bytes` again and again.
  double over(MemoryUse use, Buffer& to, Buffer& from, int64_t bytes) {
    MemoryPasses passes(gpu_, use, to, from, bytes, std::max<int64_t>(1, kMovedBytes / bytes));
    return 1e-3 * passes.bytes() / median_us(gpu_, passes, CacheMode::hot);
  }

  void by_size(Buffer& to, Buffer& from, int64_t largest) {
    const std::string how = "gone over again and again, past L1";
    double l2_read = 0;
    for (const int64_t bytes : ceiling_sizes(largest)) {
      const double rate = over(MemoryUse::read, to, from, bytes);
      if (2 * bytes <= gpu_.info().last_level_cache_bytes) l2_read = std::max(l2_read, rate);
      add("read_by_size", rate, "GB/s", how, bytes);
      add("write_by_size", over(MemoryUse::write, to, from, bytes), "GB/s", how, bytes);
      add("copy_by_size", over(MemoryUse::copy, to, from, bytes), "GB/s", how + "; read plus written", bytes);
    }
    if (l2_read > 0) {
      add("l2_read", l2_read, "GB/s", "best of the sizes up to half of the L2");
    }
  }

  void matrix(const std::string& name, DType dtype) {
    SquareProduct product(gpu_, dtype, kMatrixSize);
    add(name, 1e-6 * product.flops() / median_us(gpu_, product, CacheMode::hot), "TFLOP/s",
        fmt::format("cuBLASLt {}^3, random data", kMatrixSize));
  }

  void chains(const char* entry, const char* name, int rounds, double scale, const char* unit,
              const char* how) {
    ArithmeticChains work(gpu_, entry, rounds);
    add(name, scale * work.operations() / median_us(gpu_, work, CacheMode::hot), unit, how);
  }

  void launches(bool full) {
    EmptyLaunches many(gpu_, kEmptyLaunches);
    // The first round teaches the device how long the host takes to enqueue one run, and is not counted.
    gpu_.sample_us(many, CacheMode::hot, 1);
    std::vector<double> runs_us;
    for (int round = 0; round < 3; ++round) {
      const std::vector<double> more = gpu_.sample_us(many, CacheMode::hot, kEmptyRuns);
      if (round > 0) runs_us.insert(runs_us.end(), more.begin(), more.end());
    }
    add("launch_interval", stats::median(runs_us) / kEmptyLaunches, "us",
        "empty kernels back to back, from one to the next");
    if (full) {
      add("launch_to_done", to_done_us(), "us",
          "one empty kernel, from the call until the host knows of its end");
    }
  }

  /// By the host's clock, without the bookkeeping of GpuDevice::launch.
  double to_done_us() {
    const CompiledKernel& kernel = gpu_.kernel({"gpu/device/peak.cu", "nothing", {}});
    CUlaunchConfig config{};
    config.gridDimX = config.gridDimY = config.gridDimZ = 1;
    config.blockDimX = config.blockDimY = config.blockDimZ = 1;
    config.hStream = gpu_.stream();
    std::vector<double> samples_us;
    for (int i = 0; i < 200; ++i) {
      const auto start = std::chrono::steady_clock::now();
      check(gpu_.driver(), gpu_.driver().launch_kernel_ex(&config, kernel.function, nullptr, nullptr),
            "launching an empty kernel");
      check(gpu_.driver(), gpu_.driver().stream_synchronize(gpu_.stream()), "waiting for an empty kernel");
      samples_us.push_back(
          std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - start).count());
    }
    return stats::median(samples_us);
  }

  GpuDevice& gpu_;
  CeilingList list_;
};

}  // namespace

CeilingList measure_ceilings(Device& device, CeilingScope scope) {
  return Measurement(as_gpu(device), scope).run();
}

}  // namespace attnprof
