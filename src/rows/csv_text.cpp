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

std::string csv_line(const std::vector<std::string>& cells) {
  std::string line;
  for (const std::string& cell : cells) line += csv_field(cell) + ',';
  if (!line.empty()) line.back() = '\n';
  return line;
}

std::string cell_text(const Cell& cell) {
  char digits[32];
  if (const auto* text = std::get_if<std::string>(&cell)) return *text;
  if (const auto* whole = std::get_if<int64_t>(&cell)) {
    return {digits, std::to_chars(digits, digits + sizeof digits, *whole).ptr};
  }
  if (const auto* real = std::get_if<double>(&cell); real && std::isfinite(*real)) {
    return {digits, std::to_chars(digits, digits + sizeof digits, *real).ptr};
  }
  return {};
}

std::optional<double> cell_number(std::string_view text) {
  double value = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (text.empty() || error != std::errc{} || stop != end || !std::isfinite(value)) return std::nullopt;
  return value;
}

std::string key_part(std::string_view cell) {
  if (cell.find('.') == std::string_view::npos) return std::string(cell);
  const auto value = cell_number(cell);
  if (!value) return std::string(cell);
  char digits[64];
  return {digits, std::to_chars(digits, digits + sizeof digits, *value, std::chars_format::general, 12).ptr};
}

namespace {

/// A key column that files written before it existed do not have: absent means empty.
bool may_be_absent(std::string_view column) {
  return column == "kernel" || column == "rest";
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
  for (const std::string_view name : key_columns())
    positions.push_back(may_be_absent(name) && !table.has(name) ? kAbsent : table.column(name));
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
