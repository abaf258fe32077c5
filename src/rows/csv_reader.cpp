// The CSV reader: one pass over the text, a state per character class, no locale.
#include <algorithm>
#include <unordered_set>
#include <utility>

#include "core/error.hpp"
#include "core/file_io.hpp"
#include "rows/csv.hpp"

namespace attnprof {

namespace {

/// Splits text into records of cells. Knows quotes and line ends; nothing of headers.
class Splitter {
 public:
  Splitter(std::string_view text, const std::string& file) : text_(text), file_(file) {}

  struct Outcome {
    bool any = false;         ///< a record was there
    bool ended = false;       ///< by a line end; false at the end of the text
    bool open_quote = false;  ///< the text ended inside quotes
  };

  /// Fills `cells` with the next record, skipping blank lines.
  Outcome next(std::vector<std::string>& cells) {
    cells.clear();
    while (at_ < text_.size() && (text_[at_] == '\n' || text_[at_] == '\r')) end_line();
    record_line_ = line_;
    if (at_ >= text_.size()) return {};
    while (true) {
      cells.emplace_back();
      cell_ = cells.size();
      if (!read_cell(cells.back())) return {true, false, true};
      if (at_ >= text_.size()) return {true, false, false};
      if (text_[at_] == ',') {
        ++at_;
        continue;
      }
      end_line();
      return {true, true, false};
    }
  }

  int64_t record_line() const { return record_line_; }
  size_t position() const { return at_; }
  [[noreturn]] void fail(int64_t line, const std::string& what) const {
    throw UsageError(file_ + ":" + std::to_string(line) + ": " + what);
  }

 private:
  void end_line() {
    if (text_[at_] == '\r' && at_ + 1 < text_.size() && text_[at_ + 1] == '\n') ++at_;
    ++at_;
    ++line_;
  }

  /// Reads up to the separator or line end; false when the text ends inside quotes.
  bool read_cell(std::string& cell) {
    if (at_ < text_.size() && text_[at_] == '"') return read_quoted(cell);
    const size_t stop = std::min(text_.find_first_of(",\r\n\"", at_), text_.size());
    if (stop < text_.size() && text_[stop] == '"') {
      fail(line_, "stray quote in cell " + std::to_string(cell_) +
                      ", which does not begin with one; quote the whole cell and double the quotes in it");
    }
    cell.assign(text_.substr(at_, stop - at_));
    at_ = stop;
    return true;
  }

  bool read_quoted(std::string& cell) {
    ++at_;
    while (true) {
      const size_t quote = text_.find('"', at_);
      const std::string_view piece = text_.substr(at_, quote == text_.npos ? text_.npos : quote - at_);
      line_ += std::count(piece.begin(), piece.end(), '\n');
      cell += piece;
      if (quote == text_.npos) {
        at_ = text_.size();
        return false;
      }
      at_ = quote + 1;
      if (at_ >= text_.size() || text_[at_] != '"') break;
      cell += '"';
      ++at_;
    }
    if (at_ < text_.size() && text_[at_] != ',' && text_[at_] != '\r' && text_[at_] != '\n') {
      fail(line_, "text after a closing quote in cell " + std::to_string(cell_) +
                      "; double the quotes inside a quoted cell");
    }
    return true;
  }

  std::string_view text_;
  const std::string& file_;
  size_t at_ = 0;
  size_t cell_ = 0;  ///< of the record, 1-based
  int64_t line_ = 1;
  int64_t record_line_ = 1;
};

/// Files of another kind, told by how they begin.
void require_text(std::string_view text, const std::string& file) {
  using namespace std::string_view_literals;
  constexpr std::pair<std::string_view, const char*> kKinds[] = {
      {"\xFF\xFE"sv, "UTF-16 text; save it as UTF-8"},
      {"\xFE\xFF"sv, "UTF-16 text; save it as UTF-8"},
      {"\0\0\xFE\xFF"sv, "UTF-32 text; save it as UTF-8"},
      {"PK\x03\x04"sv, "a spreadsheet's own format or an archive (xlsx, ods, zip); save it as CSV"},
      {"\xD0\xCF\x11\xE0"sv, "a spreadsheet's own format (xls); save it as CSV"},
      {"\x1F\x8B"sv, "compressed (gzip); unpack it first"},
      {"\x28\xB5\x2F\xFD"sv, "compressed (zstd); unpack it first"},
      {"PAR1"sv, "a Parquet file; save it as CSV"},
  };
  for (const auto& [begin, kind] : kKinds) {
    if (text.substr(0, begin.size()) == begin) throw UsageError(file + ": is " + kind);
  }
}

/// No text holds NUL bytes. They come from UTF-16, and from file systems that lost the end of a file.
void require_no_nul(const std::vector<std::string>& cells, const CsvTable& table, const Splitter& splitter) {
  for (size_t i = 0; i < cells.size(); ++i) {
    if (cells[i].find('\0') == std::string::npos) continue;
    const bool in_header = &cells == &table.header;
    splitter.fail(splitter.record_line(), (in_header ? "a NUL byte in the header"
                                                     : "a NUL byte in column '" + table.header[i] + "'") +
                                              "; the file is UTF-16 (save it as UTF-8) or damaged");
  }
}

/// "sep=," as the first line tells one spreadsheet which separator follows.
bool names_separator(const std::vector<std::string>& cells) {
  return cells.size() == 2 && cells[0] == "sep=" && cells[1].empty();
}

void check_header(const CsvTable& table, const Splitter& splitter) {
  require_no_nul(table.header, table, splitter);
  if (table.header.size() == 1) {
    constexpr std::pair<char, const char*> kSeparators[] = {
        {';', "semicolons"}, {'\t', "tabs"}, {'|', "bars"}};
    for (const auto& [separator, name] : kSeparators) {
      if (table.header[0].find(separator) == std::string::npos) continue;
      splitter.fail(1,
                    std::string("cells are separated by ") + name + "; save it with commas and '.' decimals");
    }
  }
  std::unordered_set<std::string> seen;
  for (const std::string& name : table.header) {
    if (!name.empty() && !seen.insert(name).second)
      splitter.fail(1, "the column '" + name + "' appears twice in the header");
  }
}

/// A quote that a dying run left open swallows at most the rest of its own row. When a line inside it has the
/// commas of a whole row, the quote was opened by a mistake further up, and hiding the rows after it would be
/// wrong.
bool swallows_rows(const std::string& cell, size_t header_size) {
  size_t begin = cell.find('\n');
  while (begin != std::string::npos) {
    const size_t end = cell.find('\n', begin + 1);
    const auto stop = end == std::string::npos ? cell.end() : cell.begin() + static_cast<std::ptrdiff_t>(end);
    const auto commas = std::count(cell.begin() + static_cast<std::ptrdiff_t>(begin), stop, ',');
    if (static_cast<size_t>(commas) + 1 >= header_size) return true;
    begin = end;
  }
  return false;
}

}  // namespace

bool CsvTable::has(std::string_view column) const {
  return std::find(header.begin(), header.end(), column) != header.end();
}

size_t CsvTable::column(std::string_view name) const {
  const auto at = std::find(header.begin(), header.end(), name);
  if (at == header.end()) throw UsageError(file + ": has no column '" + std::string(name) + "'");
  return static_cast<size_t>(at - header.begin());
}

CsvTable parse_csv(std::string_view text, const std::string& file) {
  constexpr std::string_view kBom = "\xEF\xBB\xBF";
  const size_t skipped = text.substr(0, kBom.size()) == kBom ? kBom.size() : 0;
  require_text(text, file);
  CsvTable table;
  table.file = file;
  Splitter splitter(text.substr(skipped), table.file);

  Splitter::Outcome outcome = splitter.next(table.header);
  if (names_separator(table.header)) outcome = splitter.next(table.header);
  if (!outcome.any) throw UsageError(file + ": is empty; a header line was expected");
  if (outcome.open_quote) splitter.fail(1, "a quote in the header is never closed");
  check_header(table, splitter);
  table.torn_last_row = !outcome.ended;
  table.complete_bytes = outcome.ended ? skipped + splitter.position() : 0;

  std::vector<std::string> cells;
  while ((outcome = splitter.next(cells)).any) {
    const int64_t line = splitter.record_line();
    if (outcome.open_quote && swallows_rows(cells.back(), table.header.size())) {
      splitter.fail(line, "a quote opened in this row is never closed");
    }
    if (!outcome.ended) {
      table.torn_last_row = true;  // complete as it may look, its last cell can be cut
      break;
    }
    if (cells.size() != table.header.size()) {
      splitter.fail(line, "has " + std::to_string(cells.size()) + " cells, the header has " +
                              std::to_string(table.header.size()));
    }
    require_no_nul(cells, table, splitter);
    table.complete_bytes = skipped + splitter.position();
    table.rows.push_back(std::move(cells));
    table.row_lines.push_back(line);
  }
  return table;
}

CsvTable read_csv_file(const std::string& path) {
  return parse_csv(read_whole_file(path), path);
}

}  // namespace attnprof
