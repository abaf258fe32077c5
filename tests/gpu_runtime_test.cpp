// The GPU runtime on a real GPU: memory, launches, time, counters, records. Skipped, with a message, without
// one.
#include "catch.hpp"
#ifdef ATTNPROF_WITH_CUDA
#include <algorithm>
#include <chrono>
#include <cstring>
#include <numeric>

#include "core/error.hpp"
#include "core/fill.hpp"
#include "core/stats.hpp"
#include "gpu/counters/cupti_activity.hpp"
#include "gpu/counters/cupti_error.hpp"
#include "gpu/device/memory_kernels.hpp"
#include "gpu/device/peak_kernels.hpp"
#include "gpu/gpu.hpp"

using namespace attnprof;

namespace {

std::unique_ptr<Device> gpu_or_skip() {
  const GpuList list = list_gpus();
  if (!list.gpus.empty()) return open_gpu(0);
  WARN("skipped: no GPU: " << list.why_none);
  return nullptr;
}

constexpr int64_t kMiB = int64_t{1} << 20;

/// A copy of `bytes`, with the memory it needs.
struct CopyCase {
  std::unique_ptr<Buffer> from, to;
  DeviceCopy work;
  CopyCase(GpuDevice& gpu, int64_t bytes)
      : from(gpu.allocate(bytes)), to(gpu.allocate(bytes)), work(gpu, to->data(), from->data(), bytes) {
    gpu.fill_normal(from->data(), DType::fp32, bytes / 4, 1, 0);
  }
};

double median_us(Device& gpu, Prepared& work, CacheMode cache, int count) {
  gpu.run(work);
  return stats::median(gpu.sample_us(work, cache, count));
}

bool counters_or_skip(const CounterSource& counters) {
  if (counters.hint().empty()) return true;
  WARN("skipped: " << counters.hint());
  return false;
}

/// One launch that asks for something that cannot be.
class BadLaunch final : public Prepared {
 public:
  BadLaunch(GpuDevice& gpu, LaunchShape shape) : gpu_(gpu), shape_(shape) {}
  void launch() override {
    const long long cycles = 1;
    gpu_.launch(gpu_.kernel({"gpu/device/flush.cu", "spin", {}}), shape_, {&cycles});
  }

 private:
  GpuDevice& gpu_;
  LaunchShape shape_;
};

}  // namespace

TEST_CASE("the GPU says who it is and what it has", "[gpu]") {
  const auto gpu = gpu_or_skip();
  if (!gpu) return;
  const DeviceInfo& info = gpu->info();
  CHECK(info.kind == DeviceKind::gpu);
  CHECK(info.uuid.rfind("GPU-", 0) == 0);
  CHECK(info.uuid.size() == 40);
  CHECK(info.compute_capability >= 75);
  CHECK(info.multiprocessors > 0);
  CHECK(info.last_level_cache_bytes >= kMiB);
  CHECK(info.smem_per_block_bytes > 48 * 1024);
  CHECK(info.memory_bytes > gpu->free_bytes());
  CHECK_FALSE(info.driver_version.empty());
  CHECK_FALSE(info.cuda_version.empty());
  CHECK_THROWS_AS(open_gpu(1000), UnavailableError);
}

TEST_CASE("memory holds what was put there, and too much of it is refused with both numbers", "[gpu]") {
  const auto gpu = gpu_or_skip();
  if (!gpu) return;
  std::vector<unsigned char> sent(1000003);
  std::iota(sent.begin(), sent.end(), static_cast<unsigned char>(1));
  const auto buffer = gpu->allocate(static_cast<int64_t>(sent.size()));
  CHECK(reinterpret_cast<uintptr_t>(buffer->data()) % 256 == 0);
  gpu->upload(buffer->data(), sent.data(), static_cast<int64_t>(sent.size()));
  std::vector<unsigned char> received(sent.size());
  gpu->download(received.data(), buffer->data(), static_cast<int64_t>(sent.size()));
  CHECK(received == sent);
  gpu->fill_bytes(buffer->data(), 0xff, 17);
  gpu->download(received.data(), buffer->data(), static_cast<int64_t>(sent.size()));
  CHECK(received[16] == 0xff);
  CHECK(received[17] == sent[17]);

  const int64_t before = gpu->free_bytes();
  try {
    gpu->allocate(int64_t{1} << 50);
    FAIL("allocated a pebibyte");
  } catch (const OutOfMemory& error) {
    CHECK(error.needed_bytes == int64_t{1} << 50);
    CHECK(error.available_bytes > 0);
  }
  CHECK(gpu->free_bytes() >= before);  // other tests' modules may have been freed meanwhile
}

TEST_CASE("the fill has the host's bits in every dtype", "[gpu]") {
  const auto gpu = gpu_or_skip();
  if (!gpu) return;
  constexpr int64_t kCount = 1000001;  // odd, and more than one grid covers
  for (const DType dtype : {DType::fp32, DType::bf16, DType::fp16}) {
    INFO(to_string(dtype));
    const int64_t bytes = kCount * dtype_bytes(dtype);
    const auto buffer = gpu->allocate(bytes);
    gpu->fill_normal(buffer->data(), dtype, kCount, 42, kStreamV);
    std::vector<char> device(static_cast<size_t>(bytes));
    std::vector<char> host(static_cast<size_t>(bytes));
    gpu->download(device.data(), buffer->data(), bytes);
    fill_host(host.data(), dtype, kCount, Fill::normal, 42, kStreamV);
    CHECK(std::memcmp(device.data(), host.data(), host.size()) == 0);
  }
}

TEST_CASE("a refused launch is an error of its case, and the device goes on", "[gpu]") {
  const auto gpu = gpu_or_skip();
  if (!gpu) return;
  BadLaunch too_much_memory(as_gpu(*gpu), {.dynamic_smem_bytes = 1 << 20});
  CHECK_THROWS_AS(gpu->run(too_much_memory), CaseError);
  BadLaunch too_many_threads(as_gpu(*gpu), {.block_x = 4096});
  CHECK_THROWS_AS(gpu->run(too_many_threads), CaseError);
  BadLaunch grid_too_high(as_gpu(*gpu), {.grid_y = 70000});
  try {
    gpu->run(grid_too_high);
    FAIL("launched a grid that is too high");
  } catch (const CaseError& error) {
    CHECK(std::string(error.what()).find("grid (1, 70000, 1)") != std::string::npos);
    CHECK(std::string(error.what()).find("CUDA_ERROR") != std::string::npos);
  }
  BadLaunch fine(as_gpu(*gpu), {.dynamic_smem_bytes = 64 * 1024});  // above 48 KiB: opted into
  CHECK_NOTHROW(gpu->run(fine));
}

TEST_CASE("an unknown kernel or source fails its case only", "[gpu]") {
  const auto gpu = gpu_or_skip();
  if (!gpu) return;
  CHECK_THROWS_AS(as_gpu(*gpu).kernel({"no_such.cu", "f", {}}), CaseError);
  CHECK_THROWS_AS(as_gpu(*gpu).kernel({"gpu/device/flush.cu", "no_such_kernel", {}}), CaseError);
  CHECK(as_gpu(*gpu).kernel({"gpu/device/flush.cu", "spin", {}}).resources.registers_per_thread > 0);
}

TEST_CASE("many kernels compile in parallel, with progress up to the last", "[gpu]") {
  const auto gpu = gpu_or_skip();
  if (!gpu) return;
  const std::vector<KernelSpec> specs{{"gpu/device/fill.cu", "fill_normal_fp32", {}},
                                      {"gpu/device/fill.cu", "fill_normal_bf16", {}},
                                      {"gpu/device/flush.cu", "copy_all", {}},
                                      {"gpu/device/fill.cu", "fill_normal_fp32", {}},
                                      {"no_such.cu", "f", {}}};
  std::vector<int> seen;
  compile_kernels(*gpu, specs, [&](int done, int total) {
    CHECK(total == 4);  // one is named twice
    seen.push_back(done);
  });
  REQUIRE_FALSE(seen.empty());
  CHECK(seen.back() == 4);
  CHECK(std::is_sorted(seen.begin(), seen.end()));
  CHECK_THROWS_AS(as_gpu(*gpu).kernel({"no_such.cu", "f", {}}), CaseError);
}

TEST_CASE("time grows with the work and does not depend on how many samples are taken", "[gpu]") {
  const auto gpu = gpu_or_skip();
  if (!gpu) return;
  CopyCase small(as_gpu(*gpu), 256 * kMiB);
  CopyCase large(as_gpu(*gpu), 1024 * kMiB);
  const double small_us = median_us(*gpu, small.work, CacheMode::cold, 20);
  const double large_us = median_us(*gpu, large.work, CacheMode::cold, 20);
  CHECK(large_us / small_us > 3.6);
  CHECK(large_us / small_us < 4.4);
  const double one_us = median_us(*gpu, large.work, CacheMode::cold, 1);
  const double fifty_us = median_us(*gpu, large.work, CacheMode::cold, 50);
  CHECK(one_us == Approx(fifty_us).epsilon(0.05));
  CHECK(gpu->sample_us(small.work, CacheMode::hot, 37).size() == 37);
}

TEST_CASE("a hot cache is faster than a cold one where the data fits", "[gpu]") {
  const auto gpu = gpu_or_skip();
  if (!gpu) return;
  CopyCase copy(as_gpu(*gpu), gpu->info().last_level_cache_bytes / 8);
  const double cold_us = median_us(*gpu, copy.work, CacheMode::cold, 50);
  const double hot_us = median_us(*gpu, copy.work, CacheMode::hot, 50);
  CHECK(hot_us < cold_us);
  CHECK(hot_us > gpu->timer_resolution_us());
}

TEST_CASE("an empty kernel takes microseconds, not the host's launch time", "[gpu]") {
  const auto gpu = gpu_or_skip();
  if (!gpu) return;
  BadLaunch empty(as_gpu(*gpu), {});
  CHECK(median_us(*gpu, empty, CacheMode::cold, 50) < 10);
  CHECK(median_us(*gpu, empty, CacheMode::hot, 50) < 10);
}

TEST_CASE("counters of a 1 GiB copy are its bytes within one percent", "[gpu][cupti]") {
  const auto gpu = gpu_or_skip();
  if (!gpu) return;
  const auto counters = open_counters(*gpu);
  if (!counters_or_skip(*counters)) return;
  CopyCase copy(as_gpu(*gpu), 1024 * kMiB);
  const double bytes = static_cast<double>(1024 * kMiB);
  gpu->run(copy.work);
  const Counters drained = counters->measure(copy.work, {.drain = true, .flops = false});
  REQUIRE(drained.status == "ok");
  CHECK(drained.drained);
  CHECK(drained.passes >= 1);
  CHECK(static_cast<double>(*drained.hbm_read_bytes) == Approx(bytes).epsilon(0.01));
  CHECK(static_cast<double>(*drained.hbm_write_bytes) == Approx(bytes).epsilon(0.01));
  CHECK(static_cast<double>(*drained.l2_bytes) > 1.9 * bytes);
  const Counters undrained = counters->measure(copy.work, {.drain = false, .flops = true});
  REQUIRE(undrained.status == "ok");
  CHECK_FALSE(undrained.drained);
  CHECK(*undrained.hbm_write_bytes < *drained.hbm_write_bytes);
  CHECK(*undrained.fp32_flops == 0);
  CHECK(*undrained.tensor_flops == 0);
  WARN("1 GiB copy: read " << *drained.hbm_read_bytes << ", write drained " << *drained.hbm_write_bytes
                           << ", undrained " << *undrained.hbm_write_bytes << ", passes " << drained.passes
                           << " and " << undrained.passes);
}

TEST_CASE("what stays dirty in the cache is counted only when it is drained", "[gpu][cupti]") {
  const auto gpu = gpu_or_skip();
  if (!gpu) return;
  const auto counters = open_counters(*gpu);
  if (!counters_or_skip(*counters)) return;
  CopyCase copy(as_gpu(*gpu), kMiB);
  gpu->run(copy.work);
  for (const CacheMode cache : {CacheMode::cold, CacheMode::hot}) {
    const Counters drained = counters->measure(copy.work, {.cache = cache, .drain = true, .flops = false});
    const Counters undrained = counters->measure(copy.work, {.cache = cache, .drain = false, .flops = false});
    REQUIRE(drained.status == "ok");
    REQUIRE(undrained.status == "ok");
    WARN((cache == CacheMode::cold ? "cold" : "hot")
         << " 1 MiB copy: read " << *drained.hbm_read_bytes << ", write " << *drained.hbm_write_bytes
         << ", undrained " << *undrained.hbm_write_bytes);
    CHECK(static_cast<double>(*drained.hbm_write_bytes) == Approx(static_cast<double>(kMiB)).epsilon(0.25));
    CHECK(*undrained.hbm_write_bytes < kMiB / 2);
    if (cache == CacheMode::cold) CHECK(*drained.hbm_read_bytes >= kMiB);
    if (cache == CacheMode::hot) CHECK(*drained.hbm_read_bytes < kMiB);
  }
}

TEST_CASE("the tensor counter of a matrix product is its 2 n^3, for bf16 and fp16", "[gpu][cupti]") {
  const auto gpu = gpu_or_skip();
  if (!gpu) return;
  const auto counters = open_counters(*gpu);
  if (!counters_or_skip(*counters)) return;
  for (const DType dtype : {DType::bf16, DType::fp16}) {
    INFO(to_string(dtype));
    SquareProduct product(as_gpu(*gpu), dtype, 4096);
    gpu->run(product);
    const auto start = std::chrono::steady_clock::now();
    const Counters counted = counters->measure(product, {.dtype = dtype});
    const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - start;
    REQUIRE(counted.status == "ok");
    CHECK(static_cast<double>(*counted.tensor_flops) == Approx(product.flops()).epsilon(0.01));
    CHECK(*counted.tensor_pipe_active_pct > 5);
    CHECK(static_cast<double>(*counted.hbm_write_bytes) == Approx(4096.0 * 4096 * 2).epsilon(0.05));
    WARN(to_string(dtype) << ": tensor pipe " << *counted.tensor_pipe_active_pct << "%, " << counted.passes
                          << " passes, " << took.count() << " ms");
  }
}

TEST_CASE("kernel records name one copy and agree with its timing, before and after counters",
          "[gpu][cupti]") {
  const auto gpu = gpu_or_skip();
  if (!gpu) return;
  const auto counters = open_counters(*gpu);
  CopyCase copy(as_gpu(*gpu), 1024 * kMiB);
  const double timed_us = median_us(*gpu, copy.work, CacheMode::cold, 20);
  for (int round = 0; round < 2; ++round) {
    std::vector<KernelRecord> kernels;
    try {
      kernels = record_kernels(as_gpu(*gpu), copy.work, CacheMode::cold);
    } catch (const CuptiError& error) {
      WARN("skipped: " << error.what());
      return;
    }
    REQUIRE(kernels.size() == 1);
    CHECK(kernels[0].name == "copy_all");
    const KernelTimes times = *summarise_kernels(kernels);
    CHECK(times.kernels_us == Approx(timed_us).epsilon(0.05));
    CHECK(times.gaps_us == 0);
    counters->measure(copy.work, {.drain = false, .flops = false});
  }
}

TEST_CASE("counters do not slow the timing that follows them, and are given back", "[gpu][cupti]") {
  const auto gpu = gpu_or_skip();
  if (!gpu) return;
  CopyCase copy(as_gpu(*gpu), 64 * kMiB);
  const double before_us = median_us(*gpu, copy.work, CacheMode::cold, 50);
  {
    const auto first = open_counters(*gpu);
    if (!counters_or_skip(*first)) return;
    // A launch that fails under counters must not keep them.
    BadLaunch bad(as_gpu(*gpu), {.block_x = 4096});
    CHECK(first->measure(bad, {}).status == "failed");
    CHECK(first->measure(copy.work, {}).status == "ok");
    const auto second = open_counters(*gpu);
    CHECK(second->hint().empty());
    CHECK(second->measure(copy.work, {}).status == "ok");
  }
  CHECK(median_us(*gpu, copy.work, CacheMode::cold, 50) == Approx(before_us).epsilon(0.05));
}

TEST_CASE("an illegal address costs the context, and every later call says so", "[gpu][lost]") {
  const auto gpu = gpu_or_skip();
  if (!gpu) return;
  DeviceCopy wild(as_gpu(*gpu), reinterpret_cast<void*>(uintptr_t{1} << 40),
                  reinterpret_cast<void*>(uintptr_t{1} << 41), kMiB);
  CHECK_THROWS_AS(gpu->run(wild), CaseError);
  try {
    gpu->allocate(16);
    FAIL("the device was not reported as lost");
  } catch (const CaseError& error) {
    CHECK(std::string(error.what()).find("CUDA_ERROR_ILLEGAL_ADDRESS") != std::string::npos);
    CHECK(std::string(error.what()).find("lost") != std::string::npos);
  }
}
#endif
