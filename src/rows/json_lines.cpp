#include <cstdio>

#include "core/error.hpp"
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
      char escape[8];
      std::snprintf(escape, sizeof escape, "\\u%04x", static_cast<unsigned>(c));
      out += escape;
    } else {
      out += text.substr(at, length);
    }
    at += length;
  }
  return out + '"';
}

namespace {

class JsonLinesSink : public Sink {
 public:
  JsonLinesSink(const std::string& path, bool append) : file_(path, append) {
    if (const auto keep = append ? keep_bytes(path) : std::nullopt) file_.truncate(*keep);
  }
  void write(const Record& record) override { file_.write(json_row(record) + '\n'); }

 private:
  /// Bytes up to the last line end of a file of ours; nothing when there is no file with content.
  static std::optional<uint64_t> keep_bytes(const std::string& path) {
    const auto text = read_existing(path);
    if (!text || text->empty()) return std::nullopt;
    const std::string start = "{\"schema\":" + std::to_string(kSchemaVersion) + ",";
    if (text->substr(0, start.size()) != start.substr(0, text->size())) {
      throw UsageError("cannot continue '" + path + "': its first line is not a row with \"schema\":" +
                       std::to_string(kSchemaVersion) + "; choose a new file");
    }
    const size_t last = text->rfind('\n');
    return last == std::string::npos ? 0 : last + 1;
  }

  OutputFile file_;
};

}  // namespace

std::string json_row(const Record& record) {
  std::string row = "{";
  for (const Column& column : columns()) {
    if (row.size() > 1) row += ',';
    row += '"';
    row += column.name;
    row += "\":";
    const Cell cell = column.get(record);
    const auto* text = std::get_if<std::string>(&cell);
    const std::string value = text ? json_string(*text) : cell_text(cell);
    row += value.empty() ? "null" : value;
  }
  return row + '}';
}

std::unique_ptr<Sink> open_json_lines(const std::string& path, bool append) {
  return std::make_unique<JsonLinesSink>(path, append);
}

}  // namespace attnprof
