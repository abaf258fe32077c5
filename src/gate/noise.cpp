#include "gate/noise.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace attnprof::noise {

namespace {
constexpr double kInfinity = std::numeric_limits<double>::infinity();
}

double upper_normal_tail(double z) {
  return std::erfc(z / std::sqrt(2.0)) / 2;
}

double upper_normal_quantile(double p) {
  double low = -40, high = 40;  // the tail at 40 is below the smallest double
  while (high - low > 1e-12) {
    const double middle = (low + high) / 2;
    (upper_normal_tail(middle) > p ? low : high) = middle;
  }
  return (low + high) / 2;
}

double t_to_z(double t, double df) {
  if (std::isinf(df)) return t;
  const double z = (8 * df + 1) / (8 * df + 3) * std::sqrt(df * std::log1p(t * t / df));
  return std::copysign(z, t);
}

double z_to_t(double z, double df) {
  if (std::isinf(df)) return z;
  const double w = z * (8 * df + 3) / (8 * df + 1);
  return std::copysign(std::sqrt(df * std::expm1(w * w / df)), z);
}

double digamma(double x) {
  double sum = 0;
  for (; x < 10; ++x) sum -= 1 / x;  // recurrence up to where the asymptotic series holds 12 digits
  const double s = 1 / (x * x);
  return sum + std::log(x) - 0.5 / x - s * (1.0 / 12 - s * (1.0 / 120 - s * (1.0 / 252 - s / 240)));
}

double trigamma(double x) {
  double sum = 0;
  for (; x < 10; ++x) sum += 1 / (x * x);
  const double s = 1 / (x * x);
  return sum + (1 + 0.5 / x + s * (1.0 / 6 - s * (1.0 / 30 - s * (1.0 / 42 - s / 30)))) / x;
}

double inverse_trigamma(double y) {
  double low = 1e-8, high = 1e8;  // trigamma falls from 1e16 to 1e-8 between them
  if (y >= trigamma(low)) return low;
  if (y <= trigamma(high)) return high;
  while (high / low > 1 + 1e-12) {
    const double middle = std::sqrt(low * high);
    (trigamma(middle) > y ? low : high) = middle;
  }
  return low;
}

Prior fit_prior(const std::vector<Variance>& variances) {
  double weighted = 0, total_df = 0;
  size_t known = 0;
  for (const Variance& v : variances) {
    if (v.df <= 0) continue;
    ++known;
    weighted += v.df * v.value;
    total_df += v.df;
  }
  if (known == 0) return {1, kInfinity};
  const double pooled = weighted / total_df;
  if (known < kFewestForPrior || pooled <= 0) return {pooled, 10};
  // Equal medians, a timer's steps, give a variance of 0, whose logarithm would outweigh everything.
  const double least = 1e-3 * pooled;
  std::vector<double> e;
  double sampling = 0;  // variance of a log sample variance, averaged
  for (const Variance& v : variances) {
    if (v.df <= 0) continue;
    const double half = v.df / 2.0;
    e.push_back(std::log(std::max(v.value, least)) - digamma(half) + std::log(half));
    sampling += trigamma(half) / static_cast<double>(known);
  }
  const double mean = std::accumulate(e.begin(), e.end(), 0.0) / static_cast<double>(known);
  double spread = 0;
  for (const double x : e) spread += (x - mean) * (x - mean) / static_cast<double>(known - 1);
  if (spread <= sampling) return {std::exp(mean), kInfinity};
  const double half = inverse_trigamma(spread - sampling);
  return {std::exp(mean + digamma(half) - std::log(half)), 2 * half};
}

Posterior moderate(const Prior& prior, const Variance& own) {
  if (own.df <= 0 || std::isinf(prior.df)) return {prior.variance, prior.df};
  const double df = prior.df + own.df;
  return {(prior.df * prior.variance + own.df * own.value) / df, df};
}

double bulk_scatter(std::vector<double> z) {
  if (z.size() < kFewestForScatter) return 1;
  std::sort(z.begin(), z.end());
  const size_t span = z.size() / 3;  // an interval from z[i] to z[i + span] holds that share of the gaps
  double shortest = kInfinity;
  for (size_t i = 0; i + span < z.size(); ++i) shortest = std::min(shortest, z[i + span] - z[i]);
  const double share = static_cast<double>(span) / static_cast<double>(z.size());
  return shortest / (2 * upper_normal_quantile((1 - share) / 2));
}

std::vector<bool> holm(const std::vector<double>& p, double alpha) {
  std::vector<size_t> order(p.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::sort(order.begin(), order.end(), [&p](size_t a, size_t b) { return p[a] < p[b]; });
  std::vector<bool> rejected(p.size(), false);
  for (size_t i = 0; i < order.size(); ++i) {
    if (!(p[order[i]] <= alpha / static_cast<double>(p.size() - i))) break;
    rejected[order[i]] = true;
  }
  return rejected;
}

}  // namespace attnprof::noise
