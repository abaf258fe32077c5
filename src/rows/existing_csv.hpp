// What resume and the CSV sink share about a file that is to be continued.
#pragma once

#include <optional>
#include <string>

#include "rows/csv.hpp"

namespace attnprof {

/// The header that a new file gets, with its line end.
std::string header_line();

/// The rows of `text` that are surely whole, `path` is for messages: a last line without line end may be cut
/// anywhere and is left out (torn_last_row). Nothing when there is no whole header line. Throws what
/// parse_csv throws.
std::optional<CsvTable> parse_finished_rows(const std::string& text, const std::string& path);

/// A file of ours to continue: all columns present (any order, extra ones allowed), the right schema, rows
/// that are surely whole. Nothing when the file is absent, empty, not a regular file, or holds only a part of
/// our header. Throws UsageError naming the column that is wrong.
std::optional<CsvTable> read_own_csv(const std::string& path);

}  // namespace attnprof
