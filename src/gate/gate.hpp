// The gate: rows of a baseline against rows of a new build, each difference judged by its own rule.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/error.hpp"
#include "gate/thresholds.hpp"

namespace attnprof {

enum class Outcome {
  same,
  regression,
  improvement,
  unjudged,  ///< there is nothing to compare; the reason says what
  refused,   ///< it should have been judged and cannot be: exit code 3
};

/// One quantity of one case.
struct Finding {
  Subject subject = Subject::status;
  std::string quantity;  ///< the column, e.g. "hbm_read_bytes"
  std::string label;     ///< of the case
  std::string file;      ///< where the row is: in the new file, or in the baseline when it is missing there
  int64_t line = 0;
  Outcome outcome = Outcome::same;
  Policy policy = Policy::fail;
  bool verification = false;  ///< a result is wrong, whatever the policy
  std::string before, after;  ///< for people: "564 us", "36700160"
  std::string change;         ///< "+4.6%", "+1"
  std::string reason;         ///< "limit 2%", "rel_err 0.2 above tolerance 0.01"

  bool fails() const { return outcome == Outcome::regression && policy == Policy::fail; }
  bool refuses() const { return outcome == Outcome::refused && policy == Policy::fail; }
};

struct GateReport {
  std::string baseline, current;  ///< files, as given
  size_t cases = 0;               ///< in baseline and new file both
  std::vector<Finding> findings;  ///< every quantity looked at, in the order of the baseline; then new cases
  std::vector<std::string> warnings;

  // Times, when any were judged.
  size_t times = 0;
  NoiseSource noise_source = NoiseSource::assumed;
  double noise = 0;  ///< median standard deviation of one run, a share
  // Slow-down, as a share, from which on a case is called slower: in half of the cases, and in every one.
  double detectable_median = 0;
  double detectable_worst = 0;
  // How far the times moved, as shares.
  double change_median = 0;
  double change_worst = 0;
};

struct GateOptions {
  Thresholds thresholds;
  double alpha = kDefaultAlpha;
  bool allow_device_mismatch = false;
};

/// Judges. Several files on a side are repeats of one build. Throws UsageError when repeats come from
/// different devices, UnavailableError when the two sides were measured on different kinds of device, so that
/// no case is in both.
GateReport judge_rows(const std::vector<RowFile>& baselines, const std::vector<RowFile>& news,
                      const GateOptions& options);

/// 4 when a result failed verification; else 1 when anything fails; else 3 when something could not be judged
/// that should have been; else 0. A wrong result outweighs a slow one, and a regression that was found
/// outweighs a question left open.
ExitCode exit_code(const GateReport& report);

}  // namespace attnprof
