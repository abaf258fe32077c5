// Counters without a device: every one that is asked for exists on every chip claimed.
#include "catch.hpp"
#ifdef ATTNPROF_WITH_CUDA
#include <algorithm>
#include <limits>

#include "gpu/counters/cupti_activity.hpp"
#include "gpu/counters/cupti_error.hpp"
#include "gpu/counters/cupti_host.hpp"
#include "gpu/counters/cupti_metrics.hpp"

using namespace attnprof;

namespace {

bool have_cupti() {
  if (!cupti_chips().empty()) return true;
  WARN("skipped: " << cupti_missing());
  return false;
}

std::vector<std::string> names(const std::string& chip, bool flops, DType dtype) {
  std::vector<std::string> found;
  for (const Quantity quantity : wanted_quantities(flops))
    found.push_back(metric_name(chip, quantity, dtype));
  return found;
}

}  // namespace

TEST_CASE("every counter exists on every chip from Ampere on, in few passes", "[cupti]") {
  if (!have_cupti()) return;
  int checked = 0;
  for (const std::string& chip : cupti_chips()) {
    if (chip[1] == 'V' || chip[0] == 'T') continue;  // Volta, Turing: no tensor counters by operand type
    if (chip.back() == 'B') continue;  // integrated GPUs (Jetson, Spark): no memory of their own
    for (const DType dtype : {DType::bf16, DType::fp16, DType::fp32}) {
      INFO(chip << " " << to_string(dtype));
      const std::vector<std::string> bytes = names(chip, false, dtype);
      const std::vector<std::string> all = names(chip, true, dtype);
      CHECK(std::count(all.begin(), all.end(), "") == 0);
      const CounterSchedule byte_schedule(chip, bytes);
      CHECK(byte_schedule.passes() >= 1);
      CHECK(byte_schedule.passes() <= 2);
      const CounterSchedule all_schedule(chip, all);
      CHECK(all_schedule.passes() >= byte_schedule.passes());
      CHECK(all_schedule.passes() <= 8);
      CHECK(all_schedule.config_image().size() > 0);
      ++checked;
    }
  }
  CHECK(checked >= 3 * 4);
}

TEST_CASE("the chips that the README claims are known", "[cupti]") {
  if (!have_cupti()) return;
  const std::vector<std::string> chips = cupti_chips();
  for (const char* chip : {"GA100", "GA102", "AD102", "GH100"})
    CHECK(std::count(chips.begin(), chips.end(), chip) == 1);
}

TEST_CASE("HBM and L2 bytes on GH100 take one pass", "[cupti]") {
  if (!have_cupti()) return;
  CHECK(CounterSchedule("GH100", names("GH100", false, DType::bf16)).passes() == 1);
}

TEST_CASE("an unknown counter and an unknown chip are told apart", "[cupti]") {
  if (!have_cupti()) return;
  CHECK_FALSE(chip_has_metric("GH100", "dram__bytes_imagined.sum"));
  try {
    const CounterSchedule schedule("GH100", {"dram__bytes_imagined.sum"});
    FAIL("scheduled a counter that does not exist");
  } catch (const CuptiError& error) {
    CHECK(error.cause() == "metric");
  }
  CHECK_THROWS_AS(CounterSchedule("ZZ999", {"dram__bytes_read.sum"}), CuptiError);
}

TEST_CASE("values become columns, and impossible ones become empty", "[cupti]") {
  const std::vector<Quantity> all = wanted_quantities(true);
  const Counters good = counters_from(all, {100, 50, 300, 1, 2, 4, 1e12, 61.5});
  CHECK(good.source == BytesSource::cupti);
  CHECK(good.status == "ok");
  CHECK(*good.hbm_read_bytes == 100);
  CHECK(*good.hbm_write_bytes == 50);
  CHECK(*good.l2_bytes == 300);
  CHECK(*good.fp32_flops == 11);
  CHECK(*good.tensor_flops == 1000000000000);
  CHECK(*good.tensor_pipe_active_pct == 61.5);

  const double nan = std::numeric_limits<double>::quiet_NaN();
  const Counters bad = counters_from(all, {nan, -1, 300, 1, nan, 4, 0, 129});
  CHECK(bad.status == "invalid");
  CHECK_FALSE(bad.hbm_read_bytes);
  CHECK_FALSE(bad.hbm_write_bytes);
  CHECK(*bad.l2_bytes == 300);
  CHECK_FALSE(bad.fp32_flops);
  CHECK(*bad.tensor_flops == 0);
  CHECK_FALSE(bad.tensor_pipe_active_pct);

  const Counters bytes = counters_from(wanted_quantities(false), {1, 2, 3});
  CHECK(bytes.status == "ok");
  CHECK_FALSE(bytes.tensor_flops);
}

TEST_CASE("each refusal of CUPTI is one cause with a cure", "[cupti]") {
  CHECK(counter_cause(static_cast<CUptiResult>(35)) == "permission");
  CHECK(counter_cause(static_cast<CUptiResult>(39)) == "busy");
  CHECK(counter_cause(static_cast<CUptiResult>(15)) == "version");
  CHECK(counter_cause(static_cast<CUptiResult>(43)) == "mig");
  CHECK(counter_cause(static_cast<CUptiResult>(999)) == "failed");
  CHECK(counter_cure("permission").find("NVreg_RestrictProfilingToAdminUsers=0") != std::string::npos);
  CHECK(counter_cure("permission").find("SYS_ADMIN") != std::string::npos);
  CHECK(counter_cure("busy").find("dcgmi profmap --pause") != std::string::npos);
  CHECK(counter_cure("missing").find("install") != std::string::npos);
}

TEST_CASE("records of a launch are dealt to its steps in order, or not at all", "[cupti]") {
  const std::vector<KernelRecord> records{{"a", 1000, 3000}, {"b", 4000, 9000}, {"c", 9000, 9500}};
  const std::vector<double> us = split_by_counts(records, {1, 2});
  REQUIRE(us.size() == 2);
  CHECK(us[0] == Approx(2.0));
  CHECK(us[1] == Approx(5.5));
  CHECK(split_by_counts(records, {3}).size() == 1);
  CHECK(split_by_counts(records, {1, 1}).empty());
  CHECK(split_by_counts(records, {2, 2}).empty());
}

TEST_CASE("kernel records sum to busy time and gaps, overlaps counted once", "[cupti]") {
  CHECK_FALSE(summarise_kernels({}));
  const KernelTimes times =
      *summarise_kernels({{"a", 1000, 3000}, {"b", 4000, 9000}, {"c", 5000, 6000}, {"d", 9500, 9600}});
  CHECK(times.launches == 4);
  CHECK(times.kernels_us == Approx(8.1));
  CHECK(times.gaps_us == Approx(1.5));
}
#endif
