// attnprof rows as other programs meet it, and merged files as its other commands read them.
#include "catch.hpp"
#include "compare_case.hpp"
#include "rows/csv.hpp"
#include "run_program.hpp"

using namespace attnprof;

namespace {

struct Folder {
  TempFolder folder;
  std::string write(const char* name, const std::string& text) const {
    put(folder.path / name, text);
    return folder.file(name);
  }
  std::string rows(const char* name, const std::vector<Cells>& cells) const {
    return write(name, csv_of(cells));
  }
};

/// A row of a host.
Cells host(const char* hostname, const char* impl = "fused") {
  return {{"device", "cpu"}, {"threads", "2"},       {"device_name", "EPYC"}, {"device_uuid", ""},
          {"driver", ""},    {"hostname", hostname}, {"impl", impl}};
}

}  // namespace

TEST_CASE("rows prints the rows of a file in one form, under the file's own columns", "[rows][cli]") {
  const Folder f;
  const std::string clean = csv_of({{}, {{"impl", "naive"}}});
  const Outcome same = run_program("rows " + f.write("a.csv", clean));
  CHECK(same.exit_code == 0);
  CHECK(same.out == clean);
  CHECK(same.err.empty());
  const std::string spread =
      csv_of({{{"batch", " 4"}, {"tile_m", "128.0"}, {"gaps_us", "nan"}}, {{"impl", "naive"}}});
  CHECK(run_program("rows " + f.write("b.csv", "\xEF\xBB\xBF" + spread)).out ==
        csv_of({{{"tile_m", "128"}}, {{"impl", "naive"}}}));
  const std::string from_stdin = f.folder.file("stdin.csv");
  CHECK(run_program("rows - < " + f.folder.file("a.csv") + " > " + from_stdin + " #").exit_code == 0);
  CHECK(slurp(from_stdin) == clean);
}

TEST_CASE("rows as JSON: numbers are numbers that JSON allows, empty cells null, other columns text",
          "[rows][cli]") {
  const Folder f;
  std::string csv = csv_of({{{"time_us", "250."}, {"gaps_us", ".5"}, {"seed", "18000000000000000001"}}});
  csv.insert(csv.find('\n'), ",my note");
  csv.insert(csv.size() - 1, ",7");
  const Outcome o = run_program("rows --format json " + f.write("a.csv", csv));
  CHECK(o.exit_code == 0);
  CHECK(lines(o.out) == 1);
  for (const char* piece :
       {"{\"schema\":1,", "\"time_us\":250,", "\"gaps_us\":0.5,", "\"seed\":18000000000000000001,",
        "\"impl\":\"flash3\",", "\"tile_m\":null,", "\"my note\":\"7\"}"})
    CHECK(has(o.out, piece));
}

TEST_CASE("rows of several files say which file they are from", "[rows][cli]") {
  const Folder f;
  const std::string a = f.rows("a.csv", {{}}), b = f.rows("b.csv", {{}, {{"impl", "naive"}}});
  const CsvTable table = parse_csv(run_program("rows " + a + " " + b).out, "out");
  CHECK(table.header.at(0) == "file");
  REQUIRE(table.rows.size() == 3);
  CHECK(table.rows[0][0] == a);
  CHECK(table.rows[2][0] == b);
  CHECK(has(run_program("rows --format json " + a + " " + b).out, "{\"file\":\"" + a + "\",\"schema\":1"));
  const Outcome twice = run_program("rows " + a + " " + a);
  CHECK(twice.exit_code == 2);
  CHECK(has(twice.err, "is given twice"));
}

TEST_CASE("rows refuses what no command would read, with its words, and prints nothing", "[rows][cli]") {
  const Folder f;
  const std::string good = csv_of({{}}), header = good.substr(0, good.find('\n') + 1),
                    row = good.substr(header.size());
  struct Bad {
    std::string text;
    const char* said;
  };
  for (const Bad& bad :
       {Bad{good + row, "a.csv:3: repeats line 2"}, Bad{good + good, "a.csv:3: is a second header line"},
        Bad{good + "1,gpu,naive\n", "a.csv:3: has 3 cells"}, Bad{header, "has a header but no rows"},
        Bad{"\xFF\xFEs", "is UTF-16 text"}, Bad{"a;b\n1;2\n", "separated by semicolons"}, Bad{"", "is empty"},
        Bad{csv_of({{{"time_us", "fast"}}}), "a.csv:2: column 'time_us': 'fast' is not a number"}}) {
    const Outcome o = run_program("rows " + f.write("a.csv", bad.text));
    INFO(bad.said << " " << o.err);
    CHECK(o.exit_code == 2);
    CHECK(o.out.empty());
    CHECK(has(o.err, bad.said));
    CHECK(lines(o.err) == 1);
  }
  const std::string repeated = f.write("a.csv", good + row);
  CHECK(lines(run_program("rows --repeats keep " + repeated).out) == 3);
  const Outcome median = run_program("rows --repeats median " + repeated);
  CHECK(lines(median.out) == 2);
  CHECK(has(median.err, "1 row left out: the row with the median time stands for repeats"));
}

TEST_CASE("a last line that may be cut is left out with a warning, by rows, compare and check alike",
          "[rows][cli]") {
  const Folder f;
  std::vector<std::string> names = all_columns();
  std::erase(names, "hbm_read_bytes");
  names.emplace_back("hbm_read_bytes");
  const std::string whole = csv_with_columns(names, {{{"impl", "naive"}}, {{"impl", "flash2"}}, {}});
  const std::string cut = f.write("cut.csv", whole.substr(0, whole.size() - 3));  // 3000000 -> 30000
  const Outcome rows = run_program("rows " + cut);
  CHECK(rows.exit_code == 0);
  CHECK(lines(rows.out) == 3);
  CHECK(has(rows.err, "warning: " + cut + ": the last line has no line end"));
  const Outcome compare = run_program("compare --format csv " + cut);
  CHECK(compare.exit_code == 0);
  CHECK_FALSE(has(compare.out, "flash3"));
  CHECK(has(compare.err, "the last line was cut off"));
  const Outcome check = run_program("check --baseline " + f.write("whole.csv", whole) + " " + cut);
  CHECK(check.exit_code == 1);  // a case is missing: no figure of its was used
  CHECK(has(check.err, "its last line was cut off"));
}

TEST_CASE("a baseline that a spreadsheet saved has the cases of the new file", "[rows][cli]") {
  const Folder f;
  const std::string own = f.rows("own.csv", {{{"scale", "0.08838834764831843"}}}),
                    saved = f.rows("saved.csv", {{{"scale", "0.088388348"}}});
  const Outcome check = run_program("check --baseline " + saved + " " + own);
  CHECK(check.exit_code == 0);
  CHECK(has(check.out, "PASS: 1 case"));
  CHECK(run_program("compare " + saved + " " + own).exit_code == 0);
  CHECK(run_program("merge " + saved + " " + own + " -o " + f.folder.file("one.csv")).exit_code == 0);
  CHECK(lines(slurp(f.folder.file("one.csv"))) == 2);
}

TEST_CASE("merged rows of two machines with one kind of processor are read by every command", "[rows][cli]") {
  const Folder f;
  const std::string a = f.rows("a.csv", {host("node1", "naive"), host("node1")}),
                    b = f.rows("b.csv", {host("node2", "naive"), host("node2")}),
                    both = f.folder.file("both.csv");
  REQUIRE(run_program("merge " + a + " " + b + " -o " + both).exit_code == 0);
  CHECK(lines(run_program("rows " + both).out) == 5);
  const Outcome compare = run_program("compare --format csv " + both);
  CHECK(compare.exit_code == 0);
  CHECK(lines(compare.out) == 3);
  CHECK(run_program("compare " + both + " " + both).exit_code == 0);
  const Outcome check = run_program("check --baseline " + both + " " + both);
  INFO(check.out << check.err);
  CHECK(check.exit_code == 0);
  CHECK(has(check.out, "4 cases"));
  CHECK(run_program("report " + both + " -o " + f.folder.file("page.html")).exit_code == 0);
}
