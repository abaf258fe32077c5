#include "core/stats.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace attnprof::stats {

namespace {

bool has_interval(size_t samples) {
  return samples >= static_cast<size_t>(kFewestForInterval);
}

double median_of_sorted(const std::vector<double>& x) {
  if (x.empty()) return std::numeric_limits<double>::quiet_NaN();
  const size_t half = x.size() / 2;
  return x.size() % 2 == 1 ? x[half] : x[half - 1] + (x[half] - x[half - 1]) / 2;
}

/// Largest rank r (1-based) with 2 * P(Binomial(n, 1/2) < r) <= 5%, so that [x_(r), x_(n+1-r)] holds the
/// median.
size_t lower_rank(size_t n) {
  constexpr size_t kExactLimit = 1000;  // 0.5^1000 is still a normal double
  if (n > kExactLimit) {
    const double count = static_cast<double>(n);
    return static_cast<size_t>((count - 1.959964 * std::sqrt(count)) / 2);
  }
  double term = std::pow(0.5, static_cast<double>(n));  // P(Binomial = 0)
  double tail = term;
  size_t rank = 1;
  for (size_t k = 1; k < n; ++k) {
    term *= static_cast<double>(n - k + 1) / static_cast<double>(k);
    tail += term;
    if (2 * tail > 0.05) break;
    rank = k + 1;
  }
  return rank;
}

std::vector<double> usable(const std::vector<double>& samples) {
  std::vector<double> kept;
  kept.reserve(samples.size());
  std::copy_if(samples.begin(), samples.end(), std::back_inserter(kept),
               [](double x) { return std::isfinite(x) && x > 0; });
  return kept;
}

Interval interval_of_sorted(const std::vector<double>& x) {
  if (x.empty()) {
    const double nan = std::numeric_limits<double>::quiet_NaN();
    return {nan, nan};
  }
  if (!has_interval(x.size())) return {x.front(), x.back()};
  const size_t rank = lower_rank(x.size());
  return {x[rank - 1], x[x.size() - rank]};
}

}  // namespace

double median(std::vector<double> x) {
  std::sort(x.begin(), x.end());
  return median_of_sorted(x);
}

Interval median_interval(std::vector<double> x) {
  std::sort(x.begin(), x.end());
  return interval_of_sorted(x);
}

double relative_half_width(const std::vector<double>& samples_us) {
  std::vector<double> x = usable(samples_us);
  std::sort(x.begin(), x.end());
  if (!has_interval(x.size())) return std::numeric_limits<double>::infinity();
  const Interval interval = interval_of_sorted(x);
  return (interval.hi - interval.lo) / 2 / median_of_sorted(x);
}

bool enough(const StoppingRule& rule, const std::vector<double>& samples_us, double elapsed_s) {
  const int n = static_cast<int>(samples_us.size());
  if (n >= rule.max_samples) return true;
  if (n < rule.min_samples) return n > 0 && elapsed_s > 3 * rule.budget_s;
  return elapsed_s >= rule.budget_s || relative_half_width(samples_us) <= rule.target_half_width;
}

TimeStats summarise(const StoppingRule& rule, const std::vector<double>& samples_us, int warmups,
                    double timer_resolution_us) {
  std::vector<double> x = usable(samples_us);
  std::sort(x.begin(), x.end());
  TimeStats summary;
  summary.warmups = warmups;
  summary.samples = static_cast<int>(x.size());
  summary.below_resolution = x.size() < samples_us.size();
  if (x.empty()) return summary;
  const Interval interval = interval_of_sorted(x);
  summary.median_us = median_of_sorted(x);
  summary.lo_us = interval.lo;
  summary.hi_us = interval.hi;
  summary.min_us = x.front();
  summary.max_us = x.back();
  summary.converged = relative_half_width(x) <= rule.target_half_width;
  summary.below_resolution = summary.below_resolution || summary.median_us <= timer_resolution_us;
  return summary;
}

}  // namespace attnprof::stats
