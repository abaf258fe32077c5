// What `attnprof check` lets pass: limits and policies, for all cases or for some of them.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "gate/judge.hpp"
#include "rows/rows.hpp"

namespace attnprof {

/// What is compared with the baseline, each with a policy of its own.
enum class Subject { time, bytes, flops, workspace, status, missing, added, family };
constexpr std::array kSubjects{Subject::time,   Subject::bytes,   Subject::flops, Subject::workspace,
                               Subject::status, Subject::missing, Subject::added, Subject::family};
/// What a row has a figure of; the others are about cases.
constexpr bool is_quantity(Subject subject) {
  return subject <= Subject::status;
}
std::string_view to_string(Subject subject);  ///< "time", ..., "missing", "new", "family"
/// Throws UsageError naming the subjects.
Subject parse_subject(std::string_view text);

/// What a regression of a subject does.
enum class Policy {
  fail,    ///< the gate fails
  warn,    ///< it is reported, the gate holds
  ignore,  ///< it is not looked at
};
std::string_view to_string(Policy policy);

/// Limits of one case. Percentages as typed.
struct Limits {
  /// The largest that still finds a slow-down of 3% in 19 of 20 cases, at the noise of an H200 that does not
  /// throttle: a smaller one would find no more, since noise decides there. tests/gate_power_test.cpp has the
  /// figures.
  double time_pct = 2;
  /// Standard deviation between runs that is assumed at least: 0.15% was seen on an H200 that does not
  /// throttle (docs/results). Of a CPU, whose other work comes and goes, it is 2%.
  std::optional<double> noise_pct{};
  double bytes_pct = 1;      ///< of measured bytes; counted ones are exact
  double flops_pct = 1;      ///< of measured FLOPs; counted and modelled ones are exact
  double workspace_pct = 0;  ///< exact
  std::array<Policy, kSubjects.size()> policy{Policy::fail, Policy::fail, Policy::fail, Policy::fail,
                                              Policy::fail, Policy::fail, Policy::warn, Policy::warn};
  Policy& of(Subject s) { return policy[static_cast<size_t>(s)]; }
  Policy of(Subject s) const { return policy[static_cast<size_t>(s)]; }
};

/// What a table of limits says, in a file or on the command line: only what is given.
struct LimitChanges {
  std::optional<double> time_pct, noise_pct, bytes_pct, flops_pct, workspace_pct;
  std::array<std::optional<Policy>, kSubjects.size()> policy{};
  void apply_to(Limits& limits) const;
};

/// One axis of an override: what a cell of the column may hold.
struct AxisMatch {
  struct Range {
    double first = 0, last = 0;  ///< inclusive
  };
  std::string column;
  std::vector<std::string> words;  ///< one of these texts
  std::vector<Range> ranges;       ///< or a number in one of these
  std::string typed{};             ///< as the file has it, for messages
  bool matches(const Row& row) const;
};

/// Limits for the cases that match every axis.
struct Override {
  std::vector<AxisMatch> axes;
  LimitChanges changes;
  std::string where{};  ///< "FILE:LINE:COLUMN" of its [[override]]
  bool matches(const Row& row) const;
};

/// All limits. For a case: the defaults, then the file's, then the command line's, then every matching
/// override in the order of the file, and last the policies of the command line, which hold whatever a file
/// says.
struct Thresholds {
  Limits global;
  std::vector<Override> overrides;
  LimitChanges final_word;
  std::optional<double> alpha;
  Limits of(const Row& row) const;
  Limits of_all() const;  ///< for what is judged over the cases together
};

/// A sentence for each override that matches no row of `files`: it is there for a case, so its axes are
/// mistyped or the case is gone. "t.toml:7:1: this [[override]] matches no row: none has impl 'flahs3'".
std::vector<std::string> unmatched_overrides(const Thresholds& thresholds,
                                             const std::vector<const RowFile*>& files);

/// Reads a TOML file: keys `time_pct`, `noise_pct`, `bytes_pct`, `flops_pct`, `workspace_pct`, `alpha`, and
/// each subject's name with a policy ("fail", "warn", "ignore"); tables `[[override]]` with axis columns as
/// keys (a word, a number, a list, or an inclusive range such as "512:4k" or "8k:") and any of those but
/// alpha. Throws UsageError "FILE:LINE:COLUMN: key 'x': ..." for what is unknown (naming the nearest key that
/// is known), of the wrong type, or out of range.
Thresholds read_thresholds(const std::string& path);
Thresholds parse_thresholds(std::string_view text, const std::string& file);

}  // namespace attnprof
