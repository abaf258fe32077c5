// Cells as text and back. Only std::to_chars and std::from_chars touch numbers: no locale can reach them.
#include <charconv>
#include <cmath>

#include "rows/csv.hpp"

namespace attnprof {

std::string csv_field(std::string_view text) {
  if (text.find_first_of(",\"\r\n") == std::string_view::npos) return std::string(text);
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"') quoted += '"';
    quoted += c;
  }
  return quoted + '"';
}

namespace {

/// A key column that files written before it existed do not have: absent means empty.
bool may_be_absent(const Column& column) {
  return column.name == "kernel" || column.name == "rest";
}
constexpr size_t kAbsent = static_cast<size_t>(-1);

}  // namespace

std::string record_key(const Record& record) {
  std::string key;
  for (const Column& column : columns()) {
    if (column.is_key) key += key_part(cell_text(column.get(record))) + '\x1f';
  }
  return key;
}

std::vector<size_t> key_positions(const CsvTable& table) {
  std::vector<size_t> positions;
  for (const Column& column : columns()) {
    if (!column.is_key) continue;
    const bool absent = may_be_absent(column) && !table.has(column.name);
    positions.push_back(absent ? kAbsent : table.column(column.name));
  }
  return positions;
}

std::string row_key(const CsvTable& table, size_t row, const std::vector<size_t>& positions) {
  std::string key;
  for (const size_t position : positions) {
    if (position != kAbsent) key += key_part(table.rows.at(row).at(position));
    key += '\x1f';
  }
  return key;
}

std::string row_key(const CsvTable& table, size_t row) {
  return row_key(table, row, key_positions(table));
}

}  // namespace attnprof
