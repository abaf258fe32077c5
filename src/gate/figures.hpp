// The cells that the gate relies on, and whether a row has them. Inside src/gate.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "gate/cases.hpp"
#include "gate/thresholds.hpp"

namespace attnprof {

/// A column that holds a figure of a row: what it belongs to.
struct Figure {
  std::string_view column;
  Subject subject;
  bool own_rule = false;  ///< a rule of its own says what happens when it is missing
  bool verifies = false;  ///< a result counts as verified by it
};
const std::vector<Figure>& figures();
const Figure* find_figure(std::string_view column);  ///< null for columns that are not figures

/// A figure that one side of a case has, and the other does not.
struct OneSided {
  Figure figure;
  std::string reason;  ///< "no data in the baseline; renew it with --update"
};
/// Those that no other rule of the gate looks at, and counts that the baseline has an empty cell for. What
/// the baseline has no column for was not promised: an older version wrote it.
std::vector<OneSided> one_sided(const MatchedCase& c);

/// Why the new rows lack a figure that the baseline has.
std::string why_lacking(const Row& row);

}  // namespace attnprof
