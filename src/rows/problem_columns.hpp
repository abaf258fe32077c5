// The axes of a set of rows on the terminal: what is the same in all stands once above, the rest become
// columns. Inside src/rows and src/compare.
#pragma once

#include <string>
#include <vector>

#include "core/record.hpp"
#include "rows/grid.hpp"
#include "rows/row.hpp"

namespace attnprof {

struct ProblemAxis {
  GridColumn column;
  std::string (*text)(const Record&);    ///< in a cell
  std::string (*common)(const Record&);  ///< in the heading; "" leaves it unsaid (a default)
};

struct ProblemLayout {
  std::vector<std::string> heading;         ///< lines: device and cache; the common part of the problems
  std::vector<const ProblemAxis*> varying;  ///< in order
};
ProblemLayout lay_out_problems(const std::vector<Record>& records);

/// As much of a record as says which case the row is about: what the axes above are laid out from.
Record shape_of(const Row& row);

}  // namespace attnprof
