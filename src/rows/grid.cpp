#include "rows/grid.hpp"

#include <algorithm>

#include "core/text.hpp"

namespace attnprof {

namespace {

constexpr size_t kGap = 2;

std::string padded(const std::string& text, size_t width, bool right) {
  const size_t own = display_width(text);
  const std::string blank(width > own ? width - own : 0, ' ');
  return right ? blank + text : text + blank;
}

void trim_end(std::string& line) {
  line.erase(line.find_last_not_of(' ') + 1);
}

/// Widths of the columns that are shown; 0 for those left out.
std::vector<size_t> choose_widths(const std::vector<GridColumn>& columns, const std::vector<GridRow>& rows,
                                  size_t limit) {
  std::vector<size_t> widths(columns.size(), 0);
  for (const GridRow& row : rows) {
    for (size_t i = 0; i < row.cells.size(); ++i)
      widths[i] = std::max(widths[i], display_width(row.cells[i].text));
  }
  size_t total = 0;
  for (size_t i = 0; i < columns.size(); ++i) {
    if (widths[i] > 0) widths[i] = std::max(widths[i], display_width(columns[i].title));
    if (widths[i] > 0) total += widths[i] + kGap;
  }
  while (total > limit + kGap) {
    size_t least = columns.size();
    for (size_t i = 0; i < columns.size(); ++i) {
      if (widths[i] == 0 || columns[i].rank == 0) continue;
      if (least == columns.size() || columns[i].rank >= columns[least].rank) least = i;
    }
    if (least == columns.size()) break;
    total -= widths[least] + kGap;
    widths[least] = 0;
  }
  return widths;
}

/// The tail as lines of its own, indented.
std::string lines_below(const GridRow& row, size_t limit, bool color) {
  constexpr size_t kIndent = 4;
  const size_t room = limit - kIndent;
  const std::string wrapped = wrap_to_width(row.tail, room, 0);
  std::string lines;
  for (std::string_view line : split(wrapped, '\n')) {
    while (!line.empty()) {
      size_t end = display_width(line) <= room ? line.size() : room;  // of a word wider than that
      while (end < line.size() && (static_cast<unsigned char>(line[end]) & 0xC0) == 0x80) --end;
      lines += std::string(kIndent, ' ') + painted(line.substr(0, end), row.tail_paint, color) + "\n";
      line.remove_prefix(end);
    }
  }
  return lines;
}

}  // namespace

std::string painted(std::string_view text, Paint paint, bool color) {
  constexpr const char* codes[] = {"", "1", "2", "32", "31", "33"};
  if (!color || paint == Paint::none || text.empty()) return std::string(text);
  return std::string("\x1b[") + codes[static_cast<int>(paint)] + "m" + std::string(text) + "\x1b[0m";
}

size_t display_width(std::string_view utf8) {
  return static_cast<size_t>(std::count_if(
      utf8.begin(), utf8.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }));
}

size_t line_limit(const TableStyle& style) {
  return static_cast<size_t>(std::max(style.width, 20));
}

std::string cut_to_width(std::string_view utf8, size_t width) {
  if (display_width(utf8) <= width) return std::string(utf8);
  constexpr size_t kDots = 3;
  if (width <= kDots) return std::string("...").substr(0, width);
  size_t end = 0, shown = 0;
  while (end < utf8.size()) {
    if ((static_cast<unsigned char>(utf8[end]) & 0xC0) != 0x80 && ++shown > width - kDots) break;
    ++end;
  }
  return std::string(utf8.substr(0, end)) + "...";
}

std::string wrap_to_width(std::string_view text, size_t width, size_t indent) {
  std::string out;
  size_t used = 0;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find(' ', at), text.size());
    const std::string_view word = text.substr(at, end - at);
    const size_t own = display_width(word);
    if (used > 0 && used + 1 + own > width) {
      out += '\n' + std::string(indent, ' ');
      used = indent;
    } else if (used > 0) {
      out += ' ';
      ++used;
    }
    out += word;
    used += own;
    at = end + 1;
  }
  return out + '\n';
}

bool shows_column(const std::vector<GridColumn>& columns, const std::vector<GridRow>& rows,
                  const TableStyle& style, std::string_view title) {
  const auto widths = choose_widths(columns, rows, line_limit(style));
  for (size_t i = 0; i < columns.size(); ++i) {
    if (columns[i].title == title) return widths[i] > 0;
  }
  return false;
}

std::string draw_grid(const std::vector<GridColumn>& columns, const std::vector<GridRow>& rows,
                      const TableStyle& style) {
  const size_t limit = line_limit(style);
  const auto widths = choose_widths(columns, rows, limit);
  std::string header, out;
  for (size_t i = 0; i < columns.size(); ++i) {
    if (widths[i] > 0)
      header += padded(columns[i].title, widths[i], columns[i].right) + std::string(kGap, ' ');
  }
  trim_end(header);
  size_t rule = 0;
  for (const size_t width : widths) rule += width > 0 ? width + kGap : 0;
  out += painted(header, Paint::bold, style.color) + "\n";
  out += painted(std::string(rule > kGap ? rule - kGap : 0, '-'), Paint::dim, style.color) + "\n";

  for (const GridRow& row : rows) {
    size_t used = row.cells.size();
    while (used > 0 && !row.tail.empty() && row.cells[used - 1].text.empty()) --used;
    std::string line;
    size_t at = 0;
    for (size_t i = 0; i < used; ++i) {
      if (widths[i] == 0) continue;
      // Padding stays outside the colour, so that a line can be trimmed.
      const std::string text = padded(row.cells[i].text, widths[i], columns[i].right);
      const size_t begin = text.find_first_not_of(' '), end = text.find_last_not_of(' ');
      line += begin == text.npos
                  ? text
                  : text.substr(0, begin) +
                        painted(text.substr(begin, end + 1 - begin), row.cells[i].paint, style.color) +
                        text.substr(end + 1);
      line += std::string(kGap, ' ');
      at += widths[i] + kGap;
    }
    const size_t left = limit > at + 10 ? limit - at : 10;
    const bool below = row.tail_wraps && display_width(row.tail) > left;
    if (!row.tail.empty() && !below)
      line += painted(cut_to_width(row.tail, left), row.tail_paint, style.color);
    trim_end(line);
    out += line + "\n";
    if (below) out += lines_below(row, limit, style.color);
  }
  return out;
}

}  // namespace attnprof
