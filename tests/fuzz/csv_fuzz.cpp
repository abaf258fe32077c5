// The CSV readers on any bytes: a UsageError or a table that keeps its promises, never anything else.
#include <cstdlib>
#include <string>
#include <vector>

#include "core/error.hpp"
#include "rows/csv.hpp"
#include "rows/derived.hpp"
#include "rows/existing_csv.hpp"
#include "rows/merge.hpp"
#include "rows/rows.hpp"

using namespace attnprof;

namespace {

void require(bool holds) {
  if (!holds) std::abort();
}

/// With a column "=" before the others: a first cell may look like another kind of file, and a line of one
/// empty cell is a blank line, which is no row.
std::string written(const CsvTable& table) {
  std::string text;
  const auto add = [&text](const std::vector<std::string>& cells) {
    text += '=';
    for (const std::string& cell : cells) text += ',' + csv_field(cell);
    text += '\n';
  };
  add(table.header);
  for (const auto& row : table.rows) add(row);
  return text;
}

void check_table(const CsvTable& table, const std::string& text) {
  require(table.rows.size() == table.row_lines.size());
  require(table.complete_bytes <= text.size());
  int64_t line = 1;
  for (size_t row = 0; row < table.rows.size(); ++row) {
    require(table.rows[row].size() == table.header.size());
    require(table.row_lines[row] > line);
    line = table.row_lines[row];
    for (const std::string& cell : table.rows[row]) (void)cell_number(cell);
  }
  // What is said to be whole reads by itself, to the same rows.
  if (table.complete_bytes > 0) {
    const CsvTable whole = parse_csv(text.substr(0, table.complete_bytes), "whole.csv");
    require(!whole.torn_last_row && whole.rows == table.rows);
  }
  // Written again it reads as the same table.
  if (!table.has("=")) {
    CsvTable again = parse_csv(written(table), "again.csv");
    again.header.erase(again.header.begin());
    for (auto& row : again.rows) row.erase(row.begin());
    require(again.header == table.header && again.rows == table.rows);
  }
}

template <class Action>
void attempt(Action action) {
  try {
    action();
  } catch (const UsageError& error) {
    const std::string text = error.what();
    require(!text.empty());
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  CsvTable table;
  bool read = false;
  attempt([&] {
    table = parse_csv(text, "f.csv");
    read = true;
  });
  if (read) check_table(table, text);
  attempt([&] { parse_finished_rows(text, "f.csv"); });
  if (!read) return 0;
  for (const Duplicates duplicates : {Duplicates::refuse, Duplicates::median, Duplicates::keep}) {
    attempt([&] {
      for (const Row& row : rows_of(table, duplicates).rows) {
        require(row.ok() || !row.verified());
        const auto time = resolved_time_us(row);
        require(!time || (*time > 0 && row.ok()));
        (void)hbm_bytes(row);
        (void)attribution(row);
      }
    });
  }
  attempt([&] {
    const MergedRows merged = merge_rows({table, table});
    require(merged.rows.size() <= table.rows.size());
  });
  return 0;
}
