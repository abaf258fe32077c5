#include "gate/gate.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include "gate/cases.hpp"
#include "gate/figures.hpp"
#include "gate/gate_counts.hpp"
#include "gate/gate_times.hpp"
#include "rows/human.hpp"
#include "rows/matching.hpp"

namespace attnprof {

namespace {

constexpr size_t kHintsAtMost = 20;  ///< looking for the nearest row of each of a million would take long

/// The same machine, but for what a time depends on.
enum class Machine { same, board_or_driver, model };

class Gate {
 public:
  Gate(const GateOptions& options, const std::vector<RowFile>& baselines, const std::vector<RowFile>& news)
      : options_(options), baselines_(baselines), news_(news) {}

  GateReport judge() {
    const Matching matching = match_cases(baselines_, news_);
    for (const RowFile& file : baselines_) not_numbers(file, "baseline");
    for (const RowFile& file : news_) not_numbers(file, "new");
    const std::vector<MatchedCase>& cases = matching.cases;
    report_.warnings = matching.warnings;
    std::vector<Row> unmatched;
    for (const MatchedCase& c : cases) {
      if (c.before.empty()) unmatched.push_back(c.after.front());
    }
    for (const MatchedCase& c : cases) {
      if (c.before.empty()) {
        added(c);
      } else if (c.after.empty()) {
        missing(c, unmatched);
      } else {
        ++report_.cases;
        both(c);
      }
    }
    for (const Row& row : matching.of_absent_devices) right({row});
    judge_timed(timed_, options_.alpha, options_.thresholds.of_all().of(Subject::family), report_);
    return std::move(report_);
  }

 private:
  Finding& add(const Row& row, Subject subject, std::string_view quantity, Outcome outcome) {
    Finding f;
    f.subject = subject;
    f.quantity = quantity;
    f.label = row.label();
    f.file = row.file();
    f.line = row.line();
    f.outcome = outcome;
    f.policy = limits_.of(subject);
    report_.findings.push_back(std::move(f));
    return report_.findings.back();
  }
  bool looked_at(Subject subject) const { return limits_.of(subject) != Policy::ignore; }

  /// Cells that say nan or inf, in whatever row: never good, and never the same as "no data".
  void not_numbers(const RowFile& file, std::string_view side) {
    for (const NotANumber& cell : file.not_numbers) {
      const auto row = std::find_if(file.rows.begin(), file.rows.end(),
                                    [&cell](const Row& r) { return r.line() == cell.line; });
      if (row == file.rows.end()) continue;
      limits_ = options_.thresholds.of(*row);
      damaged_.emplace(row->where(), cell.column);
      const Figure* figure = find_figure(cell.column);
      const bool unverified = side == "new" && figure != nullptr && figure->verifies;
      const Subject subject = figure != nullptr ? figure->subject : Subject::status;
      if (!unverified && !looked_at(subject)) continue;
      Finding& f = add(*row, subject, cell.column, unverified ? Outcome::regression : Outcome::refused);
      f.verification = unverified;
      f.reason = fmt::format("'{}' in the {} row is not a number: {}:{}, column '{}'", cell.cell, side,
                             file.file, cell.line, cell.column);
    }
  }
  /// Whether that was said of a row of the case already.
  bool damaged(const MatchedCase& c, std::string_view column) const {
    const auto is = [&](const Row& row) { return damaged_.count({row.where(), std::string(column)}) > 0; };
    return any_row(c.before, is) || any_row(c.after, is);
  }

  /// A case without a baseline still has a right answer; false when one of its rows does not give it.
  bool right(const std::vector<Row>& repeats) {
    limits_ = options_.thresholds.of(repeats.front());
    const auto unverified = [](const Row& r) { return r.ok() && !r.verified(); };
    auto bad = std::find_if(repeats.begin(), repeats.end(), wrong);
    const bool is_wrong = bad != repeats.end();
    if (!is_wrong && looked_at(Subject::status))
      bad = std::find_if(repeats.begin(), repeats.end(), unverified);
    if (bad == repeats.end()) return true;
    Finding& f = add(*bad, Subject::status, "status", Outcome::regression);
    f.verification = is_wrong;
    f.after = to_string(bad->status());
    f.reason = bad->ok() ? bad->why_unverified() : std::string(bad->text("message"));
    return false;
  }

  void added(const MatchedCase& c) {
    if (!right(c.after) || !looked_at(Subject::added)) return;
    add(c.after.front(), Subject::added, "new", Outcome::regression).reason = "not in the baseline";
  }

  void missing(const MatchedCase& c, const std::vector<Row>& unmatched) {
    const Row& row = c.before.front();
    limits_ = options_.thresholds.of(row);
    if (!looked_at(Subject::missing)) return;
    Finding& f = add(row, Subject::missing, "missing", Outcome::regression);
    f.reason = "not in the new file";
    if (hints_++ >= kHintsAtMost) return;
    const std::string nearest = nearest_case(row, unmatched);
    if (!nearest.empty()) f.reason = nearest;
  }

  /// A result that was computed and is not right: measured as such, or by the row's own figures.
  static bool wrong(const Row& row) {
    const auto error = row.number("rel_err"), tolerance = row.number("tolerance");
    return row.status() == Status::verify_failed || (row.ok() && error && tolerance && *error > *tolerance);
  }

  /// A tolerance follows from the problem: another rounding of it may double it, no more.
  static bool has_looser_tolerance(const Row& before, const Row& after) {
    const auto then = before.number("tolerance"), now = after.number("tolerance");
    return then && now && *now > 2 * *then;
  }

  /// Whether figures may be compared.
  bool statuses(const MatchedCase& c) {
    const auto bad = [](const Row& r) { return !r.verified(); };
    const auto before = std::find_if(c.before.begin(), c.before.end(), bad);
    auto after = std::find_if(c.after.begin(), c.after.end(), wrong);
    const bool is_wrong = after != c.after.end();
    if (!is_wrong) after = std::find_if(c.after.begin(), c.after.end(), bad);
    const bool was_good = before == c.before.end(), is_good = after == c.after.end();
    if (is_wrong || looked_at(Subject::status)) {
      const Row& old_row = was_good ? c.before.front() : *before;
      const Row& new_row = is_good ? c.after.front() : *after;
      Outcome outcome = Outcome::same;
      // Measured, and not verified: no better for having been so before.
      const bool unverified = !is_good && new_row.ok();
      if (is_wrong || unverified || (was_good && !is_good)) outcome = Outcome::regression;
      if (!was_good && is_good) outcome = old_row.ok() ? Outcome::refused : Outcome::improvement;
      const bool looser = was_good && is_good && has_looser_tolerance(old_row, new_row);
      if (looser) outcome = Outcome::refused;
      Finding& f = add(new_row, Subject::status, "status", outcome);
      f.verification = is_wrong;
      f.before = to_string(old_row.status());
      f.after = to_string(new_row.status());
      if (!is_good) f.reason = new_row.ok() ? new_row.why_unverified() : std::string(new_row.text("message"));
      if (looser) {
        f.reason = fmt::format("verified against a tolerance of {}, in the baseline it is {}",
                               new_row.text("tolerance"), old_row.text("tolerance"));
      } else if (outcome == Outcome::refused) {
        f.reason =
            fmt::format("the baseline is not verified: {}; renew it with --update", old_row.why_unverified());
      }
    }
    return was_good && is_good;
  }

  void both(const MatchedCase& c) {
    limits_ = options_.thresholds.of(c.after.front());
    if (!statuses(c)) return;
    const Row &old_row = c.before.front(), &new_row = c.after.front();
    const std::string difference = machine_difference(old_row, new_row);
    Machine machine = Machine::same;
    if (!difference.empty()) {
      const bool one_model = old_row.text("device_name") == new_row.text("device_name");
      machine = one_model ? Machine::board_or_driver : Machine::model;
    }
    if (machine != Machine::same &&
        std::find(differences_.begin(), differences_.end(), difference) == differences_.end()) {
      differences_.push_back(difference);
      report_.warnings.push_back(
          fmt::format("measured on different machines: {}; {}", difference,
                      options_.allow_device_mismatch ? "compared all the same, as asked"
                      : machine == Machine::model    ? "only what is counted or modelled is judged"
                                                     : "times are not judged"));
    }
    if (options_.allow_device_mismatch) machine = Machine::same;
    time(c, machine, difference);
    counts(c, machine, difference);
    for (const OneSided& lone : one_sided(c)) {
      if (!looked_at(lone.figure.subject) || damaged(c, lone.figure.column)) continue;
      add(c.after.front(), lone.figure.subject, lone.figure.column, Outcome::refused).reason = lone.reason;
    }
  }

  void time(const MatchedCase& c, Machine machine, const std::string& difference) {
    if (!looked_at(Subject::time) || damaged(c, "time_us")) return;
    const auto not_timed = why_not_timed(c, machine == Machine::same ? "" : difference);
    if (!not_timed) timed_.push_back(timed_finding(c, limits_, report_.findings.size()));
    Finding& f =
        add(c.after.front(), Subject::time, "time_us", not_timed ? not_timed->outcome : Outcome::same);
    if (not_timed) f.reason = not_timed->reason;
  }

  void counts(const MatchedCase& c, Machine machine, const std::string& difference) {
    for (const Count& count : kCounts) {
      if (!looked_at(count.subject) || damaged(c, count.column)) continue;
      const std::optional<CountVerdict> verdict =
          judge_count_of(c, count, limits_, machine == Machine::model ? difference : "");
      if (!verdict) continue;
      Finding& f = add(c.after.front(), count.subject, count.column, verdict->outcome);
      f.before = verdict->before;
      f.after = verdict->after;
      f.change = verdict->change;
      f.reason = verdict->reason;
    }
  }

  const GateOptions& options_;
  const std::vector<RowFile>&baselines_, &news_;
  Limits limits_;
  std::set<std::pair<std::string, std::string>> damaged_;  ///< row and column of cells that say nan or inf
  GateReport report_;
  std::vector<std::string> differences_;
  std::vector<TimedFinding> timed_;
  size_t hints_ = 0;
};

std::string file_names(const std::vector<RowFile>& files) {
  std::string names;
  for (const RowFile& file : files) names += (names.empty() ? "" : ", ") + file.file;
  return names;
}

}  // namespace

GateReport judge_rows(const std::vector<RowFile>& baselines, const std::vector<RowFile>& news,
                      const GateOptions& options) {
  GateReport report = Gate(options, baselines, news).judge();
  report.baseline = file_names(baselines);
  report.current = file_names(news);
  std::vector<const RowFile*> all;
  for (const auto* side : {&baselines, &news}) {
    for (const RowFile& file : *side) all.push_back(&file);
  }
  for (std::string& sentence : unmatched_overrides(options.thresholds, all))
    report.warnings.push_back(std::move(sentence));
  for (const RowFile* file : all) {
    if (file->torn_last_row)
      report.warnings.push_back(fmt::format("{}: its last line was cut off and is left out", file->file));
  }
  return report;
}

ExitCode exit_code(const GateReport& report) {
  const auto any = [&report](auto&& is) {
    return std::any_of(report.findings.begin(), report.findings.end(), is);
  };
  if (any([](const Finding& f) { return f.verification; })) return ExitCode::verification;
  if (any([](const Finding& f) { return f.fails(); })) return ExitCode::regression;
  if (any([](const Finding& f) { return f.refuses(); })) return ExitCode::unavailable;
  return ExitCode::ok;
}

}  // namespace attnprof
