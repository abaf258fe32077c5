// The gate's times: from rows to TimeCases, and from verdicts to findings. Inside src/gate.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "gate/cases.hpp"
#include "gate/gate.hpp"

namespace attnprof {

/// Why the times of a case are not judged.
struct NotTimed {
  Outcome outcome = Outcome::refused;
  std::string reason;
};
/// Nothing when they can be. `machine_difference`: "" for the same machine.
std::optional<NotTimed> why_not_timed(const MatchedCase& c, const std::string& machine_difference);

/// A case whose times are judged, and the finding that waits for the verdict.
struct TimedFinding {
  TimeCase times;
  std::string library_change;  ///< "; cuDNN 9.14.0 -> cuDNN 9.19.0": a usual cause; "" for the same
  size_t finding = 0;          ///< index in GateReport::findings
  Row row;                     ///< of the new build
};
/// Limits as they hold for the case.
TimedFinding timed_finding(const MatchedCase& c, const Limits& limits, size_t finding);

/// Judges them together and writes the verdicts, and how much could be seen, into the report. `families`:
/// what a family that moved together does.
void judge_timed(const std::vector<TimedFinding>& timed, double alpha, Policy families, GateReport& report);

/// "+4.6%", "+0.012%".
std::string signed_percent(double share);

}  // namespace attnprof
