// The axes of a set of rows on the terminal: what is the same in all stands once above, the rest become
// columns. Inside src/rows and src/compare.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "rows/grid.hpp"
#include "rows/row.hpp"

namespace attnprof {

struct LayoutColumn {
  GridColumn column;
  std::function<std::string(const Row&)> text;     ///< in a cell
  std::function<std::string(const Row&)> heading;  ///< above, when all rows agree; "" leaves it unsaid
};

struct ProblemLayout {
  std::vector<std::string> heading;          ///< lines: device and cache; the common part of the problems
  std::vector<const LayoutColumn*> varying;  ///< in order
};
ProblemLayout lay_out_problems(const std::vector<Row>& rows);

}  // namespace attnprof
