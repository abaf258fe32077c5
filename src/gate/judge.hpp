// Whether what a build measures has changed: pure functions, no rows and no files.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

namespace attnprof {

/// One run's time of one case: the median, the 95% interval of it, and what the clock did meanwhile.
struct RunTime {
  double time_us = 0;
  double lo_us = 0;
  double hi_us = 0;
  std::optional<double> clock_mhz{};
  bool throttled = false;
};

/// What times of one case are judged by. Shares, not percent.
struct TimeRule {
  double threshold = 0.02;  ///< a smaller change never counts
  double noise = 0.002;  ///< standard deviation between runs that is assumed at least, beside the interval's
};

/// Repeats of one case, of each build at least one.
struct TimeCase {
  std::vector<RunTime> before;
  std::vector<RunTime> after;
  TimeRule rule{};
};

enum class TimeChange {
  none,
  slower,
  faster,
  clock,  ///< slower, but by no more than the lower clock explains
};

struct TimeVerdict {
  TimeChange change = TimeChange::none;
  double ratio = 1;  ///< after over before: medians over the runs
  double detectable =
      0;  ///< slow-down, as a share, from which on this case is called slower when it is alone

  // For what is judged over the cases together (gate/families.hpp).
  double shift = 0;     ///< logarithm of the ratio, beyond what the clock explains
  double shift_sd = 0;  ///< its standard deviation
  double run_sd = 0;    ///< the part of it that all cases of a run may share: what is assumed between runs
  double df = 0;        ///< degrees of freedom of its tails
};

/// Where the noise between runs came from.
enum class NoiseSource {
  assumed,  ///< the floor of the rule
  scatter,  ///< no repeats; the two runs scatter more than the floor, and that is taken
  repeats,  ///< several runs of a build
};
std::string_view to_string(NoiseSource source);

/// Times on a throttled chip move more: standard deviation assumed at least, as a share, without repeats. Of
/// 17 runs on an H200 at its power limit most cases had 0.3 to 0.9%, the worst two 1.4 and 2.3%.
constexpr double kThrottledNoise = 0.015;
/// Run to run, times have wider tails than the normal distribution: at best Student's with so many degrees of
/// freedom is assumed. At the far end where one of a hundred cases is judged it asks for half as much again
/// as the normal one.
constexpr double kTailDf = 12;
constexpr double kWildTailDf = 5;  ///< on a machine that scatters twice as much as expected, or more
constexpr double kCalmNoise =
    0.01;  ///< expected: the tails are kTailDf's up to here, kWildTailDf's at twice it
/// The chance that any of all cases is called slower when nothing changed, at the noise that was found.
constexpr double kDefaultAlpha = 0.005;

struct TimeJudgement {
  std::vector<TimeVerdict> verdicts;  ///< one for each case
  NoiseSource source = NoiseSource::assumed;
  double noise =
      0;  ///< median over the cases: standard deviation of one run's time, interval and all, a share
};

/// Judges all cases together.
///
/// A case is slower when its time rose by more than the threshold *and* by more than its noise explains, at
/// `alpha` for all cases together (Holm: one wrong name in a list that stops somebody's work is one too many,
/// and nothing may be assumed about how cases depend on each other; Benjamini-Hochberg would promise only
/// that most are right).
///
/// Noise of one run is sqrt(w^2 + floor^2), times a factor; w is from the interval of its median, and the
/// floor is the rule's, or the w of the median case where that is more: what disturbs samples disturbs runs.
/// The factor comes from the repeats of either build where there are any, moderated over the cases
/// (noise::fit_prior); else from the scatter of the changes about their bulk (noise::bulk_scatter). Never
/// less than interval and floor give: the larger of two noises is the limit. Times enter as logarithms; the
/// test is Student's with the moderated degrees of freedom.
///
/// Where the clock fell between the builds, only what goes beyond it counts (time * clock is the same for
/// work that no memory bounds): chips that share a power limit lose some percent of it in either build.
TimeJudgement judge_times(const std::vector<TimeCase>& cases, double alpha);

enum class CountChange { none, more, fewer };

/// How a count may move. Both 0: exact.
struct CountRule {
  double threshold = 0;  ///< share
  double slack = 0;      ///< in units of the count
};
/// Beyond the largest, or below the smallest, of what the repeats before gave. Neither may be empty. Nothing
/// is divided: 0 before and anything after is more.
CountChange judge_count(const std::vector<double>& before, const std::vector<double>& after,
                        const CountRule& rule);

}  // namespace attnprof
