// The steps of the GPU's naive on a real GPU: their times and bytes add up to the whole's. Skipped, with a
// message, without one.
#include "catch.hpp"
#ifdef ATTNPROF_WITH_CUDA
#include <fmt/format.h>

#include <atomic>

#include "gpu_case.hpp"
#include "implementations.hpp"
#include "measure/runner.hpp"
#include "rows/derived.hpp"

using namespace attnprof;

namespace {

double total_bytes(const Record& r) {
  return hbm_bytes(row_of(r)).value_or(0);
}

}  // namespace

TEST_CASE("the kernels of the GPU's naive add up to its whole", "[gpu][cupti]") {
  Device* const gpu = gpu_test::device_or_skip();
  if (gpu == nullptr) return;
  const std::unique_ptr<CounterSource> counters = open_counters(*gpu);
  if (!counters->hint().empty()) {
    WARN("skipped: " << counters->hint());
    return;
  }
  Problem p = gpu_test::problem(DType::bf16, 4096, 128);
  p.heads = p.kv_heads = 16;
  for (const bool causal : {false, true}) {
    p.causal = causal;
    const std::vector<PlannedRow> rows = plan({{{p, "naive", {}}, ""}}, gpu->info(), find_implementation);
    RunOptions options;
    options.per_kernel = true;
    options.stopping.max_samples = 30;
    std::atomic<bool> stop{false};
    const std::vector<Record> records =
        Runner(*gpu, counters.get(), options, {}).run(rows.data(), rows.data() + rows.size(), stop);
    REQUIRE(records.size() == 4);
    REQUIRE(records[0].status == Status::ok);
    double us = 0, bytes = 0;
    for (size_t i = 1; i < 4; ++i) {
      INFO(records[i].kernel << ": " << records[i].message);
      REQUIRE(records[i].status == Status::ok);
      CHECK(records[i].counters.status == "ok");
      us += records[i].time->median_us;
      bytes += total_bytes(records[i]);
      WARN(fmt::format("{}: {:.1f} us, {:.1f} MB, model {:+.1f}%", records[i].kernel,
                       records[i].time->median_us, total_bytes(records[i]) * 1e-6,
                       row_of(records[i]).number("model_bytes_err_pct").value_or(0)));
    }
    CHECK(us == Approx(records[0].kernels->kernels_us).epsilon(0.03));
    CHECK(bytes == Approx(total_bytes(records[0])).epsilon(0.02));
    // The products compute the full square, two FLOPs for each multiply-add.
    const double product = 2.0 * 16 * 4096 * 4096 * 128;
    CHECK(static_cast<double>(records[1].counters.tensor_flops.value_or(0)) == Approx(product).epsilon(0.02));
    CHECK(records[2].counters.tensor_flops.value_or(-1) == 0);
    CHECK(static_cast<double>(records[3].counters.tensor_flops.value_or(0)) == Approx(product).epsilon(0.02));
  }
}
#endif
