// The column table in its parts; columns.cpp joins them. Inside src/rows only.
#pragma once

#include <cstdint>
#include <vector>

#include "rows/columns.hpp"

namespace attnprof {

std::vector<Column> case_columns();         ///< what was planned, and how it ended
std::vector<Column> measurement_columns();  ///< times, counters, errors
std::vector<Column> attribution_columns();  ///< against the device's ceilings
std::vector<Column> model_columns();        ///< what theory and the schedule say
std::vector<Column> environment_columns();  ///< where and how it was measured

/// For sizes that do not apply when they are 0 (the tile of an untiled implementation).
inline Cell nonzero_cell(int64_t value) {
  if (value == 0) return std::monostate{};
  return value;
}

}  // namespace attnprof
