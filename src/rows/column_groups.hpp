// The column table in its parts; columns.cpp joins them. Inside src/report only.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "rows/columns.hpp"

namespace attnprof {

std::vector<Column> case_columns();         ///< what was planned, and how it ended
std::vector<Column> measurement_columns();  ///< times, counters, errors
std::vector<Column> attribution_columns();  ///< against the device's ceilings
std::vector<Column> model_columns();        ///< what theory and the schedule say
std::vector<Column> environment_columns();  ///< where and how it was measured

/// An absent value makes an empty cell.
template <typename T>
Cell cell_of(const std::optional<T>& value) {
  if (!value) return std::monostate{};
  return Cell(static_cast<std::conditional_t<std::is_floating_point_v<T>, double, int64_t>>(*value));
}
/// An empty text makes an empty cell.
inline Cell text_cell(std::string_view text) {
  if (text.empty()) return std::monostate{};
  return std::string(text);
}
/// For sizes that do not apply when they are 0 (the tile of an untiled implementation).
inline Cell nonzero_cell(int64_t value) {
  if (value == 0) return std::monostate{};
  return value;
}

}  // namespace attnprof
