// A text grid: aligned columns, the least important ones left out until it fits.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "rows/table.hpp"

namespace attnprof {

enum class Paint { none, bold, dim, good, bad, caution };
std::string painted(std::string_view text, Paint paint, bool color);

size_t display_width(std::string_view utf8);  ///< code points: enough for what the tables print
size_t line_limit(const TableStyle& style);   ///< width of the table's lines: the style's, at least 20
std::string cut_to_width(std::string_view utf8, size_t width);  ///< ends in "..." when it was cut

struct GridColumn {
  std::string title;
  bool right = false;  ///< aligned right, as numbers are
  int rank = 0;        ///< 0 always stays; the largest is left out first
};
struct GridCell {
  std::string text;
  Paint paint = Paint::none;
};
struct GridRow {
  std::vector<GridCell> cells;
  std::string tail;  ///< free text after the last nonempty cell, cut at the width: why a row has no figures
  bool tail_wraps = false;  ///< instead of being cut it goes on lines of its own, below
  Paint tail_paint = Paint::none;
};

/// Breaks at blanks so that no line is wider (unless one word is); lines after the first start with `indent`
/// blanks; each ends in '\n'.
std::string wrap_to_width(std::string_view text, size_t width, size_t indent);

/// Whether the column of that title is among those that fit; see draw_grid.
bool shows_column(const std::vector<GridColumn>& columns, const std::vector<GridRow>& rows,
                  const TableStyle& style, std::string_view title);
/// Header line, rule, rows; lines end in '\n'. Columns that are empty in every row are left out.
std::string draw_grid(const std::vector<GridColumn>& columns, const std::vector<GridRow>& rows,
                      const TableStyle& style);

}  // namespace attnprof
