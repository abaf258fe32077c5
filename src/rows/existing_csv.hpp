// What resume, merge and the CSV sink share about a file that is there already.
#pragma once

#include <optional>
#include <string>

#include "rows/csv.hpp"

namespace attnprof {

/// The header that a new file gets, with its line end.
std::string header_line();

/// parse_csv of a file that a run may have left; `path` is for messages. Nothing when the run died while it
/// wrote our header.
std::optional<CsvTable> parse_finished_rows(const std::string& text, const std::string& path);

/// A file of ours to continue: all columns present (any order, extra ones allowed), the right schema, rows
/// that are surely whole. Nothing when the file is absent, empty, not a regular file, or holds only a part of
/// our header. Throws UsageError naming the column that is wrong.
std::optional<CsvTable> read_own_csv(const std::string& path);

}  // namespace attnprof
