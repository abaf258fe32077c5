// One row of a parsed CSV, cell by cell, before it is known what the file holds.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "rows/csv.hpp"

namespace attnprof {

/// A view into a table; every complaint is a UsageError "FILE:LINE: column 'x': 'cell' ...".
class TableRow {
 public:
  TableRow(const CsvTable& table, size_t row) : table_(&table), row_(row) {}

  int64_t line() const { return table_->row_lines[row_]; }
  std::string where() const;  ///< "FILE:LINE"

  /// Of a column that must be there.
  const std::string& text(std::string_view column) const {
    return table_->rows[row_][table_->column(column)];
  }
  /// Of one that may be missing: "".
  const std::string& optional_text(std::string_view column) const;
  int64_t whole(std::string_view column, int64_t least, int64_t most) const;
  /// Nothing when the cell is empty.
  std::optional<double> positive(std::string_view column) const;

  /// `what` goes on after the cell: "is not cpu or gpu".
  [[noreturn]] void refuse(std::string_view column, std::string_view what) const;

 private:
  const CsvTable* table_;
  size_t row_;
};

}  // namespace attnprof
