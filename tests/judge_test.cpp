#include "gate/judge.hpp"

#include "catch.hpp"

using namespace attnprof;

namespace {

RunTime run(double time_us, double half_width = 0.001, std::optional<double> clock = {}) {
  return {time_us, time_us * (1 - half_width), time_us * (1 + half_width), clock};
}
TimeChange verdict(const TimeCase& c) {
  return judge_times({c}, kDefaultAlpha).verdicts.front().change;
}
TimeChange verdict(double before_us, double after_us, double half_width = 0.001) {
  return verdict({{run(before_us, half_width)}, {run(after_us, half_width)}});
}

}  // namespace

TEST_CASE("a slow-down counts when it passes the threshold and the intervals carry it", "[judge]") {
  CHECK(verdict(100, 100) == TimeChange::none);
  CHECK(verdict(100, 101.9) == TimeChange::none);  // surely slower, but by less than 2%
  CHECK(verdict(100, 103) == TimeChange::slower);
  CHECK(verdict(103, 100) == TimeChange::faster);
  CHECK(verdict(100, 105, 0.05) == TimeChange::none);  // 5%, with 5% intervals
  CHECK(verdict(100, 150, 0.05) == TimeChange::slower);
}

TEST_CASE("the wider of two intervals is the limit, whichever side has it", "[judge]") {
  CHECK(verdict({{run(100, 0.05)}, {run(105, 0.001)}}) == TimeChange::none);
  CHECK(verdict({{run(100, 0.001)}, {run(105, 0.05)}}) == TimeChange::none);
}

TEST_CASE("what a verdict promises to see is what it sees", "[judge]") {
  for (const double half_width : {0.001, 0.004, 0.02}) {
    const double detectable =
        judge_times({{{run(100, half_width)}, {run(100, half_width)}}}, kDefaultAlpha).verdicts[0].detectable;
    CHECK(verdict(100, 100 * (1 + detectable * 1.001), half_width) == TimeChange::slower);
    CHECK(verdict(100, 100 * (1 + detectable * 0.98), half_width) == TimeChange::none);
  }
}

TEST_CASE("one case among many needs more evidence than alone", "[judge]") {
  std::vector<TimeCase> cases(5, {{run(100, 0.004)}, {run(100, 0.004)}});
  cases[0].after[0] = run(102.2, 0.004);
  CHECK(judge_times(cases, kDefaultAlpha).verdicts[0].change == TimeChange::slower);
  cases.resize(2000, cases[1]);
  CHECK(judge_times(cases, kDefaultAlpha).verdicts[0].change == TimeChange::none);
}

TEST_CASE("repeats that scatter raise the limit; repeats that agree lower what is assumed of throttled runs",
          "[judge]") {
  const TimeCase noisy{{run(100), run(106), run(97)}, {run(106)}, {}};
  CHECK(verdict(noisy) == TimeChange::none);
  std::vector<TimeCase> many(20, noisy);
  CHECK(judge_times(many, kDefaultAlpha).source == NoiseSource::repeats);
  CHECK(judge_times(many, kDefaultAlpha).noise > 0.03);

  RunTime throttled = run(100);
  throttled.throttled = true;
  std::vector<TimeCase> hot(20, TimeCase{{throttled}, {run(104)}, {}});
  CHECK(judge_times(hot, kDefaultAlpha).verdicts[0].change == TimeChange::none);  // 1.5% is assumed of them
  for (TimeCase& c : hot) c.before = {throttled, throttled, throttled};
  CHECK(judge_times(hot, kDefaultAlpha).verdicts[0].change == TimeChange::slower);
}

TEST_CASE("repeats that agree see no less than a single run does", "[judge]") {
  // As on an H200 with rests: most cases repeat far better than is assumed, a few about as well.
  const auto detectable = [](size_t repeats) {
    std::vector<TimeCase> cases;
    for (int i = 0; i < 32; ++i) {
      const double spread = i % 8 == 0 ? 0.3 : 0.02;  // percent of 100 us
      TimeCase c{{}, {run(100)}, {}};
      for (size_t r = 0; r < repeats; ++r) c.before.push_back(run(100 + spread * static_cast<double>(r)));
      cases.push_back(c);
    }
    return judge_times(cases, kDefaultAlpha).verdicts[1].detectable;
  };
  CHECK(detectable(3) <= detectable(1));
}

TEST_CASE("without repeats, cases that scatter about their bulk are noise; a shift of all is not",
          "[judge]") {
  std::vector<TimeCase> scattered, shifted;
  for (int i = 0; i < 30; ++i) {
    scattered.push_back({{run(100)}, {run(100 + (i * 7) % 11 - 5)}, {}});  // -5% to +5%, evenly
    shifted.push_back({{run(100)}, {run(104)}, {}});
  }
  const TimeJudgement noise = judge_times(scattered, kDefaultAlpha);
  CHECK(noise.source == NoiseSource::scatter);
  for (const TimeVerdict& v : noise.verdicts) CHECK(v.change == TimeChange::none);
  const TimeJudgement shift = judge_times(shifted, kDefaultAlpha);
  CHECK(shift.source == NoiseSource::assumed);
  for (const TimeVerdict& v : shift.verdicts) CHECK(v.change == TimeChange::slower);
}

TEST_CASE("a slow-down that the clock explains is told apart from one that it does not", "[judge]") {
  const auto at = [](double after_us, double after_mhz) {
    return verdict({{run(100, 0.001, 1980)}, {run(after_us, 0.001, after_mhz)}, {}});
  };
  CHECK(at(110, 1800) == TimeChange::clock);   // 1980 / 1800 = 1.1
  CHECK(at(115, 1800) == TimeChange::slower);  // 4.5% beyond it
  CHECK(at(110, 1980) == TimeChange::slower);
  CHECK(at(110, 2100) == TimeChange::slower);  // a higher clock excuses nothing
  CHECK(at(91, 2180) == TimeChange::none);     // nor is it the build's merit
  CHECK(verdict({{run(100, 0.001, 1980)}, {run(110)}, {}}) == TimeChange::slower);  // unknown: no excuse
}

TEST_CASE("counts: exact when nothing is allowed, and 0 is a number like others", "[judge]") {
  const CountRule exact{}, measured{0.01, 10};
  CHECK(judge_count({0}, {0}, exact) == CountChange::none);
  CHECK(judge_count({0}, {5}, exact) == CountChange::more);
  CHECK(judge_count({5}, {0}, exact) == CountChange::fewer);
  CHECK(judge_count({1e15}, {1e15 + 1}, exact) == CountChange::more);
  CHECK(judge_count({1000}, {1000, 1001}, exact) == CountChange::more);  // one run out of two
  CHECK(judge_count({1000}, {1019}, measured) == CountChange::none);
  CHECK(judge_count({1000}, {1021}, measured) == CountChange::more);
  CHECK(judge_count({1000, 1100}, {1119}, measured) == CountChange::none);  // beyond every repeat
  CHECK(judge_count({1000, 1100}, {950}, measured) == CountChange::fewer);
  CHECK(judge_count({0}, {5}, measured) == CountChange::none);
  CHECK(judge_count({0}, {11}, measured) == CountChange::more);
}

TEST_CASE("no times to judge is no judgement", "[judge]") {
  const TimeJudgement judgement = judge_times({}, kDefaultAlpha);
  CHECK(judgement.verdicts.empty());
}
