// One self-contained HTML page from the rows of a CSV: charts, table, environment, comparisons.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "rows/rows.hpp"

namespace attnprof {

/// What stands on the page beside the rows.
struct ReportContent {
  std::string title;      ///< heading and window title
  std::string reference;  ///< implementation that speed-ups refer to; "" when the file has none
  std::optional<double> copy_gbps, matrix_tflops;  ///< roofs given by hand; they come before the file's
  std::vector<std::string> sentences;              ///< what a reader should know first
  std::string sentences_hint;                      ///< what the sentences are about
  struct Group {
    std::string title;
    std::vector<std::string> lines;
  };
  std::vector<Group> pairs;        ///< more sentences, folded away under a title each
  std::vector<std::string> notes;  ///< warnings, above everything else
};

/// The page as text: no network, no other file. Cells and titles may hold anything, markup included: they are
/// only ever shown as text. Columns in which no row holds a value are left out.
std::string report_page(const RowFile& file, const ReportContent& content);

/// The JSON inside the page, safe within a <script> element: no '<', '>' or '&' outside of escapes.
std::string report_data(const RowFile& file, const ReportContent& content);

/// `text` for HTML, as content or inside a quoted attribute.
std::string html_text(std::string_view text);

}  // namespace attnprof
