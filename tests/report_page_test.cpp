#include "html/report_page.hpp"

#include <string>

#include "rows/csv.hpp"
#include "tests/catch.hpp"
#include "tests/compare_case.hpp"

using namespace attnprof;

namespace {

const std::string kMarkup = "</script><script>alert('\"&\")</script><!-- {{data}}";

RowFile file_of(const std::vector<Cells>& rows) {
  return rows_of(parse_csv(csv_of(rows), "rows.csv"), Duplicates::keep);
}

size_t count_of(const std::string& text, const std::string& piece) {
  size_t count = 0;
  for (size_t at = text.find(piece); at != std::string::npos; at = text.find(piece, at + piece.size()))
    ++count;
  return count;
}

}  // namespace

TEST_CASE("nothing in a cell, a title or a sentence can leave the script element", "[report]") {
  ReportContent content;
  content.title = content.sentences_hint = kMarkup;
  content.sentences = content.notes = {kMarkup};
  content.pairs = {{kMarkup, {kMarkup}}};
  const RowFile file = file_of({{{"device_name", csv_field(kMarkup)}},
                                {{"status", "failed"}, {"message", csv_field(kMarkup)}, {"time_us", ""}}});
  const std::string data = report_data(file, content);
  CHECK(data.find_first_of("<>&") == std::string::npos);
  CHECK(data.find("\\u003c/script\\u003e\\u003cscript\\u003ealert('\\\"\\u0026\\\")") != std::string::npos);

  const std::string page = report_page(file, content);
  const std::string plain = report_page(file_of({{}}), ReportContent{});
  CHECK(count_of(page, "<script") == count_of(plain, "<script"));
  CHECK(count_of(page, "</script>") == count_of(plain, "</script>"));
  CHECK(page.find("<title>" + html_text(kMarkup) + "</title>") != std::string::npos);
  CHECK(count_of(page, "\"columns\":[") == 1);  // {{data}} in a cell is no field of the page
}

TEST_CASE("characters that mean something in HTML are escaped", "[report]") {
  CHECK(html_text("a<b> & \"c\" 'd' \xC2\xB5") == "a&lt;b&gt; &amp; &quot;c&quot; &#39;d&#39; \xC2\xB5");
}

TEST_CASE("a column is one value, numbered words, or cells, and is left out when it is empty", "[report]") {
  std::vector<Cells> rows;
  for (int i = 0; i < 8; ++i) {
    rows.push_back({{"impl", i % 2 == 0 ? "naive" : "fused"}, {"seed", std::to_string(i)}, {"library", ""}});
  }
  const std::string data = report_data(file_of(rows), ReportContent{});
  CHECK(data.find("\"name\":\"device_name\",\"unit\":\"\",\"meaning\":\"model of the GPU or "
                  "processor\",\"same\":\"NVIDIA H200\"}") != std::string::npos);
  CHECK(data.find("\"words\":[\"naive\",\"fused\"],\"at\":[0,1,0,1,0,1,0,1]}") != std::string::npos);
  CHECK(data.find("\"cells\":[\"0\",\"1\",\"2\",\"3\",\"4\",\"5\",\"6\",\"7\"]}") != std::string::npos);
  CHECK(data.find("\"library\"") == std::string::npos);
  CHECK(data.find("\"row_count\":8,") != std::string::npos);
}

TEST_CASE("rows without a verified result are named with their line and reason", "[report]") {
  const RowFile file = file_of({{},
                                {{"status", "failed"}, {"message", "launch error"}, {"time_us", ""}},
                                {{"rel_err", "0.5"}, {"seqlen_q", "512"}}});
  const std::string data = report_data(file, ReportContent{});
  CHECK(data.find("\"row\":1,\"line\":3,") != std::string::npos);
  CHECK(data.find("\"kind\":\"failed\",\"why\":\"launch error\"") != std::string::npos);
  CHECK(data.find("\"kind\":\"not verified\",\"why\":\"rel_err 0.5 above tolerance 0.01\"") !=
        std::string::npos);
  CHECK(count_of(data, "\"kind\":") == 2);
}

TEST_CASE("roofs given by hand are on the page as numbers", "[report]") {
  ReportContent content;
  content.copy_gbps = 4281.5;
  CHECK(report_data(file_of({{}}), content).find("\"given\":{\"copy_gbps\":4281.5}") != std::string::npos);
  CHECK(report_data(file_of({{}}), ReportContent{}).find("\"given\":{}") != std::string::npos);
}
