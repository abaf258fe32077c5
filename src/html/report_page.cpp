#include "html/report_page.hpp"

#include <array>
#include <stdexcept>
#include <string>
#include <string_view>

#include "core/embedded_file.hpp"

namespace attnprof {
namespace {

/// In the order in which they need each other.
constexpr std::array<std::string_view, 10> kScripts{"format.js", "data.js",   "axes.js",      "looks.js",
                                                    "chart.js",  "choice.js", "questions.js", "tiles.js",
                                                    "table.js",  "page.js"};

const std::string& part(std::string_view name) {
  const std::string path = "html/page/" + std::string(name);
  for (const EmbeddedFile& source : page_parts()) {
    if (source.path == path) return source.text;
  }
  throw std::logic_error("no part of the page is named " + std::string(name));
}

/// All of them inside one function, so that nothing of the page is global.
std::string script() {
  std::string text = "(() => {\n\"use strict\";\n";
  for (const std::string_view name : kScripts) text += part(name);
  return text + "})();";
}

}  // namespace

std::string html_text(std::string_view text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      case '\'':
        out += "&#39;";
        break;
      default:
        out += c;
    }
  }
  return out;
}

std::string report_page(const RowFile& file, const ReportContent& content) {
  std::string page;
  std::string_view rest = part("page.html");
  // Fields are filled in one pass, so that what is put in is never searched for fields.
  while (true) {
    const size_t open = rest.find("{{"), close = rest.find("}}", open);
    page += rest.substr(0, open);
    if (open == std::string_view::npos) return page;
    const std::string_view field = rest.substr(open + 2, close - open - 2);
    if (field == "title") page += html_text(content.title);
    if (field == "style") page += part("page.css");
    if (field == "data") page += report_data(file, content);
    if (field == "script") page += script();
    rest.remove_prefix(close + 2);
  }
}

}  // namespace attnprof
