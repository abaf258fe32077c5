#include <fmt/format.h>

#include <cmath>

#include "core/file_io.hpp"
#include "rows/csv.hpp"

namespace attnprof {

size_t utf8_length(std::string_view text, size_t at) {
  const auto byte = [&](size_t i) { return i < text.size() ? static_cast<unsigned char>(text[i]) : 0u; };
  const auto between = [&](size_t i, unsigned lo, unsigned hi) { return byte(i) >= lo && byte(i) <= hi; };
  const unsigned first = byte(at);
  if (first < 0x80) return 1;
  if (first >= 0xC2 && first <= 0xDF) return between(at + 1, 0x80, 0xBF) ? 2 : 0;
  if (first >= 0xE0 && first <= 0xEF) {
    const unsigned lo = first == 0xE0 ? 0xA0 : 0x80, hi = first == 0xED ? 0x9F : 0xBF;
    return between(at + 1, lo, hi) && between(at + 2, 0x80, 0xBF) ? 3 : 0;
  }
  if (first >= 0xF0 && first <= 0xF4) {
    const unsigned lo = first == 0xF0 ? 0x90 : 0x80, hi = first == 0xF4 ? 0x8F : 0xBF;
    return between(at + 1, lo, hi) && between(at + 2, 0x80, 0xBF) && between(at + 3, 0x80, 0xBF) ? 4 : 0;
  }
  return 0;
}

std::string json_string(std::string_view text) {
  std::string out = "\"";
  for (size_t at = 0; at < text.size();) {
    const size_t length = utf8_length(text, at);
    const char c = text[at];
    if (length == 0) {
      out += "\xEF\xBF\xBD";  // U+FFFD
      ++at;
      continue;
    }
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (static_cast<unsigned char>(c) < 0x20) {
      out += fmt::format("\\u{:04x}", static_cast<unsigned>(c));
    } else {
      out += text.substr(at, length);
    }
    at += length;
  }
  return out + '"';
}

std::string json_value(const Cell& cell) {
  const auto* text = std::get_if<std::string>(&cell);
  const std::string value = text && !text->empty() ? json_string(*text) : cell_text(cell);
  return value.empty() ? "null" : value;
}

std::string json_cell(std::string_view name, std::string_view cell) {
  if (cell.empty()) return "null";
  const Column* column = find_column(name);
  if (column == nullptr || column->is_text) return json_string(cell);
  // Whole numbers keep all of their digits; others may be written as JSON does not allow (.5, 1.).
  const bool whole =
      cell.find_first_not_of("0123456789") == cell.npos && (cell.size() == 1 || cell[0] != '0');
  return whole ? std::string(cell) : json_value(Cell(cell_number(cell).value_or(NAN)));
}

std::string json_object(const std::vector<std::string>& names, const std::vector<std::string>& cells) {
  std::string line = "{";
  for (size_t i = 0; i < names.size(); ++i) {
    if (i > 0) line += ',';
    line += json_string(names[i]) + ':' + json_cell(names[i], cells[i]);
  }
  return line + '}';
}

std::string json_row(const Row& row) {
  static const std::vector<std::string> names = column_names();
  std::vector<std::string> cells;
  for (const std::string& name : names) cells.emplace_back(row.text(name));
  return json_object(names, cells);
}

namespace {

class JsonLinesSink : public Sink {
 public:
  explicit JsonLinesSink(const std::string& path) : file_(path, false) {}
  void write(const Row& row) override { file_.write(json_row(row) + '\n'); }

 private:
  OutputFile file_;
};

}  // namespace

std::unique_ptr<Sink> open_json_lines(const std::string& path) {
  return std::make_unique<JsonLinesSink>(path);
}

}  // namespace attnprof
