#include "rows/existing_csv.hpp"

#include "core/error.hpp"
#include "core/file_io.hpp"
#include "rows/columns.hpp"

namespace attnprof {

namespace {

bool starts_our_header(std::string_view text) {
  const std::string header = header_line();
  return std::string_view(header).substr(0, text.size()) == text;
}

}  // namespace

std::string header_line() {
  return csv_line(column_names());
}

std::optional<CsvTable> parse_finished_rows(const std::string& text, const std::string& path) {
  if (starts_our_header(text) && (text.empty() || text.back() != '\n')) return std::nullopt;
  return parse_csv(text, path);
}

std::optional<CsvTable> read_own_csv(const std::string& path) {
  const auto text = read_existing(path);
  if (!text) return std::nullopt;
  const auto found = parse_finished_rows(*text, path);
  if (!found) return std::nullopt;
  const CsvTable& table = *found;
  for (const Column& column : columns()) {
    if (table.has(column.name)) continue;
    throw UsageError("cannot continue '" + path + "': it has no column '" + std::string(column.name) +
                     "', so it was not written by this version; choose a new file");
  }
  if (table.complete_bytes == 0) return std::nullopt;  // a header without line end, and no row
  const size_t schema = table.column("schema");
  const std::string expected = std::to_string(kSchemaVersion);
  for (size_t row = 0; row < table.rows.size(); ++row) {
    if (table.rows[row][schema] == expected) continue;
    throw UsageError("cannot continue '" + path + "': line " + std::to_string(table.row_lines[row]) +
                     " has '" + table.rows[row][schema] + "' in column 'schema', this version writes " +
                     expected + "; choose a new file");
  }
  return found;
}

}  // namespace attnprof
