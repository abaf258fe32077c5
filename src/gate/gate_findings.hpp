// The findings of a gate by what they mean to the reader. Inside src/gate.
#pragma once

#include <vector>

#include "gate/gate.hpp"

namespace attnprof {

/// Each finding is in exactly one list; pointers into the report.
struct SortedFindings {
  std::vector<const Finding*> wrong, failures, refused, warned;
  std::vector<const Finding*> clocked;  ///< slower, but so was the clock
  std::vector<const Finding*> better, unjudged, same;
};

inline SortedFindings sort_findings(const GateReport& report) {
  SortedFindings s;
  for (const Finding& f : report.findings) {
    const auto list = [&]() -> std::vector<const Finding*>& {
      if (f.verification) return s.wrong;
      switch (f.outcome) {
        case Outcome::regression:
          return f.policy == Policy::fail ? s.failures : s.warned;
        case Outcome::refused:
          return f.policy == Policy::fail ? s.refused : s.unjudged;
        case Outcome::improvement:
          return s.better;
        case Outcome::unjudged:
          return f.change.empty() ? s.unjudged : s.clocked;
        case Outcome::same:
          break;
      }
      return s.same;
    };
    list().push_back(&f);
  }
  return s;
}

}  // namespace attnprof
