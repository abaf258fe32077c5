#include "rows/table_row.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <limits>

#include "core/error.hpp"

namespace attnprof {

std::string TableRow::where() const {
  return fmt::format("{}:{}", table_->file, line());
}

const std::string& TableRow::optional_text(std::string_view column) const {
  static const std::string none;
  const std::vector<std::string>& names = table_->header;
  const auto at = std::find(names.begin(), names.end(), column);
  return at == names.end() ? none : table_->rows[row_][static_cast<size_t>(at - names.begin())];
}

int64_t TableRow::whole(std::string_view column, int64_t least, int64_t most) const {
  const std::string& cell = optional_text(column);
  int64_t value = 0;
  const auto [end, error] = std::from_chars(cell.data(), cell.data() + cell.size(), value);
  if (error == std::errc() && end == cell.data() + cell.size() && value >= least && value <= most)
    return value;
  if (most == std::numeric_limits<int64_t>::max())
    refuse(column, fmt::format("is not a whole number from {} on", least));
  refuse(column, fmt::format("is not a whole number in {}..{}", least, most));
}

std::optional<double> TableRow::positive(std::string_view column) const {
  const std::string& cell = text(column);
  if (cell.empty()) return std::nullopt;
  const auto value = cell_number(cell);
  if (!value || *value <= 0) refuse(column, "is not a positive number, or empty");
  return value;
}

void TableRow::refuse(std::string_view column, std::string_view what) const {
  throw UsageError(fmt::format("{}: column '{}': '{}' {}", where(), column, optional_text(column), what));
}

}  // namespace attnprof
