// Several files of rows as the one file that a single run would have written.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "rows/csv.hpp"

namespace attnprof {

struct MergedRows {
  std::vector<std::string> header;  ///< that of the first file, then columns that only later files have
  std::vector<std::vector<std::string>> rows;
  int64_t repeated = 0;  ///< rows that were there more than once, cell for cell
  std::vector<std::string>
      missing;  ///< one sentence for each plan of which shards, or rows of shards, are missing
  std::vector<std::string>
      unfinished;  ///< the same for plans that were not dealt out, but not measured in full
};

/// A file to be merged ("-": standard input). Without a whole header line it has no column and no row. Throws
/// UsageError for what is not a CSV of attnprof, naming file, line and column: a key column is missing,
/// another schema, a plan_row that is no place in its plan.
CsvTable read_rows_to_merge(const std::string& name);

/// Puts rows into the planned order: plans in order of appearance, in each by `plan_row`; rows without a plan
/// (of peers measured by other programs) come last, as the files have them. A row is identified by its key
/// columns and its device (RowDevice): rows of several devices all stay. Throws UsageError naming both files
/// and lines when rows of one identity differ in a cell, and when files disagree about the size of a plan.
MergedRows merge_rows(const std::vector<CsvTable>& tables);

/// Writes the whole file; "-" is stdout. Throws UsageError.
void write_rows(const MergedRows& merged, const std::string& path);

}  // namespace attnprof
