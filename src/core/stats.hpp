// Statistics of time samples: pure functions, two-pass, no clock.
#pragma once

#include <vector>

#include "core/record.hpp"

namespace attnprof::stats {

double median(std::vector<double> x);  ///< mean of the two middle values for even sizes; NaN when empty

/// Fewest samples for which [min, max] covers the median with 95%: 2 * 0.5^6 = 3.1%, 2 * 0.5^5 = 6.3%.
constexpr int kFewestForInterval = 6;

struct Interval {
  double lo = 0;
  double hi = 0;
};
/// Distribution-free 95% confidence interval of the median from order statistics (binomial, exact for n <=
/// 1000, normal approximation above; Conover, Practical Nonparametric Statistics, section 3.2). With fewer
/// than 6 samples no such interval exists: returns [min, max].
Interval median_interval(std::vector<double> x);

/// Half width of the interval over the median; infinity when there are fewer than 6 samples or median <= 0.
double relative_half_width(const std::vector<double>& samples_us);

/// When to stop sampling.
struct StoppingRule {
  double target_half_width = 0.005;  ///< relative: the interval of the median inside +-0.5%
  int min_samples = 10;
  int max_samples = 1000;
  double budget_s = 2.0;  ///< time for one case, all samples together
};
/// True when the samples satisfy the rule or `elapsed_s` has used up the budget (never below min_samples
/// unless the budget is exceeded three times over).
bool enough(const StoppingRule& rule, const std::vector<double>& samples_us, double elapsed_s);

/// Non-finite, zero and negative samples never enter the figures: they set below_resolution.
TimeStats summarise(const StoppingRule& rule, const std::vector<double>& samples_us, int warmups,
                    double timer_resolution_us);

}  // namespace attnprof::stats
