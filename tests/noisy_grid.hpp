// Runs of a grid of cases on an invented machine whose noise is like that of a real one, from a seed.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <random>
#include <vector>

#include "core/stats.hpp"
#include "gate/judge.hpp"

namespace attnprof {

/// Standard deviations as shares. The defaults are those of an H200: the intervals of docs/results/h200.csv
/// (half widths of 0.09%, 0.22% and 0.48% at their 10th, 50th and 90th percentile, here 0.10%, 0.24%, 0.54%),
/// and between two sweeps (h200.csv, h200-fused.csv) a difference of 0.27% in unthrottled cases beyond what
/// clocks explain (here 0.31%: sqrt(2) * hypot(0.1%, 0.2%)).
struct MachineNoise {
  double drift = 0.0008;  ///< of a whole run
  double between_runs =
      0.0013;             ///< of a case in a run; Student's with 5 degrees of freedom, so with wide tails
  double sample = 0.004;  ///< of one sample, median over the cases
  double sample_spread = 0.7;  ///< logarithm of that, between cases
  double outliers = 0.02;      ///< share of samples that something else disturbs, by 10% on average
};

class NoisyGrid {
 public:
  NoisyGrid(int cases, MachineNoise noise, uint64_t seed) : noise_(noise), random_(seed) {
    for (int i = 0; i < cases; ++i) {
      true_us_.push_back(90 * std::exp(uniform() * std::log(200.0)));  // 90 us to 18 ms, as there
      sample_sd_.push_back(noise_.sample * std::exp(noise_.sample_spread * normal()));
    }
  }

  /// Every case measured once, with the sweep's own stopping rule. `slow_down(i)` multiplies case i.
  std::vector<RunTime> run(const std::function<double(int)>& slow_down = [](int) { return 1.0; }) {
    std::vector<RunTime> result;
    const double drift = noise_.drift * normal();
    for (size_t i = 0; i < true_us_.size(); ++i) {
      const double shift = drift + noise_.between_runs * wide_tailed();
      const double centre = true_us_[i] * slow_down(static_cast<int>(i)) * std::exp(shift);
      result.push_back(measured(centre, sample_sd_[i]));
    }
    return result;
  }

 private:
  RunTime measured(double centre_us, double sd) {
    const stats::StoppingRule rule{0.005, 10, 120, 0.2};
    std::vector<double> samples;
    double elapsed_s = 0;
    do {
      double sample = centre_us * std::exp(sd * normal());
      if (uniform() < noise_.outliers) sample *= 1 - 0.1 * std::log(1 - uniform());
      samples.push_back(sample);
      elapsed_s += sample * 1e-6;
    } while (samples.size() % 10 != 0 || !stats::enough(rule, samples, elapsed_s));
    const TimeStats time = stats::summarise(rule, samples, 1, 0.0);
    return {time.median_us, time.lo_us, time.hi_us};
  }

  double normal() { return normal_(random_); }
  double wide_tailed() { return student_(random_) / std::sqrt(5.0 / 3.0); }  // variance 1
  double uniform() { return uniform_(random_); }

  MachineNoise noise_;
  std::mt19937_64 random_;
  std::normal_distribution<double> normal_{0.0, 1.0};
  std::student_t_distribution<double> student_{5.0};
  std::uniform_real_distribution<double> uniform_{0.0, 1.0};
  std::vector<double> true_us_, sample_sd_;
};

/// What the gate says of `repeats` runs, of which every fourth case is slower by `slow_down`.
struct GatePower {
  int runs_failed = 0;    ///< with any case called slower
  double found = 0;       ///< share of the slowed cases called slower
  int false_alarms = 0;   ///< cases called slower that were not
  double detectable = 0;  ///< median over cases and runs of what the verdicts promise
};
inline GatePower gate_power(NoisyGrid& grid, int baselines, int news, int repeats, double slow_down) {
  GatePower power;
  int slowed = 0, found = 0;
  std::vector<double> detectable;
  std::vector<std::vector<RunTime>> before;
  for (int i = 0; i < baselines; ++i) before.push_back(grid.run());
  for (int repeat = 0; repeat < repeats; ++repeat) {
    const auto is_slow = [slow_down](int i) { return slow_down > 0 && i % 4 == 0; };
    std::vector<TimeCase> cases(before.front().size());
    for (const auto& run : before)
      for (size_t i = 0; i < run.size(); ++i) cases[i].before.push_back(run[i]);
    for (int n = 0; n < news; ++n) {
      const auto run = grid.run([&](int i) { return is_slow(i) ? 1 + slow_down : 1.0; });
      for (size_t i = 0; i < run.size(); ++i) cases[i].after.push_back(run[i]);
    }
    const TimeJudgement judgement = judge_times(cases, kDefaultAlpha);
    bool failed = false;
    for (size_t i = 0; i < cases.size(); ++i) {
      const bool slower = judgement.verdicts[i].change == TimeChange::slower;
      failed = failed || slower;
      detectable.push_back(judgement.verdicts[i].detectable);
      if (is_slow(static_cast<int>(i))) {
        ++slowed;
        found += slower;
      } else {
        power.false_alarms += slower;
      }
    }
    power.runs_failed += failed;
  }
  power.found = slowed > 0 ? static_cast<double>(found) / slowed : 0;
  power.detectable = stats::median(detectable);
  return power;
}

}  // namespace attnprof
