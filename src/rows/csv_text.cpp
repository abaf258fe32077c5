// Cells as fields of a file, and the keys that they make.
#include <algorithm>
#include <unordered_set>

#include "rows/cell_rules.hpp"
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

std::vector<std::string> joined_header(const std::vector<std::vector<std::string>>& headers) {
  std::vector<std::string> joined;
  std::unordered_set<std::string_view> have;
  for (const std::vector<std::string>& header : headers) {
    for (const std::string& name : header) {
      if (have.insert(name).second) joined.push_back(name);
    }
  }
  return joined;
}

namespace {

/// A key column that files written before it existed do not have: absent means empty.
bool may_be_absent(std::string_view column) {
  const auto& required = required_columns();
  return std::find(required.begin(), required.end(), column) == required.end();
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
