// The axes of a set of rows on the terminal: what is the same in all stands once above, the rest become
// columns. Inside src/report.
#pragma once

#include <string>
#include <vector>

#include "core/record.hpp"
#include "rows/grid.hpp"

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

/// Where the HBM bytes came from, when it is the same for all rows that have any: "cupti"; "mixed" when it is
/// not.
std::string common_source(const std::vector<Record>& records);

std::string implementation_text(const Record& r);  ///< "flash2 128x64", "naive"

}  // namespace attnprof
