// How far two runs of the same build differ: pure functions on logarithms of times, where a difference is a
// relative change.
#pragma once

#include <cstddef>
#include <vector>

namespace attnprof::noise {

double upper_normal_tail(double z);      ///< P(Z > z), also far out
double upper_normal_quantile(double p);  ///< z with P(Z > z) = p; p in (0, 1)

/// The normal deviate with the same tail as `t` of Student's distribution, and back. Wallace (1959), "Bounds
/// on normal approximations to Student's and the chi-square distributions", with his correction factor. For
/// tails of 4e-5, where one of a hundred cases is judged, `t` is 0.4% too large with 12 degrees of freedom,
/// 4% with 5: the gate errs towards silence. `df` may be infinite.
double t_to_z(double t, double df);
double z_to_t(double z, double df);

double digamma(double x);           ///< x > 0
double trigamma(double x);          ///< x > 0
double inverse_trigamma(double y);  ///< y > 0

/// A sample variance and the degrees of freedom behind it (0: nothing is known).
struct Variance {
  double value = 0;
  int df = 0;
};

/// What the variances of all cases say about any one of them: scaled inverse chi-square with this mean and
/// weight.
struct Prior {
  double variance = 1;
  double df = 0;  ///< may be infinite: the cases show no sign of differing in variance
};

/// Fewest cases from whose variances the spread between them can be told.
constexpr size_t kFewestForPrior = 10;

/// Empirical Bayes fit of the prior to the sample variances: few repeats of each of many cases borrow
/// strength from each other. Smyth (2004), "Linear models and empirical Bayes methods for assessing
/// differential expression", section 6.2. With fewer than kFewestForPrior known variances, their pooled value
/// with 10 degrees of freedom; with none, {1, infinity}.
Prior fit_prior(const std::vector<Variance>& variances);

/// Variance of one case after its own repeats and the others': (df0 s0^2 + df s^2) / (df0 + df) (Smyth,
/// section 4).
struct Posterior {
  double variance = 1;
  double df = 0;
};
Posterior moderate(const Prior& prior, const Variance& own);

/// Standard deviation that the bulk of `z` shows about its centre, whatever the rest does: from the shortest
/// interval that holds a third of them, scaled for the normal distribution. The idea of an empirical null
/// (Efron 2004, "Large-scale simultaneous hypothesis testing: the choice of a null hypothesis"), with the
/// shortest half's robustness (Rousseeuw 1984) driven to a third, so that two kinds of cases that moved
/// differently do not count as noise. 1 for fewer than kFewestForScatter values.
constexpr size_t kFewestForScatter = 10;
double bulk_scatter(std::vector<double> z);

/// Which hypotheses to reject so that the chance of rejecting any true one is at most alpha, whatever their
/// dependence. Holm (1979), "A simple sequentially rejective multiple test procedure".
std::vector<bool> holm(const std::vector<double>& p, double alpha);

}  // namespace attnprof::noise
