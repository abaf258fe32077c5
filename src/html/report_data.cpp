// Rows to JSON, column by column: what is the same in all rows stands once, repeated words are numbered.
#include <fmt/format.h>

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "html/report_page.hpp"
#include "rows/columns.hpp"

namespace attnprof {
namespace {

/// json_string, and nothing in it that could end or open a <script> or a comment.
std::string script_string(std::string_view text) {
  std::string out;
  for (const char c : json_string(text)) {
    if (c == '<' || c == '>' || c == '&') {
      out += fmt::format("\\u{:04x}", static_cast<unsigned>(c));
    } else {
      out += c;
    }
  }
  return out;
}

std::string list(const std::vector<std::string>& items) {
  return fmt::format("[{}]", fmt::join(items, ","));
}

std::string strings(const std::vector<std::string>& texts) {
  std::vector<std::string> items;
  for (const std::string& text : texts) items.push_back(script_string(text));
  return list(items);
}

/// The cells of one column as members of its object; "" when all are empty.
std::string cells_json(const RowFile& file, std::string_view name) {
  std::map<std::string_view, size_t> number_of;
  std::vector<std::string> words, at, cells;
  bool any = false;
  for (const Row& row : file.rows) {
    const std::string_view text = row.text(name);
    any = any || !text.empty();
    const auto [found, is_new] = number_of.emplace(text, words.size());
    if (is_new) words.push_back(script_string(text));
    at.push_back(std::to_string(found->second));
    cells.push_back(words[found->second]);
  }
  if (!any) return "";
  if (words.size() == 1) return fmt::format("\"same\":{}", words.front());
  if (words.size() * 2 <= cells.size()) return fmt::format("\"words\":{},\"at\":{}", list(words), list(at));
  return fmt::format("\"cells\":{}", list(cells));
}

std::string column_json(const RowFile& file, const std::string& name) {
  const std::string cells = cells_json(file, name);
  if (cells.empty()) return "";
  const Column* known = find_column(name);
  return fmt::format("{{\"name\":{},\"unit\":{},\"meaning\":{},{}}}", script_string(name),
                     script_string(known ? known->unit : ""), script_string(known ? known->meaning : ""),
                     cells);
}

/// Rows that must not be drawn: which, and why.
std::string unverified_json(const RowFile& file) {
  std::vector<std::string> items;
  for (size_t i = 0; i < file.rows.size(); ++i) {
    const Row& row = file.rows[i];
    if (row.verified() || !row.kernel().empty()) continue;
    const std::string_view message = row.text("message");
    const bool said = !row.ok() && !message.empty();
    items.push_back(fmt::format(R"({{"row":{},"line":{},"label":{},"kind":{},"why":{}}})", i, row.line(),
                                script_string(row.label()),
                                script_string(row.ok() ? "not verified" : row.text("status")),
                                script_string(said ? message : std::string_view(row.why_unverified()))));
  }
  return list(items);
}

}  // namespace

std::string report_data(const RowFile& file, const ReportContent& content) {
  std::vector<std::string> columns_json, groups, given;
  for (const std::string& name : file.header) {
    std::string column = column_json(file, name);
    if (!column.empty()) columns_json.push_back(std::move(column));
  }
  for (const ReportContent::Group& group : content.pairs) {
    groups.push_back(
        fmt::format(R"({{"title":{},"lines":{}}})", script_string(group.title), strings(group.lines)));
  }
  if (content.copy_gbps) given.push_back(fmt::format("\"copy_gbps\":{}", *content.copy_gbps));
  if (content.matrix_tflops) given.push_back(fmt::format("\"matrix_tflops\":{}", *content.matrix_tflops));
  return fmt::format(
      R"({{"file":{},"version":{},"reference":{},"row_count":{},"given":{{{}}},"sentences":{},"sentences_hint":{},"pairs":{},"notes":{},"unverified":{},"columns":{}}})",
      script_string(file.file), script_string(ATTNPROF_VERSION), script_string(content.reference),
      file.rows.size(), fmt::join(given, ","), strings(content.sentences),
      script_string(content.sentences_hint), list(groups), strings(content.notes), unverified_json(file),
      list(columns_json));
}

}  // namespace attnprof
