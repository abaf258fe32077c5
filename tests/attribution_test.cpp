#include "rows/attribution.hpp"

#include "catch.hpp"
#include "text.hpp"

using namespace attnprof;

namespace {

Ceiling measured(double rate) {
  return {rate, CeilingSource::measured};
}
/// An H200 as it was measured.
Ceilings h200() {
  Ceilings c;
  c.copy_gbps = measured(4281);
  c.matrix_tflops = measured(790);
  c.exp_gops = measured(4000);
  return c;
}
AttributionInput row(double time_us, double bytes, double flops, double exps) {
  AttributionInput r;
  r.time_us = time_us;
  r.hbm_bytes = bytes;
  r.bytes_source = "cupti";
  r.executed_flops = flops;
  r.exp_count = exps;
  return r;
}

}  // namespace

TEST_CASE("a case that runs at the copy bandwidth is bound by memory", "[attribution]") {
  const Attribution a = attribute(row(1000, 3.9e9, 1e11, 1e8), h200());
  CHECK(a.bound == "memory");
  CHECK(*a.hbm_us == Approx(911.0).margin(0.1));
  CHECK(*a.hbm_pct == Approx(91.1).margin(0.1));
  CHECK(*a.matrix_us == Approx(126.6).margin(0.1));
  CHECK(*a.exp_us == Approx(25));
  CHECK(*a.sum_us == Approx(1062.6).margin(0.1));
  CHECK(*a.largest_us == *a.hbm_us);
  CHECK(a.reasoning ==
        "91% of the measured copy bandwidth (3900 of 4281 GB/s); matrix units 13%, exp 2%: memory");
}

TEST_CASE("a case that keeps the matrix units busy is bound by them", "[attribution]") {
  const Attribution a = attribute(row(1000, 2e8, 6.64e11, 1.92e9), h200());
  CHECK(a.bound == "matrix");
  CHECK(a.reasoning ==
        "matrix units 84% of the measured rate (664 of 790 TFLOP/s); exp 48%, memory 5%: matrix");
  CHECK(*a.overlap_pct == Approx(100 * (1367.2 - 1000) / (1367.2 - 840.5)).margin(0.1));
}

TEST_CASE("exponentials can be what limits", "[attribution]") {
  CHECK(attribute(row(1000, 1e8, 1e11, 3.2e9), h200()).bound == "exp");
}

TEST_CASE("parts of several kernels that add up to the time ran one after another", "[attribution]") {
  AttributionInput r = row(1000, 2.1e9, 3.9e11, 0);
  r.launches = 3;
  const Attribution a = attribute(r, h200());
  CHECK(a.bound == "serial");
  CHECK(*a.overlap_pct == 0);
  r.launches = 1;  // one kernel overlaps what it does
  CHECK(attribute(r, h200()).bound == "latency");
  CHECK(has(a.reasoning, "together 98% of the time, one after another: serial"));
}

TEST_CASE("a case far from every ceiling is bound by latency", "[attribution]") {
  const Attribution a = attribute(row(1000, 4e8, 3e11, 4e8), h200());
  CHECK(a.bound == "latency");
  CHECK(has(a.reasoning, "nothing is near its ceiling: latency"));
}

TEST_CASE("time that no kernel covers is launch time", "[attribution]") {
  AttributionInput r = row(10, 4e6, 1e8, 1e5);
  r.kernels_us = 3;
  r.gaps_us = 2;
  const Attribution a = attribute(r, h200());
  CHECK(*a.launch_us == 7);
  CHECK(a.bound == "launch");
  CHECK(has(a.reasoning, "no kernel runs in 70% of 10 us; memory 9%"));

  r.kernels_us = 9.5;  // now the gaps are what is left
  CHECK(*attribute(r, h200()).launch_us == 2);
  r.time_us = 6700;  // throttled, where the run that timed the kernel was not
  r.kernels_us = 6100;
  r.gaps_us = 0;
  r.launches = 1;
  CHECK(*attribute(r, h200()).launch_us == 10);
  r.launches.reset();
  r.kernels_us.reset();
  r.gaps_us.reset();
  CHECK_FALSE(attribute(r, h200()).launch_us);
  r.launches = 3;
  Ceilings c = h200();
  c.launch_us = measured(2.5);
  CHECK(*attribute(r, c).launch_us == 7.5);
}

TEST_CASE("more bandwidth than there is is flagged, and never printed as fine", "[attribution]") {
  const Attribution slightly = attribute(row(1000, 4.4e9, 1e11, 0), h200());
  CHECK_FALSE(slightly.invalid);
  CHECK(slightly.bound == "memory");
  CHECK(has(slightly.reasoning, "more than HBM can deliver: L2 or a wrong counter"));
  const Attribution far = attribute(row(1000, 5e9, 1e11, 0), h200());
  CHECK(far.invalid);
  CHECK(far.bound.empty());
  CHECK(has(far.reasoning, "invalid: 117% of the measured copy bandwidth (5000 of 4281 GB/s)"));
  CHECK(has(far.reasoning, "more than HBM can deliver: L2 or a wrong counter"));
  CHECK(attribute(row(1000, 0, 9e11, 0), h200()).invalid);
  AttributionInput host = row(1000, 5e9, 1e9, 0);
  host.on_host = true;
  host.bytes_source = "counted";
  CHECK(has(attribute(host, h200()).reasoning, "bytes counted): more than main memory can deliver"));
}

TEST_CASE("a smaller share above its ceiling invalidates as well", "[attribution]") {
  // 110% of the matrix rate and 120% of the bandwidth; then only the matrix rate.
  CHECK(attribute(row(1000, 5.1e9, 8.7e11, 0), h200()).invalid);
  CHECK(attribute(row(1000, 1e9, 8.7e11, 0), h200()).invalid);
}

TEST_CASE("what is not known stays empty, and the source of each ceiling is named", "[attribution]") {
  Ceilings sheet;
  sheet.copy_gbps = Ceiling{4800, CeilingSource::datasheet};
  AttributionInput r = row(1000, 3.9e9, 1e11, 1e8);
  const Attribution a = attribute(r, sheet);
  CHECK_FALSE(a.matrix_us);
  CHECK_FALSE(a.exp_pct);
  CHECK_FALSE(a.overlap_pct);
  CHECK(a.reasoning == "81% of the datasheet copy bandwidth (3900 of 4800 GB/s): memory");
  CHECK(attribute(r, {}).bound.empty());
  CHECK(attribute(r, {}).reasoning == "no ceiling is known for what this row counts");
  r.time_us.reset();
  CHECK(attribute(r, sheet).reasoning == "no time");
  CHECK_FALSE(attribute(r, sheet).hbm_us);
}
