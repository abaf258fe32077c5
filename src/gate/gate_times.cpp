#include "gate/gate_times.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/stats.hpp"
#include "gate/families.hpp"
#include "rows/derived.hpp"
#include "rows/human.hpp"

namespace attnprof {

namespace {

/// Deviation between runs that is assumed of a CPU; see Limits::noise_pct.
constexpr double kHostNoisePct = 2;
constexpr double kDeviceNoisePct = 0.2;

/// With rests a chip that says that it throttles hardly does: no case of 30 runs of one build scattered by
/// more than 0.5% (standard deviation), where 17 back to back did by up to 2.4% (docs/results/repeats).
RunTime run_time(const Row& row) {
  const bool rested = row.number("rest").value_or(0) > 0;
  return {*row.number("time_us"), *row.number("time_lo_us"), *row.number("time_hi_us"),
          row.number("sm_clock_mhz"), !rested && !row.text("throttle").empty()};
}

double median_us(const std::vector<RunTime>& runs) {
  std::vector<double> times;
  for (const RunTime& run : runs) times.push_back(run.time_us);
  return stats::median(times);
}

void describe(Finding& f, const TimedFinding& timed, const TimeVerdict& verdict) {
  f.before = human_time_us(median_us(timed.times.before));
  f.after = human_time_us(median_us(timed.times.after));
  f.change = signed_percent(verdict.ratio - 1);
  f.reason = fmt::format("threshold {}%", three_digits(100 * verdict.detectable));
  switch (verdict.change) {
    case TimeChange::none:
      return;
    case TimeChange::slower:
      f.outcome = Outcome::regression;
      break;
    case TimeChange::faster:
      f.outcome = Outcome::improvement;
      break;
    case TimeChange::clock:
      f.outcome = Outcome::unjudged;
      f.reason = "slower, but its SM clock was that much lower; lock the clocks, or give repeats";
      break;
  }
  f.reason += timed.library_change;
}

}  // namespace

std::string signed_percent(double share) {
  const double percent = 100 * share;
  return fmt::format("{:+.{}f}%", percent, std::abs(percent) < 0.995 ? 2 : std::abs(percent) < 99.5 ? 1 : 0);
}

std::optional<NotTimed> why_not_timed(const MatchedCase& c, const std::string& machine_difference) {
  const auto timed = [](const Row& r) { return r.number("time_us").has_value(); };
  const auto resolved = [](const Row& r) { return resolved_time_us(r).has_value(); };
  const auto bounded = [](const Row& r) { return r.number("time_lo_us") && r.number("time_hi_us"); };
  if (!every_row(c.before, timed)) return NotTimed{Outcome::refused, "the baseline has no time"};
  if (!every_row(c.after, timed)) return NotTimed{Outcome::refused, "the new row has no time"};
  if (!machine_difference.empty()) return NotTimed{Outcome::refused, machine_difference};
  const bool was_resolved = every_row(c.before, resolved), is_resolved = every_row(c.after, resolved);
  if (!was_resolved && !is_resolved) return NotTimed{Outcome::unjudged, "below the timer's resolution"};
  if (!was_resolved || !is_resolved)
    return NotTimed{Outcome::refused, fmt::format("only the {} time is below the timer's resolution",
                                                  was_resolved ? "new" : "baseline's")};
  if (!every_row(c.before, bounded) || !every_row(c.after, bounded))
    return NotTimed{Outcome::refused,
                    "fewer than 6 samples: no interval to judge by; raise --max-time or --min-samples"};
  return std::nullopt;
}

TimedFinding timed_finding(const MatchedCase& c, const Limits& limits, size_t finding) {
  TimedFinding timed;
  for (const Row& r : c.before) timed.times.before.push_back(run_time(r));
  for (const Row& r : c.after) timed.times.after.push_back(run_time(r));
  timed.times.rule.threshold = limits.time_pct / 100;
  const double floor_pct = c.after.front().text("device") == "cpu" ? kHostNoisePct : kDeviceNoisePct;
  timed.times.rule.noise = limits.noise_pct.value_or(floor_pct) / 100;
  const std::string_view from = c.before.front().text("library"), to = c.after.front().text("library");
  if (from != to) {
    timed.library_change =
        fmt::format("; {} -> {}", from.empty() ? "no library" : from, to.empty() ? "none" : to);
  }
  timed.finding = finding;
  timed.row = c.after.front();
  return timed;
}

namespace {

/// Families that moved together, each a finding of its own: every one of its cases may be within its limit.
void add_families(const std::vector<TimedFinding>& timed, const std::vector<TimeCase>& cases,
                  const std::vector<TimeVerdict>& verdicts, double alpha, Policy policy, GateReport& report) {
  std::vector<Row> rows;
  for (const TimedFinding& t : timed) rows.push_back(t.row);
  const std::vector<Family> families = families_of(rows);
  for (const FamilyVerdict& moved : slower_families(cases, verdicts, families, alpha)) {
    const Family& family = families[moved.family];
    const Row& first = rows[family.members.front()];
    Finding f;
    f.subject = Subject::family;
    f.quantity = "family";
    f.label = fmt::format("all {} cases{}{}", family.members.size(), family.name.empty() ? "" : " with ",
                          family.name);
    f.file = first.file();
    f.line = first.line();
    f.outcome = Outcome::regression;
    f.policy = policy;
    f.change = signed_percent(moved.change);
    f.reason = "median of their times";
    if (moved.others) f.reason += fmt::format(", the other cases {}", signed_percent(*moved.others));
    f.reason += fmt::format("; threshold {}%", three_digits(100 * moved.detectable));
    report.findings.push_back(std::move(f));
  }
}

}  // namespace

void judge_timed(const std::vector<TimedFinding>& timed, double alpha, Policy families, GateReport& report) {
  std::vector<TimeCase> cases;
  size_t throttled = 0;
  for (const TimedFinding& t : timed) {
    cases.push_back(t.times);
    const auto is_throttled = [](const RunTime& run) { return run.throttled; };
    throttled += std::any_of(t.times.before.begin(), t.times.before.end(), is_throttled) ||
                 std::any_of(t.times.after.begin(), t.times.after.end(), is_throttled);
  }
  if (throttled > 0) {
    report.warnings.push_back(fmt::format(
        "{} of {} cases ran while the chip held its clock back, and only large slow-downs show there; sweep "
        "both builds with --rest 3",
        throttled, cases.size()));
  }
  const TimeJudgement judgement = judge_times(cases, alpha);
  std::vector<double> detectable, changes;
  for (size_t i = 0; i < timed.size(); ++i) {
    describe(report.findings[timed[i].finding], timed[i], judgement.verdicts[i]);
    detectable.push_back(judgement.verdicts[i].detectable);
    changes.push_back(judgement.verdicts[i].ratio - 1);
  }
  if (families != Policy::ignore) add_families(timed, cases, judgement.verdicts, alpha, families, report);
  report.times = timed.size();
  report.noise_source = judgement.source;
  report.noise = judgement.noise;
  if (detectable.empty()) return;
  report.detectable_median = stats::median(detectable);
  report.detectable_worst = *std::max_element(detectable.begin(), detectable.end());
  report.change_median = stats::median(changes);
  report.change_worst = *std::max_element(changes.begin(), changes.end());
}

}  // namespace attnprof
