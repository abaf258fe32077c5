// The ceilings of a real GPU: plausible against each other and against what the chip is built for. Skipped,
// with a message, without one.
#include "catch.hpp"
#ifdef ATTNPROF_WITH_CUDA
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <vector>

#include "core/bound.hpp"
#include "gpu/device/peak_kernels.hpp"
#include "gpu_case.hpp"
#include "state/ceilings_text.hpp"

using namespace attnprof;

namespace {

double value(const CeilingList& list, const std::string& name, int64_t mib = 0) {
  for (const CeilingValue& v : list.values) {
    if (v.name == name && v.bytes.value_or(0) == mib << 20) return v.value;
  }
  return 0;
}

}  // namespace

TEST_CASE("the ceilings of a GPU fit each other and its datasheet", "[gpu]") {
  Device* const gpu = gpu_test::device_or_skip();
  if (gpu == nullptr) return;
  const CeilingList list = measure_ceilings(*gpu, CeilingScope::full);
  CeilingReport report;
  report.identity = ceiling_identity(gpu->info(), "", "");
  report.list = list;
  WARN(ceilings_table(report));
  CHECK(list.message == "");
  const double copy = value(list, "copy");
  CHECK(copy > 50);
  CHECK(value(list, "read") > 0.7 * copy);
  CHECK(value(list, "write") > 0.5 * copy);
  CHECK(value(list, "matrix_bf16") > value(list, "matrix_tf32"));
  CHECK(value(list, "matrix_tf32") > value(list, "fp32_fma"));
  // L2 is faster than HBM, and the step between them is visible.
  CHECK(value(list, "l2_read") > 1.2 * value(list, "read"));
  const int64_t largest = gpu->info().last_level_cache_bytes >> 20;
  CHECK(value(list, "read_by_size", 1024) < 0.8 * value(list, "l2_read"));
  CHECK(value(list, "read_by_size", 1024) == Approx(value(list, "read")).epsilon(0.15));
  CHECK(largest < 1024);
  const double interval = value(list, "launch_interval"), to_done = value(list, "launch_to_done");
  CHECK(interval > 0.3);
  CHECK(interval < 20);
  CHECK(to_done > interval);
  CHECK(to_done < 200);
  if (const auto model = match_gpu_model(gpu->info())) {
    // Nothing beats the datasheet; what falls far short was not measured well.
    CHECK(value(list, "fp32_fma") < 1.03 * model->fp32_tflops);
    CHECK(value(list, "fp32_fma") > 0.7 * model->fp32_tflops);
    const double exp_peak = 16e-3 * model->multiprocessors * model->boost_ghz * 1e3;
    CHECK(value(list, "exp") < 1.03 * exp_peak);
    CHECK(value(list, "exp") > 0.7 * exp_peak);
    CHECK(copy < model->hbm_gbps);
    CHECK(value(list, "read") < model->hbm_gbps);
    CHECK(value(list, "write") < 1.05 * model->hbm_gbps);
  }
}

TEST_CASE("what a sweep needs of the ceilings takes about a second", "[gpu]") {
  Device* const gpu = gpu_test::device_or_skip();
  if (gpu == nullptr) return;
  const int64_t free_before = gpu->free_bytes();
  const auto start = std::chrono::steady_clock::now();
  const CeilingList list = measure_ceilings(*gpu, CeilingScope::rows);
  const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - start;
  WARN(fmt::format("{:.2f} s", spent.count()));
  CHECK(spent.count() < 4);
  const DeviceCeilings rates = rates_of(list, DeviceKind::gpu);
  CHECK(rates.copy_gbps);
  CHECK(rates.matrix_tflops(DType::bf16));
  CHECK(rates.matrix_tflops(DType::fp16));
  CHECK(rates.fp32_tflops);
  CHECK(rates.exp_gops);
  CHECK(rates.launch_us);
  // Its memory is given back, so that what was planned to fit still does (libraries keep a little).
  CHECK(gpu->free_bytes() > free_before - (int64_t{512} << 20));
}

TEST_CASE("the kernels behind the ceilings go over all of their bytes and no others", "[gpu][small]") {
  Device* const gpu = gpu_test::device_or_skip();
  if (gpu == nullptr) return;
  constexpr int64_t kBytes = int64_t{1} << 20, kGuard = 4096;
  const std::unique_ptr<Buffer> from = gpu->allocate(kBytes + kGuard), to = gpu->allocate(kBytes + kGuard);
  gpu->fill_bytes(from->data(), 0xAB, kBytes + kGuard);
  gpu->fill_bytes(to->data(), 0xCD, kBytes + kGuard);
  const auto bytes_of = [&](Buffer& buffer) {
    std::vector<uint8_t> bytes(static_cast<size_t>(buffer.size_bytes()));
    gpu->download(bytes.data(), buffer.data(), buffer.size_bytes());
    return bytes;
  };
  const auto whole_guard = [&](const std::vector<uint8_t>& bytes, uint8_t value) {
    return std::all_of(bytes.begin() + kBytes, bytes.end(), [&](uint8_t b) { return b == value; });
  };

  MemoryPasses writing(as_gpu(*gpu), MemoryUse::write, *from, *to, kBytes, 2);
  gpu->run(writing);
  const std::vector<uint8_t> written = bytes_of(*from);
  CHECK(whole_guard(written, 0xAB));
  // A 16-byte element that nobody wrote would still hold the value of the fill.
  for (int64_t at = 0; at < kBytes; at += 16) {
    const auto* element = &written[static_cast<size_t>(at)];
    REQUIRE(!std::all_of(element, element + 16, [](uint8_t b) { return b == 0xAB; }));
  }

  MemoryPasses copying(as_gpu(*gpu), MemoryUse::copy, *to, *from, kBytes, 1);
  gpu->run(copying);
  const std::vector<uint8_t> copied = bytes_of(*to);
  CHECK(std::equal(written.begin(), written.begin() + kBytes, copied.begin()));
  CHECK(whole_guard(copied, 0xCD));

  MemoryPasses reading(as_gpu(*gpu), MemoryUse::read, *to, *from, kBytes, 3);
  gpu->run(reading);
  CHECK(bytes_of(*to) == copied);  // only a sink that is never written
  CHECK(reading.bytes() == 3.0 * kBytes);
  CHECK(copying.bytes() == 2.0 * kBytes);

  for (const char* entry : {"fma_chains", "exp_chains"}) {
    ArithmeticChains chains(as_gpu(*gpu), entry, 8);
    gpu->run(chains);
    CHECK(chains.operations() > 0);
  }
  EmptyLaunches launches(as_gpu(*gpu), 3);
  gpu->run(launches);
}
#endif
