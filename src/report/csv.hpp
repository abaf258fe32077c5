// RFC 4180 CSV: '.' decimals in any locale, LF line ends, no BOM; reads what spreadsheets write.
#pragma once

#include <cstdint>
#include <istream>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "core/record.hpp"
#include "report/columns.hpp"

namespace attnprof {

std::string csv_field(std::string_view text);  ///< quoted when it holds comma, quote, CR or LF
std::string cell_text(const Cell& cell);       ///< shortest text that reads back to the same value; "" when missing

/// A parsed file. Cells are text; columns are found by name.
struct CsvTable {
  std::string file;  ///< for messages
  std::vector<std::string> header;
  std::vector<std::vector<std::string>> rows;
  std::vector<int64_t> row_lines;  ///< line where each row starts, 1-based
  bool torn_last_row = false;      ///< the last line has no newline and too few cells: a run that died mid-row

  bool has(std::string_view column) const;
  /// Throws UsageError naming file and column when it is absent.
  size_t column(std::string_view name) const;
};

/// Accepts BOM, CRLF, missing final newline, blank last line, quoted fields with newlines, reordered and unknown columns.
/// Throws UsageError "FILE:LINE: ..." for a wrong cell count (except a torn last row), a duplicate header, a stray quote.
CsvTable read_csv(std::istream& in, const std::string& file);
CsvTable read_csv_file(const std::string& path);  ///< UsageError for a missing file, a directory, no permission

/// Where rows go. write() flushes the row before it returns and throws UsageError naming the path and cause (ENOSPC, EPIPE).
class Sink {
 public:
  virtual ~Sink() = default;
  virtual void write(const Record& record) = 0;
};
/// `path` "-" is stdout. Opened, and its header written, at once, so that a bad path fails before anything is measured.
/// append: continue an existing file (a torn last row is cut off first).
std::unique_ptr<Sink> open_csv(const std::string& path, bool append);
std::unique_ptr<Sink> open_json_lines(const std::string& path, bool append);

/// Key of a row: every is_key column, '\x1f'-joined. Same for a Record and for the row read back.
std::string record_key(const Record& record);
std::string row_key(const CsvTable& table, size_t row);

}  // namespace attnprof
