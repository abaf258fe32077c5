#include "gate/gate.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/stats.hpp"
#include "gate/cases.hpp"
#include "gate/gate_times.hpp"
#include "rows/derived.hpp"
#include "rows/human.hpp"
#include "rows/matching.hpp"

namespace attnprof {

namespace {

/// What another process and the counters themselves add to a measured count of bytes: 74 and 166 kB beyond
/// the model were seen in launches that move 2.4 GB (docs/results/h200.csv).
constexpr double kMeasuredSlackBytes = 256 * 1024;
constexpr size_t kHintsAtMost = 20;  ///< looking for the nearest row of each of a million would take long

struct Quantity {
  std::string_view column;
  Subject subject;
  bool measured;  ///< by counters, on a GPU; where bytes are counted they are exact
};
constexpr Quantity kCounts[] = {
    {"hbm_read_bytes", Subject::bytes, true},       {"hbm_write_bytes", Subject::bytes, true},
    {"tensor_flops", Subject::flops, true},         {"fp32_flops", Subject::flops, true},
    {"executed_flops", Subject::flops, false},      {"exp_count", Subject::flops, false},
    {"workspace_bytes", Subject::workspace, false},
};

std::string percent(double share) {
  return three_digits(100 * share) + "%";
}

/// Values of a column on one side; empty when any row lacks it.
std::vector<double> values(const std::vector<Row>& rows, std::string_view column) {
  std::vector<double> result;
  for (const Row& row : rows) {
    const auto value = row.number(column);
    if (!value) return {};
    result.push_back(*value);
  }
  return result;
}

/// The same machine, but for what a time depends on.
enum class Machine { same, board_or_driver, model };

Machine machines_of(const Row& a, const Row& b) {
  if (a.text("device_name") != b.text("device_name")) return Machine::model;
  return machine_difference(a, b).empty() ? Machine::same : Machine::board_or_driver;
}

class Gate {
 public:
  explicit Gate(const GateOptions& options) : options_(options) {}

  GateReport judge(const Matching& matching) {
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
    judge_timed(timed_, options_.alpha, report_);
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

  /// A case without a baseline still has a right answer; false when one of its rows does not give it.
  bool right(const std::vector<Row>& repeats) {
    limits_ = options_.thresholds.of(repeats.front());
    const auto bad = std::find_if(repeats.begin(), repeats.end(), wrong);
    if (bad == repeats.end()) return true;
    Finding& f = add(*bad, Subject::status, "status", Outcome::regression);
    f.verification = true;
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
      if (is_wrong || (was_good && !is_good)) outcome = Outcome::regression;
      if (!was_good && is_good) outcome = Outcome::improvement;
      Finding& f = add(new_row, Subject::status, "status", outcome);
      f.verification = is_wrong;
      f.before = to_string(old_row.status());
      f.after = to_string(new_row.status());
      if (!is_good) f.reason = new_row.ok() ? new_row.why_unverified() : std::string(new_row.text("message"));
    }
    return was_good && is_good;
  }

  void both(const MatchedCase& c) {
    limits_ = options_.thresholds.of(c.after.front());
    if (!statuses(c)) return;
    Machine machine = machines_of(c.before.front(), c.after.front());
    const std::string difference = machine_difference(c.before.front(), c.after.front());
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
    for (const Quantity& quantity : kCounts) count(c, quantity, machine, difference);
  }

  void time(const MatchedCase& c, Machine machine, const std::string& difference) {
    if (!looked_at(Subject::time)) return;
    const auto not_timed = why_not_timed(c, machine == Machine::same ? "" : difference);
    if (!not_timed) timed_.push_back(timed_finding(c, limits_, report_.findings.size()));
    Finding& f =
        add(c.after.front(), Subject::time, "time_us", not_timed ? not_timed->outcome : Outcome::same);
    if (not_timed) f.reason = not_timed->reason;
  }

  void count(const MatchedCase& c, const Quantity& quantity, Machine machine, const std::string& difference) {
    if (!looked_at(quantity.subject)) return;
    const std::vector<double> before = values(c.before, quantity.column),
                              after = values(c.after, quantity.column);
    if (before.empty()) return;  // nothing was promised
    const Row& row = c.after.front();
    const bool bytes = quantity.subject == Subject::bytes;
    const std::string_view source = c.before.front().text("bytes_source");
    const bool measured = quantity.measured && !(bytes && source == "counted");
    const auto from_cache = [](const Row& r) { return served_by_cache(r) == true; };
    const auto other = [&](const Row& r) { return bytes && r.text("bytes_source") != source; };
    std::string refusal;
    if (after.empty()) {
      const std::string_view why = row.text("counters_status");
      refusal = why.empty() || why == "ok" ? "the new row lacks it"
                                           : fmt::format("the new row lacks it (counters: {})", why);
    } else if (std::any_of(c.before.begin(), c.before.end(), other) ||
               std::any_of(c.after.begin(), c.after.end(), other)) {
      refusal = "counted bytes cannot be compared with measured ones";
    } else if (measured && machine == Machine::model) {
      refusal = difference;
    } else if (bytes && std::any_of(c.after.begin(), c.after.end(), from_cache) &&
               std::none_of(c.before.begin(), c.before.end(), from_cache)) {
      refusal = "less than half of the compulsory bytes: a cache served the new row, or its count is wrong";
    } else if (quantity.subject == Subject::flops && *std::min_element(after.begin(), after.end()) == 0 &&
               *std::min_element(before.begin(), before.end()) > 0) {
      refusal = "0 in the new row: nothing was counted";
    }
    if (!refusal.empty()) {
      add(row, quantity.subject, quantity.column, Outcome::refused).reason = refusal;
      return;
    }
    CountRule rule;
    if (measured) rule.threshold = (bytes ? limits_.bytes_pct : limits_.flops_pct) / 100;
    if (quantity.subject == Subject::workspace) rule.threshold = limits_.workspace_pct / 100;
    if (measured && bytes) rule.slack = kMeasuredSlackBytes;
    const CountChange change = judge_count(before, after, rule);
    Finding& f = add(row, quantity.subject, quantity.column,
                     change == CountChange::more    ? Outcome::regression
                     : change == CountChange::fewer ? Outcome::improvement
                                                    : Outcome::same);
    describe(f, before, after, rule, measured);
  }

  static void describe(Finding& f, const std::vector<double>& before, const std::vector<double>& after,
                       const CountRule& rule, bool measured) {
    const double from = measured ? stats::median(before) : *std::max_element(before.begin(), before.end());
    const double to = measured ? stats::median(after) : *std::max_element(after.begin(), after.end());
    f.before = fmt::format("{:.0f}", from);
    f.after = fmt::format("{:.0f}", to);
    f.change = measured && from > 0 ? signed_percent(to / from - 1) : fmt::format("{:+.0f}", to - from);
    f.reason = rule.threshold > 0 ? fmt::format("counts from {} on", percent(rule.threshold)) : "exact";
  }

  const GateOptions& options_;
  Limits limits_;
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
  GateReport report = Gate(options).judge(match_cases(baselines, news));
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
