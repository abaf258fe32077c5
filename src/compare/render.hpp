// A comparison as people and programs read it.
#pragma once

#include <string>
#include <vector>

#include "compare/comparison.hpp"
#include "compare/why.hpp"
#include "rows/table.hpp"

namespace attnprof {

/// Pairs as a grid: figures side by side, their ratios, sources; then why some have no ratio, rows without a
/// partner, geometric means and notes. "" when there is nothing to say.
std::string comparison_table(const Comparison& comparison, const TableStyle& style);
/// Every pair as a line: "SUBJECT: SENTENCE"; wrapped where a style is given.
std::string comparison_sentences(const Comparison& comparison, const TableStyle* style = nullptr);
/// For a pull request: a table, then the rest of comparison_table as lists; the sentences of `explained`.
std::string comparison_markdown(const Comparison& comparison, const std::vector<Explained>& explained);

/// One line per pair, and per row without a partner (column `side`); with `explained`, also the reference
/// rows, and the columns of the attribution. Columns: docs/compare.md.
std::string comparison_csv(const Comparison& comparison, const std::vector<Explained>& explained);
/// {"before", "after", "device_mismatch", "rows": [the lines of the CSV], "means": [...], "notes": [...]}.
std::string comparison_json(const Comparison& comparison, const std::vector<Explained>& explained);

}  // namespace attnprof
