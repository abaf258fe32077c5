// What the gate found, for a person, a pull request, a CI server, GitHub.
#pragma once

#include <string>

#include "gate/gate.hpp"

namespace attnprof {

/// "PASS", "FAIL", "FAIL (wrong result)", "NOT JUDGED": what the exit code says.
std::string verdict_word(const GateReport& report);

/// One line: the verdict, how much was judged, and how small a slow-down would have been seen.
std::string totals_line(const GateReport& report);

/// What a person should see: failures first, then what could not be judged, then warnings; the totals last.
/// Only the totals when all is well. `all` adds improvements and what is the same; without it long lists are
/// cut.
std::string gate_table(const GateReport& report, bool all);

/// Markdown for a pull request or a job summary: verdict, failures and warnings as tables, improvements
/// folded.
std::string gate_markdown(const GateReport& report);

/// JUnit XML: one test case for every case and quantity. What fails is a failure, what could not be judged an
/// error, what there was nothing to judge of is skipped. Valid by the schema that Jenkins publishes
/// (junit-10.xsd).
std::string gate_junit(const GateReport& report);

/// GitHub workflow commands ("::error file=...,line=...::..."), one for each failure or warning. GitHub shows
/// ten of a kind for a step; the tenth then stands for the rest.
std::string gate_annotations(const GateReport& report);

}  // namespace attnprof
