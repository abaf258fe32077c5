// RFC 4180 CSV: '.' decimals in any locale, LF line ends, no BOM; reads what spreadsheets write.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/record.hpp"
#include "rows/columns.hpp"
#include "rows/row.hpp"

namespace attnprof {

std::string csv_field(std::string_view text);                 ///< quoted when it holds comma, quote, CR or LF
std::string csv_line(const std::vector<std::string>& cells);  ///< with its line end
/// Columns of several files: those of the first, then those that only later ones have.
std::vector<std::string> joined_header(const std::vector<std::vector<std::string>>& headers);

/// A parsed file. Cells are text; columns are found by name.
struct CsvTable {
  std::string file;  ///< for messages
  std::vector<std::string> header;
  std::vector<std::vector<std::string>> rows;
  std::vector<int64_t> row_lines;  ///< line where each row starts, 1-based
  bool torn_last_row = false;  ///< the last line has no line end, so it may be cut anywhere, also inside a
                               ///< number. It is not among the rows.
  size_t complete_bytes = 0;   ///< length of the file up to and including the last line end outside quotes

  bool has(std::string_view column) const;
  /// Throws UsageError naming file and column when it is absent.
  size_t column(std::string_view name) const;
};

/// Accepts BOM, CRLF, blank last line, quoted fields with newlines, reordered and unknown columns, a first
/// line "sep=,"; leaves out a last line without line end. Throws UsageError "FILE:LINE: ..." for a wrong cell
/// count, a duplicate header, a stray quote, a NUL byte, a separator other than the comma, and "FILE: ..."
/// for an empty file and for what is no text in UTF-8 (UTF-16, spreadsheets, compressed files).
CsvTable parse_csv(std::string_view text, const std::string& file);
CsvTable read_csv_file(
    const std::string& path);  ///< UsageError for a missing file, a directory, no permission

/// Where rows go. write() hands the whole row to the system before it returns and throws UsageError naming
/// the path and the cause (ENOSPC, EPIPE); what had been written of that row is then taken back where the
/// file allows it.
class Sink {
 public:
  virtual ~Sink() = default;
  virtual void write(const Row& row) = 0;
};
/// `path` "-" is stdout. Opened, and its header written, at once, so that a bad path fails before anything is
/// measured. append: continue an existing file in its own column order. A last line without line end is cut
/// off first: it may be torn anywhere. Throws UsageError naming the column when the file lacks one of ours or
/// holds another schema, and when another run is writing the file.
std::unique_ptr<Sink> open_csv(const std::string& path, bool append);
std::unique_ptr<Sink> open_json_lines(const std::string& path);
/// The text of one JSON Lines row, without line end: same names as the CSV, numbers as numbers, null when
/// missing, bytes that are not UTF-8 replaced by U+FFFD.
std::string json_row(const Row& row);
/// Length of the UTF-8 sequence that begins at `at`, 0 when there is none (Unicode 15, table 3-7).
size_t utf8_length(std::string_view text, size_t at);
/// A JSON string with its quotes; bytes that are not UTF-8 are replaced by U+FFFD.
std::string json_string(std::string_view text);
std::string json_value(const Cell& cell);  ///< null when missing
/// A cell of the column `name` as JSON: a number where this version knows that the column holds numbers, null
/// when it is empty.
std::string json_cell(std::string_view name, std::string_view cell);
/// A line of JSON: as many cells as names, each by json_cell.
std::string json_object(const std::vector<std::string>& names, const std::vector<std::string>& cells);

/// Key of a row: every is_key column, '\x1f'-joined. Same for a Record and for the row read back, also after
/// a spreadsheet rewrote its numbers (key_part).
std::string record_key(const Record& record);
std::string row_key(const CsvTable& table, size_t row);
/// The same for many rows: key_positions throws UsageError naming the first key column that the table lacks.
std::vector<size_t> key_positions(const CsvTable& table);
std::string row_key(const CsvTable& table, size_t row, const std::vector<size_t>& positions);

}  // namespace attnprof
