#include "gate/judge.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <numeric>

#include "core/stats.hpp"
#include "gate/noise.hpp"

namespace attnprof {

namespace {

/// One build's repeats of a case, as logarithms.
struct Side {
  double log_time = 0;     ///< median over the runs
  double interval_sd = 0;  ///< of one run, from the intervals of the medians
  double share = 1;        ///< variance of log_time over that of one run
  double squares = 0;      ///< of the runs' deviations from their mean
  int df = 0;
  std::optional<double> log_clock;
  bool throttled = false;
};

Side side_of(const std::vector<RunTime>& runs) {
  Side side;
  std::vector<double> times, clocks;
  double mean = 0, interval_variance = 0;
  for (const RunTime& run : runs) {
    times.push_back(std::log(run.time_us));
    mean += times.back();
    const double sd = std::log(run.hi_us / run.lo_us) / (2 * 1.959964);
    interval_variance += sd * sd;
    if (run.clock_mhz && *run.clock_mhz > 0) clocks.push_back(std::log(*run.clock_mhz));
    side.throttled = side.throttled || run.throttled;
  }
  const auto count = static_cast<double>(runs.size());
  mean /= count;
  for (const double time : times) side.squares += (time - mean) * (time - mean);
  side.df = static_cast<int>(runs.size()) - 1;
  side.interval_sd = std::sqrt(interval_variance / count);
  side.log_time = stats::median(times);
  side.share = (runs.size() > 2 ? std::numbers::pi / 2 : 1) /
               count;  // a median of many is that much less certain than a mean
  if (clocks.size() == runs.size()) side.log_clock = stats::median(clocks);
  return side;
}

/// One case on its way to a verdict.
struct Evidence {
  Side before, after;
  double change = 0;                     ///< logarithm of the ratio
  double allowance = 0;                  ///< part of it that the clock explains, with its sign
  double floor_sd = 0;                   ///< between runs, as expected before anything is known
  double expected_sd = 0, least_sd = 0;  ///< of one run, interval and all: as expected; never below
  double share = 2;                      ///< variance of `change` over that of one run
};

/// Standard deviation of one run's median by its interval: of both sides, as one.
double interval_sd(const Side& before, const Side& after) {
  return std::hypot(before.interval_sd, after.interval_sd) / std::sqrt(2.0);
}

/// `typical_sd`: median over the cases of interval_sd.
Evidence evidence_of(const TimeCase& c, const Side& before, const Side& after, double typical_sd) {
  Evidence r;
  r.before = before;
  r.after = after;
  r.change = r.after.log_time - r.before.log_time;
  if (r.before.log_clock && r.after.log_clock) {
    const double explained = *r.before.log_clock - *r.after.log_clock;
    r.allowance = std::clamp(r.change, std::min(explained, 0.0), std::max(explained, 0.0));
  }
  const double interval = interval_sd(before, after);
  const bool throttled = r.before.throttled || r.after.throttled;
  r.least_sd = std::hypot(interval, c.rule.noise);
  r.floor_sd = std::max({c.rule.noise, typical_sd, throttled ? kThrottledNoise : 0});
  r.expected_sd = std::hypot(interval, r.floor_sd);
  r.share = r.before.share + r.after.share;
  return r;
}

/// Standard deviation of one run of each case, and the degrees of freedom behind it.
struct RunNoise {
  double sd = 0;
  double df = 0;
};

/// Degrees of freedom for the tails, when runs scatter `factor` times as much as expected: from kTailDf down
/// to kWildTailDf at twice as much, or where twice kCalmNoise is expected: of a busy CPU.
double tail_df(double factor, const std::vector<Evidence>& all) {
  std::vector<double> floors;
  for (const Evidence& c : all) floors.push_back(c.floor_sd);
  const double wildness = std::max(factor, stats::median(floors) / kCalmNoise);
  return std::clamp(kTailDf - (kTailDf - kWildTailDf) * (wildness - 1), kWildTailDf, kTailDf);
}

std::vector<RunNoise> noise_from_repeats(const std::vector<Evidence>& all) {
  std::vector<noise::Variance> variances;  // in units of what was expected
  for (const Evidence& c : all) {
    const int df = c.before.df + c.after.df;
    const double squares = c.before.squares + c.after.squares;
    variances.push_back({df > 0 ? squares / df / (c.expected_sd * c.expected_sd) : 0, df});
  }
  const noise::Prior prior = noise::fit_prior(variances);
  const double wild = tail_df(std::sqrt(prior.variance), all);
  std::vector<RunNoise> result;
  for (size_t i = 0; i < all.size(); ++i) {
    const noise::Posterior posterior = noise::moderate(prior, variances[i]);
    const double sd = all[i].expected_sd * std::sqrt(posterior.variance);
    const bool medians =
        all[i].before.df >= 2 && all[i].after.df >= 2;  // of three runs or more: no tail is left
    const double tail = medians ? kTailDf : wild;
    // Repeats that agree better than what is assumed at least: the assumption counts, with its own tails. How
    // little is known of a variance that does not matter widens nothing.
    result.push_back(sd > all[i].least_sd ? RunNoise{sd, std::min(posterior.df, tail)}
                                          : RunNoise{all[i].least_sd, tail});
  }
  return result;
}

std::vector<RunNoise> noise_from_scatter(const std::vector<Evidence>& all, NoiseSource& source) {
  std::vector<double> z;
  for (const Evidence& c : all) z.push_back((c.change - c.allowance) / (c.expected_sd * std::sqrt(c.share)));
  // The bulk of a wide-tailed distribution is narrower than its standard deviation: 0.78 of it for Student's
  // with kWildTailDf. Where nothing is wider than expected, nothing is added.
  const double bulk = noise::bulk_scatter(z);
  const double factor = bulk > 1 ? 1 + (bulk - 1) / 0.78 : 1;
  source = factor > 1 ? NoiseSource::scatter : NoiseSource::assumed;
  const double df = tail_df(factor, all);
  std::vector<RunNoise> result;
  for (const Evidence& c : all) result.push_back({c.expected_sd * factor, df});
  return result;
}

}  // namespace

std::string_view to_string(NoiseSource source) {
  constexpr std::array<std::string_view, 3> kNames{"assumed", "scatter", "repeats"};
  return kNames[static_cast<size_t>(source)];
}

TimeJudgement judge_times(const std::vector<TimeCase>& cases, double alpha) {
  TimeJudgement judgement;
  if (cases.empty()) return judgement;
  std::vector<Side> before, after;
  std::vector<double> interval_sds;
  for (const TimeCase& c : cases) {
    before.push_back(side_of(c.before));
    after.push_back(side_of(c.after));
    interval_sds.push_back(interval_sd(before.back(), after.back()));
  }
  const double typical_sd = stats::median(interval_sds);
  std::vector<Evidence> all;
  for (size_t i = 0; i < cases.size(); ++i)
    all.push_back(evidence_of(cases[i], before[i], after[i], typical_sd));
  const bool repeats =
      std::any_of(all.begin(), all.end(), [](const Evidence& c) { return c.before.df + c.after.df > 0; });
  judgement.source = NoiseSource::repeats;
  const std::vector<RunNoise> noise =
      repeats ? noise_from_repeats(all) : noise_from_scatter(all, judgement.source);

  const double first_z = noise::upper_normal_quantile(alpha / static_cast<double>(cases.size()));
  std::vector<double> p_slower, p_faster, p_plain;  // plain: as if no clock explained anything
  std::vector<double> sds;
  for (size_t i = 0; i < cases.size(); ++i) {
    const double sd = noise[i].sd * std::sqrt(all[i].share);
    const auto tail = [&](double change) {
      return noise::upper_normal_tail(noise::t_to_z(change / sd, noise[i].df));
    };
    p_slower.push_back(tail(all[i].change - all[i].allowance));
    p_faster.push_back(tail(all[i].allowance - all[i].change));
    p_plain.push_back(tail(all[i].change));
    sds.push_back(noise[i].sd);
    const double more_than_expected = std::max(noise[i].sd / all[i].expected_sd, 1.0);
    const double between_runs = std::max(cases[i].rule.noise, typical_sd) * more_than_expected;
    judgement.verdicts.push_back(
        {TimeChange::none, std::exp(all[i].change),
         std::max(cases[i].rule.threshold, std::expm1(noise::z_to_t(first_z, noise[i].df) * sd)),
         all[i].change - all[i].allowance, sd, between_runs * std::sqrt(all[i].share), noise[i].df});
  }
  judgement.noise = stats::median(sds);
  const std::vector<bool> slower = noise::holm(p_slower, alpha), faster = noise::holm(p_faster, alpha),
                          plain = noise::holm(p_plain, alpha);
  for (size_t i = 0; i < cases.size(); ++i) {
    const double beyond_clock = std::exp(all[i].change - all[i].allowance);
    const double limit = 1 + cases[i].rule.threshold;
    TimeChange& change = judgement.verdicts[i].change;
    if (slower[i] && beyond_clock > limit) {
      change = TimeChange::slower;
    } else if (faster[i] && beyond_clock * limit < 1) {
      change = TimeChange::faster;
    } else if (plain[i] && judgement.verdicts[i].ratio > limit) {
      change = TimeChange::clock;
    }
  }
  return judgement;
}

CountChange judge_count(const std::vector<double>& before, const std::vector<double>& after,
                        const CountRule& rule) {
  const auto [low, high] = std::minmax_element(before.begin(), before.end());
  const bool exact = rule.threshold == 0 && rule.slack == 0;
  // Counts that are exact agree between runs: one that does not is a change. Measured ones scatter.
  const double now = exact ? *std::max_element(after.begin(), after.end()) : stats::median(after);
  if (now > *high * (1 + rule.threshold) + rule.slack) return CountChange::more;
  if (now < *low * (1 - rule.threshold) - rule.slack) return CountChange::fewer;
  return CountChange::none;
}

}  // namespace attnprof
