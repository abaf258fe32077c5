#include "core/stats.hpp"

#include <cmath>
#include <limits>
#include <numeric>

#include "catch.hpp"

using namespace attnprof;

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
const double kNan = std::numeric_limits<double>::quiet_NaN();

/// 1, 2, ..., n: the value at rank r is r.
std::vector<double> ranks(int n) {
  std::vector<double> x(static_cast<size_t>(n));
  std::iota(x.begin(), x.end(), 1.0);
  return x;
}

/// P(at most k heads of n tosses), through logarithms of factorials: another way than the product's.
double tail_by_gamma(int n, int k) {
  double sum = 0;
  for (int i = 0; i <= k; ++i) {
    sum +=
        std::exp(std::lgamma(n + 1.0) - std::lgamma(i + 1.0) - std::lgamma(n - i + 1.0) - n * std::log(2.0));
  }
  return sum;
}

}  // namespace

TEST_CASE("the median is the middle, or the mean of the two middles", "[stats]") {
  CHECK(stats::median({3, 1, 2}) == 2);
  CHECK(stats::median({4, 1, 3, 2}) == 2.5);
  CHECK(stats::median({7}) == 7);
  CHECK(std::isnan(stats::median({})));
  CHECK(stats::median({1e9 + 2, 1e9, 1e9 + 1}) == 1e9 + 1);
  CHECK(stats::median({1e308, 1.5e308}) == 1.25e308);  // the sum of the two would overflow
}

TEST_CASE("the interval of the median uses the ranks of the binomial tables", "[stats]") {
  // Ranks for 95%: Conover's table of the sign test.
  const int known[][2] = {{6, 1}, {8, 1}, {9, 2}, {10, 2}, {12, 3}, {15, 4}, {20, 6}, {25, 8}, {50, 18}};
  for (const auto& [n, lower] : known) {
    INFO(n << " samples");
    const stats::Interval interval = stats::median_interval(ranks(n));
    CHECK(interval.lo == lower);
    CHECK(interval.hi == n + 1 - lower);
  }
}

TEST_CASE("the ranks are the narrowest that hold 95% for every size up to 1000", "[stats]") {
  for (int n = 6; n <= 1000; n += n < 60 ? 1 : 47) {
    INFO(n << " samples");
    const int lower = static_cast<int>(stats::median_interval(ranks(n)).lo);
    CHECK(2 * tail_by_gamma(n, lower - 1) <= 0.05);
    CHECK(2 * tail_by_gamma(n, lower) > 0.05);
  }
}

TEST_CASE("above 1000 samples the normal approximation continues the exact ranks", "[stats]") {
  const double exact = stats::median_interval(ranks(1000)).lo;
  const double approximate = stats::median_interval(ranks(1001)).lo;
  CHECK(std::abs(exact - approximate) <= 1);
}

TEST_CASE("fewer than six samples give the extremes and no width", "[stats]") {
  const stats::Interval interval = stats::median_interval({5, 1, 3});
  CHECK(interval.lo == 1);
  CHECK(interval.hi == 5);
  CHECK(stats::relative_half_width({5, 5, 5, 5, 5}) == kInfinity);
  CHECK(stats::relative_half_width({}) == kInfinity);
  CHECK(stats::relative_half_width({5, 5, 5, 5, 5, 5}) == 0);
  CHECK(stats::relative_half_width({0, 0, 0, 0, 0, 0}) == kInfinity);
}

TEST_CASE("large offsets lose nothing: the width of samples around 1e9 is that of their differences",
          "[stats]") {
  const std::vector<double> samples{1e9, 1e9 + 1, 1e9 + 2, 1e9, 1e9 + 1, 1e9 + 2};
  CHECK(stats::relative_half_width(samples) == Approx(1 / (1e9 + 1)).epsilon(1e-12));
}

TEST_CASE("sampling stops at the target, at the budget and at the most samples", "[stats]") {
  const stats::StoppingRule rule{
      .target_half_width = 0.01, .min_samples = 10, .max_samples = 100, .budget_s = 1.0};
  std::vector<double> noisy(20);
  for (size_t i = 0; i < noisy.size(); ++i) noisy[i] = 100 + 20.0 * static_cast<double>(i % 5);
  CHECK_FALSE(stats::enough(rule, {}, 0));
  CHECK_FALSE(stats::enough(rule, std::vector<double>(9, 5.0), 0.1));  // steady, but too few
  CHECK(stats::enough(rule, std::vector<double>(10, 5.0), 0.1));
  CHECK_FALSE(stats::enough(rule, noisy, 0.5));
  CHECK(stats::enough(rule, noisy, 1.0));
  CHECK(stats::enough(rule, std::vector<double>(100, 5.0), 0));
}

TEST_CASE("the budget yields to the fewest samples until it is exceeded three times", "[stats]") {
  const stats::StoppingRule rule{.min_samples = 10, .budget_s = 1.0};
  const std::vector<double> few(3, 5.0);
  CHECK_FALSE(stats::enough(rule, few, 2.0));
  CHECK(stats::enough(rule, few, 3.1));
  CHECK_FALSE(stats::enough(rule, {}, 3.1));  // a row with no sample at all says nothing
}

TEST_CASE("a summary has the figures of the samples", "[stats]") {
  const stats::StoppingRule rule;
  const TimeStats summary = stats::summarise(rule, {10, 10, 10, 10, 10, 10, 10, 12, 9, 10}, 3, 0.032);
  CHECK(summary.median_us == 10);
  CHECK(summary.lo_us == 10);
  CHECK(summary.hi_us == 10);
  CHECK(summary.min_us == 9);
  CHECK(summary.max_us == 12);
  CHECK(summary.samples == 10);
  CHECK(summary.warmups == 3);
  CHECK(summary.converged);
  CHECK_FALSE(summary.below_resolution);
}

TEST_CASE("times that no clock can mean never enter the figures", "[stats]") {
  // Zero, backwards, an unsigned subtraction gone wrong into infinity, and not a number.
  const TimeStats summary = stats::summarise({}, {0.0, -711.598, kInfinity, kNan, 4, 5, 6}, 1, 0.032);
  CHECK(summary.samples == 3);
  CHECK(summary.median_us == 5);
  CHECK(summary.min_us == 4);
  CHECK(summary.max_us == 6);
  CHECK(summary.below_resolution);
}

TEST_CASE("no usable sample leaves an empty summary, not NaN", "[stats]") {
  for (const std::vector<double>& samples : {std::vector<double>{0, -1, kNan}, std::vector<double>{}}) {
    const TimeStats summary = stats::summarise({}, samples, 0, 0.032);
    CHECK(summary.samples == 0);
    CHECK(summary.median_us == 0);
    CHECK_FALSE(summary.converged);
    CHECK(summary.below_resolution == !samples.empty());
  }
}

TEST_CASE("a median at the timer's resolution is marked", "[stats]") {
  const std::vector<double> samples(10, 1.0);
  CHECK(stats::summarise({}, samples, 0, 1.0).below_resolution);
  CHECK_FALSE(stats::summarise({}, samples, 0, 0.5).below_resolution);
}
