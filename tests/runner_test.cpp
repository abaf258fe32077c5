#include "measure/runner.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>
#include <set>

#include "catch.hpp"
#include "fake_device.hpp"

using namespace attnprof;
using fake::planned_row, fake::small;

namespace {

RunOptions quick() {
  RunOptions o;
  o.stopping.min_samples = 6;
  o.stopping.max_samples = 40;
  return o;
}

struct Fixture {
  fake::FakeDevice device;
  std::atomic<bool> stop{false};
  double now_s = 0;
  RunOptions options = quick();
  const Implementation right = fake::right(), wrong = fake::wrong(), lazy = fake::lazy(),
                       broken = fake::broken();

  std::vector<Record> run(const std::vector<PlannedRow>& rows) {
    Runner runner(device, nullptr, options, {}, [this] { return now_s += 1e-4; });
    return runner.run(rows.data(), rows.data() + rows.size(), stop);
  }
};

}  // namespace

TEST_CASE("a right result is timed, verified and ok", "[runner]") {
  Fixture f;
  const Record record = f.run({planned_row(f.right, small())}).front();
  CHECK(record.status == Status::ok);
  REQUIRE(record.time);
  CHECK(record.time->median_us == 100.0);
  CHECK(record.time->samples >= 6);
  REQUIRE(record.verify);
  CHECK(record.verify->passed);
  CHECK(record.verify->rows_checked > 0);
}

TEST_CASE("one wrong row does not take the others down, and each keeps its own reason", "[runner]") {
  Fixture f;
  const std::vector<Record> records =
      f.run({planned_row(f.right, small()), planned_row(f.wrong, small()), planned_row(f.lazy, small()),
             planned_row(f.broken, small()), planned_row(f.right, small())});
  REQUIRE(records.size() == 5);
  CHECK(records[0].status == Status::ok);
  CHECK(records[1].status == Status::verify_failed);
  CHECK_FALSE(records[1].message.empty());
  CHECK(records[2].status == Status::verify_failed);  // the NaN put there before the launch is still there
  CHECK(records[3].status == Status::failed);
  CHECK(records[3].message.find("65535") != std::string::npos);
  CHECK(records[4].status == Status::ok);
}

TEST_CASE("implementations of one problem take turns, there and back", "[runner]") {
  Fixture f;
  f.device.next_sample_us = [](int i) { return 30e3 + i % 7; };  // long samples: one a turn
  f.run({planned_row(f.right, small()), planned_row(f.right, small()), planned_row(f.right, small())});
  const auto& order = f.device.order;  // three samples to warm up, then rounds of three
  REQUIRE(order.size() >= 12);
  for (size_t round = 3; round + 6 <= order.size(); round += 6) {
    CHECK(std::set<Prepared*>(order.begin() + static_cast<std::ptrdiff_t>(round),
                              order.begin() + static_cast<std::ptrdiff_t>(round + 3))
              .size() == 3);
    for (size_t k = 0; k < 3; ++k) CHECK(order[round + k] == order[round + 5 - k]);
  }
}

TEST_CASE("a case with enough samples goes on while another of its problem needs more", "[runner]") {
  Fixture f;
  // One sample a turn, there and back: the first case is steady, the second one is not.
  f.device.next_sample_us = [](int i) {
    const bool first = (i / 2 % 2 == 0) == (i % 2 == 0);
    return first ? 30e3 : 30e3 + 1e3 * (i * 7919 % 13);
  };
  const auto records = f.run({planned_row(f.right, small()), planned_row(f.right, small())});
  REQUIRE(records[0].time);
  REQUIRE(records[1].time);
  CHECK(records[1].time->samples > f.options.stopping.min_samples);
  CHECK(records[0].time->samples == records[1].time->samples);
}

TEST_CASE("throttling in the middle of the samples is recorded, and the clock is the median one",
          "[runner]") {
  Fixture f;
  f.device.next_sample_us = [](int) { return 30e3; };  // one a turn
  f.device.next_clocks = [](int i) {
    return i == 3 ? ClockReading{1200, "sw_power_cap|hw_thermal"}
                  : ClockReading{1980, i == 4 ? "sw_power_cap" : ""};
  };
  const Record record = f.run({planned_row(f.right, small())}).front();
  CHECK(record.clocks.sm_mhz == 1980);
  CHECK(record.clocks.throttle_reasons == "sw_power_cap|hw_thermal");
}

TEST_CASE("the cache mode asked for reaches the device", "[runner]") {
  Fixture f;
  f.options.cache = CacheMode::hot;
  f.run({planned_row(f.right, small())});
  for (CacheMode mode : f.device.caches) CHECK(mode == CacheMode::hot);
}

TEST_CASE("samples of one turn alone do not end sampling: an interval counts from six turns on", "[runner]") {
  Fixture f;
  f.device.next_sample_us = [](int) { return 100.0; };
  const Record record = f.run({planned_row(f.right, small()), planned_row(f.lazy, small())}).front();
  CHECK(record.time->converged);
  std::set<Prepared*> works(f.device.order.begin(), f.device.order.end());
  for (Prepared* work : works)
    CHECK(std::count(f.device.order.begin(), f.device.order.end(), work) >= 1 + 6);  // one warms up
  f.device.order.clear();
  f.options.stopping.max_samples = 8;
  CHECK(f.run({planned_row(f.right, small())}).front().time->samples == 8);
}

TEST_CASE("a case that no check could judge is not measured", "[runner]") {
  Fixture f;
  Problem p = small();
  p.scale = 1e7;
  const Record record = f.run({planned_row(f.right, p)}).front();
  CHECK(record.status == Status::unsupported);
  CHECK(record.message.find("cannot be verified") == 0);
  CHECK_FALSE(record.time);
}

TEST_CASE("a rest is a multiple of the sample before it, and none unless asked for", "[runner]") {
  Fixture f;
  f.device.next_sample_us = [](int i) { return i == 0 ? 400.0 : 100.0; };  // the first is the warm-up's
  f.run({planned_row(f.right, small())});
  for (const double rest_us : f.device.rests_us) CHECK(rest_us == 0);
  f.device.rests_us.clear();
  f.device.samples_taken = 0;
  f.options.rest = 3;
  const Record record = f.run({planned_row(f.right, small())}).front();
  REQUIRE(f.device.rests_us.size() > 2);
  CHECK(f.device.rests_us[0] == 0);  // of the warm-up
  CHECK(f.device.rests_us[1] == 1200);
  CHECK(f.device.rests_us[2] == 300);
  CHECK(record.time->median_us == 100);  // no part of a sample

  f.device.rests_us.clear();
  f.device.next_sample_us = [](int) { return 5e6; };
  f.run({planned_row(f.right, small())});
  CHECK(f.device.rests_us.back() == 1e6);  // long cases do not wait for minutes
}

TEST_CASE("sampling goes on until the interval is narrow, and says when it never was", "[runner]") {
  Fixture f;
  f.device.next_sample_us = [](int i) { return i % 2 == 0 ? 100.0 : 200.0; };
  const Record noisy = f.run({planned_row(f.right, small())}).front();
  REQUIRE(noisy.time);
  CHECK(noisy.time->samples == 40);
  CHECK_FALSE(noisy.time->converged);
  f.device.next_sample_us = [](int) { return 100.0; };
  const Record steady = f.run({planned_row(f.right, small())}).front();
  REQUIRE(steady.time);
  CHECK(steady.time->samples < 40);
  CHECK(steady.time->converged);
}

TEST_CASE("a case that cannot fit is oom before it is tried, with both numbers", "[runner][oom]") {
  Fixture f;
  const int64_t huge = int64_t{64} << 30;
  const std::vector<Record> records =
      f.run({planned_row(f.right, small(), huge), planned_row(f.right, small())});
  CHECK(records[0].status == Status::oom);
  CHECK(records[0].message == "needs 68.7 GB, of them 68.7 GB workspace; 268 MB are free");
  CHECK(records[0].available_bytes == f.device.claimed_free_bytes);
  CHECK(records[1].status == Status::ok);
}

TEST_CASE("an allocator that says no is oom too, and rows that need less still run", "[runner][oom]") {
  Fixture f;
  f.device.capacity_bytes = 1 << 20;  // free_bytes() claims far more
  const std::vector<Record> records =
      f.run({planned_row(f.right, small(), 1 << 24), planned_row(f.right, small())});
  CHECK(records[0].status == Status::oom);
  CHECK(records[1].status == Status::ok);
}

TEST_CASE("rows that fit one by one but not together are measured one after the other", "[runner][oom]") {
  Fixture f;
  const Problem p = small();
  const int64_t alone = q_bytes(p) + 2 * kv_bytes(p) + o_bytes(p) + lse_bytes(p);
  f.device.capacity_bytes = f.device.claimed_free_bytes = alone;
  std::vector<PlannedRow> rows(5, planned_row(f.right, p));
  const std::vector<Record> records = f.run(rows);
  REQUIRE(records.size() == 5);
  for (const Record& record : records) CHECK(record.status == Status::ok);
}

TEST_CASE("timings of zero, negative or not finite give no-samples and no number", "[runner][time]") {
  Fixture f;
  for (double bad :
       {0.0, -711598.0, std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
    f.device.next_sample_us = [bad](int) { return bad; };
    const Record record = f.run({planned_row(f.right, small())}).front();
    CHECK(record.status == Status::no_samples);
    CHECK_FALSE(record.time);
  }
}

TEST_CASE("after a stop request the rows in hand are finished with their minimum of samples", "[runner]") {
  Fixture f;
  f.device.next_sample_us = [&f](int i) {
    f.stop = true;
    return i % 2 == 0 ? 100.0 : 200.0;
  };
  const Record record = f.run({planned_row(f.right, small())}).front();
  CHECK(record.status == Status::ok);
  REQUIRE(record.time);
  CHECK(record.time->samples >= 6);
  CHECK(record.time->samples < 40);
}

TEST_CASE("rows without a reason to run keep their reason", "[runner]") {
  Fixture f;
  PlannedRow row = planned_row(f.right, small());
  row.status = Status::unsupported;
  row.reason = "needs head_dim in 32..256";
  const Record record = f.run({row}).front();
  CHECK(record.status == Status::unsupported);
  CHECK(record.message == row.reason);
  CHECK(f.device.order.empty());
}
