// Rows of a CSV, typed by column name and checked: what compare, check and report read.
#pragma once

#include <string>
#include <vector>

#include "rows/csv.hpp"
#include "rows/row.hpp"

namespace attnprof {

/// What rows with one key mean.
enum class Duplicates {
  refuse,  ///< an error that names both lines
  median,  ///< repeats: the row with the median time stands for them (of an even number, the slower of the
           ///< two in the middle); a repeat that is not verified comes before those that are
  keep,    ///< all of them
};

/// A figure of a row of status ok that says "nan" or "inf". It reads as empty, but it is not: something was
/// computed, and is wrong.
struct NotANumber {
  int64_t line = 0;  ///< of the row
  std::string column, cell;
};

struct RowFile {
  std::string file;
  std::vector<std::string> header;
  std::vector<Row> rows;       ///< in the order of the file; with Duplicates::median, of first appearance
  size_t repeats = 0;          ///< rows that Duplicates::median left out
  bool torn_last_row = false;  ///< the last line may be cut and is not among the rows: worth a warning
  std::vector<NotANumber> not_numbers{};  ///< worth a warning, too; `check` refuses them
};

/// Checks every cell of the columns known to this version; others are kept as text, and what says nan or inf
/// reads as empty. Throws UsageError "FILE:LINE: column 'x': ..." for what cannot be right: a key column that
/// is missing, no schema or another, no rows, a second header, text in a numeric column, a time that is zero
/// or negative, an interval that does not hold its median, negative bytes or FLOPs, figures that no machine
/// reaches, a time of no samples, a result that is ok with no row checked, sizes below 1, flags (causal, ...)
/// other than 0 and 1, words that no version writes.
RowFile rows_of(CsvTable table, Duplicates duplicates = Duplicates::refuse);
/// The same from a file; `path` "-" is standard input.
RowFile read_rows(const std::string& path, Duplicates duplicates = Duplicates::refuse);

/// Rows just measured, as if one file held them; every row is kept.
RowFile as_file(std::vector<Row> rows);

/// Those that the file holds, each once, in its order.
std::vector<std::string> implementations(const RowFile& file);

}  // namespace attnprof
