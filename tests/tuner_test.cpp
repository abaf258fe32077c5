// The race between tiles, on a device whose times are known.
#include "measure/tuner.hpp"

#include <map>
#include <random>

#include "catch.hpp"
#include "fake_device.hpp"

using namespace attnprof;
using End = TuneOutcome::End;

namespace {

int launched_tile = 0;        ///< tile_m of the last launch: the fake device's times depend on it
std::map<int, int> launches;  ///< by tile_m

enum Behaviour { kRight = 0, kWrong = 1, kBroken = 2, kUncompilable = 3, kTooBig = 4 };  // tile_n of a case

Implementation tunable() {
  return fake::make("tunable", [](const Case& c, const Tensors& t, Device&) -> std::unique_ptr<Prepared> {
    if (c.config.tile_n == kUncompilable) throw CaseError("flash.cu does not compile");
    if (c.config.tile_n == kTooBig) throw OutOfMemory(100, 10);
    return std::make_unique<fake::FakeWork>([p = c.problem, t, k = c.config] {
      if (k.tile_n == kBroken) throw CaseError("launch refused");
      launched_tile = k.tile_m;
      ++launches[k.tile_m];
      fake::compute(p, t);
      if (k.tile_n == kWrong)
        store_element(t.at("o"), p.dtype, 3, load_element(t.at("o"), p.dtype, 3) + 0.5f);
    });
  });
}

struct Fixture {
  fake::FakeDevice device;
  std::atomic<bool> stop{false};
  double now_s = 0;
  std::mt19937 random{1};
  double noise = 0.02;            ///< relative, half width
  std::map<int, double> mean_us;  ///< by tile_m
  const Implementation impl = tunable();
  TuneOptions options;
  int samples = 0;

  Fixture() {
    launches.clear();
    device.next_sample_us = [this](int) {
      ++samples;
      std::uniform_real_distribution<double> spread(1 - noise, 1 + noise);
      const double us = mean_us.at(launched_tile) * spread(random);
      now_s += us * 1e-6;
      return us;
    };
  }

  /// Candidates in the order given: {time, behaviour}; tile_m is the place, from 1.
  TuneOutcome race(const std::vector<std::pair<double, Behaviour>>& candidates, double budget_s = 60) {
    std::vector<PlannedRow> rows;
    for (const auto& [us, behaviour] : candidates) {
      PlannedRow row;
      row.planned.problem.dtype = DType::fp32;
      row.planned.problem.seqlen_q = row.planned.problem.seqlen_kv = 4;
      row.planned.problem.head_dim = 4;
      row.planned.impl = impl.name;
      row.planned.config = {.tile_m = static_cast<int>(rows.size()) + 1, .tile_n = behaviour};
      row.impl = &impl;
      mean_us[row.planned.config.tile_m] = us;
      rows.push_back(row);
    }
    Tuner tuner(device, nullptr, options, {}, [this] { return now_s; });
    return tuner.race(rows, budget_s, stop);
  }
};

}  // namespace

TEST_CASE("the fastest of many is found, with the speed-up over the default and its interval", "[tuner]") {
  Fixture f;
  const TuneOutcome o = f.race({{110, kRight},
                                {130, kRight},
                                {105, kRight},
                                {100, kRight},
                                {150, kRight},
                                {108, kRight},
                                {200, kRight},
                                {125, kRight}});
  CHECK(o.end == End::better);
  CHECK(o.best == 3);
  REQUIRE(o.speedup);
  CHECK(*o.speedup == Approx(1.1).margin(0.02));
  CHECK(*o.speedup_lo > 1);
  CHECK(*o.speedup_lo < *o.speedup);
  CHECK(*o.speedup < *o.speedup_hi);
  CHECK(o.records[3].status == Status::ok);
}

TEST_CASE("most of the time goes to those that could win", "[tuner]") {
  Fixture f;
  f.race({{100, kRight}, {150, kRight}, {99.8, kRight}, {100.2, kRight}, {300, kRight}});
  CHECK(launches[5] <= 10);
  CHECK(launches[2] <= 10);
  CHECK(launches[3] > 5 * launches[5]);
}

TEST_CASE("noise keeps the default: the luckiest of equals is not faster", "[tuner]") {
  for (unsigned seed = 1; seed <= 40; ++seed) {
    Fixture f;
    f.random.seed(seed);
    f.noise = 0.05;
    const TuneOutcome o = f.race(std::vector<std::pair<double, Behaviour>>(12, {100, kRight}));
    INFO("seed " << seed << ": " << o.message);
    CHECK(o.end == End::kept);
    CHECK(o.best == 0);
  }
}

TEST_CASE("a gain below the least one asked for keeps the default, however sure it is", "[tuner]") {
  Fixture f;
  f.noise = 0.001;
  f.options.min_speedup = 1.02;
  CHECK(f.race({{101, kRight}, {100, kRight}}).end == End::kept);
  f.options.min_speedup = 1.005;
  CHECK(f.race({{101, kRight}, {100, kRight}}).end == End::better);
}

TEST_CASE("candidates that are wrong or fail never win, and push no right one out", "[tuner]") {
  Fixture f;
  const TuneOutcome o = f.race({{110, kRight},
                                {50, kWrong},
                                {100, kRight},
                                {40, kBroken},
                                {30, kUncompilable},
                                {20, kTooBig},
                                {60, kWrong}});
  CHECK(o.end == End::better);
  CHECK(o.best == 2);
  CHECK(o.records[1].status == Status::verify_failed);
  CHECK(o.records[3].status == Status::failed);
  CHECK(o.records[4].message.find("does not compile") != std::string::npos);
  CHECK(o.records[5].status == Status::oom);
  CHECK(o.records[6].status == Status::verify_failed);
}

TEST_CASE("without a right candidate nothing is chosen", "[tuner]") {
  Fixture f;
  const TuneOutcome o = f.race({{100, kWrong}, {50, kBroken}});
  CHECK(o.end == End::nothing_ran);
  CHECK_FALSE(o.best_time);
}

TEST_CASE("a default that does not run is replaced, and no ratio is made of it", "[tuner]") {
  for (const Behaviour bad : {kWrong, kBroken, kUncompilable}) {
    Fixture f;
    const TuneOutcome o = f.race({{50, bad}, {120, kRight}, {100, kRight}});
    CHECK(o.end == End::better);
    CHECK(o.best == 2);
    CHECK_FALSE(o.speedup);
    CHECK_FALSE(o.default_time);
  }
}

TEST_CASE("no row is ok that was not verified; with verify_all every one is", "[tuner]") {
  Fixture f;
  const std::vector<std::pair<double, Behaviour>> field = {{100, kRight}, {300, kRight}, {280, kWrong}};
  TuneOutcome o = f.race(field);
  CHECK(o.records[1].status == Status::skipped);
  CHECK(o.records[2].status == Status::skipped);
  f.options.verify_all = true;
  o = f.race(field);
  CHECK(o.records[1].status == Status::ok);
  CHECK(o.records[1].time);
  CHECK(o.records[2].status == Status::verify_failed);
}

TEST_CASE("the budget holds", "[tuner]") {
  for (const double budget_s : {0.2, 0.5, 2.0}) {
    Fixture f;
    f.race(std::vector<std::pair<double, Behaviour>>(10, {1000, kRight}), budget_s);
    INFO("budget " << budget_s << " s");
    CHECK(f.now_s <= 1.25 * budget_s);
  }
}

TEST_CASE("a budget for too few timings to have an interval decides nothing", "[tuner]") {
  Fixture f;
  const TuneOutcome o = f.race({{100, kRight}, {50, kRight}}, 1e-6);
  CHECK(o.end == End::no_budget);
  CHECK_FALSE(o.speedup);
}

TEST_CASE("an interruption decides nothing", "[tuner]") {
  Fixture f;
  auto timed = f.device.next_sample_us;
  f.device.next_sample_us = [&](int i) {
    if (i == 20) f.stop = true;
    return timed(i);
  };
  const TuneOutcome o = f.race({{110, kRight}, {100, kRight}, {105, kRight}});
  CHECK(o.end == End::interrupted);
  CHECK(f.samples < 60);
}
