#include "rows/csv.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <clocale>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <limits>
#include <locale>
#include <sstream>

#include "catch.hpp"
#include "core/error.hpp"
#include "error_of.hpp"
#include "state/resume.hpp"
#include "temp_folder.hpp"
#include "text.hpp"

using namespace attnprof;

namespace {

Record row(const char* impl, Status status = Status::ok) {
  Record r;
  r.planned.impl = impl;
  r.planned.problem = {
      .batch = 1, .heads = 2, .kv_heads = 2, .seqlen_q = 128, .seqlen_kv = 128, .head_dim = 80};
  r.device.name = "A, \"B\" C";
  r.status = status;
  r.time = TimeStats{2174.166101, 2174.1, 2174.3, 2000, 3000, 20, 3, true, false};
  r.conditions.command = "attnprof sweep --tile 64x64,128x64";
  return r;
}

void write_rows(const std::string& path, const std::vector<Record>& rows, bool append = false) {
  const auto sink = open_csv(path, append);
  for (const Record& r : rows) sink->write(row_of(r));
}

CsvTable parse(const std::string& text) {
  return parse_csv(text, "f.csv");
}

struct GermanNumbers : std::numpunct<char> {
  char do_decimal_point() const override { return ','; }
  char do_thousands_sep() const override { return '.'; }
  std::string do_grouping() const override { return "\3"; }
};

}  // namespace

TEST_CASE("a comma locale changes neither what is written nor what is read", "[csv]") {
  const TempFolder folder;
  write_rows(folder.file("c.csv"), {row("naive")});
  const std::string json = json_row(row_of(row("naive")));

  const std::locale before = std::locale::global(std::locale(std::locale::classic(), new GermanNumbers));
  const bool installed =
      std::setlocale(LC_ALL, "de_DE.UTF-8") != nullptr || std::setlocale(LC_ALL, "de_DE.utf8") != nullptr;
  write_rows(folder.file("de.csv"), {row("naive")});
  const CsvTable table = read_csv_file(folder.file("c.csv"));
  const auto number = cell_number(table.rows.at(0).at(table.column("time_us")));
  const std::string german_json = json_row(row_of(row("naive")));
  std::setlocale(LC_ALL, "C");
  std::locale::global(before);

  if (!installed) WARN("de_DE is not installed here: tested with a comma std::locale only");
  CHECK(slurp(folder.file("de.csv")) == slurp(folder.file("c.csv")));
  CHECK(has(slurp(folder.file("c.csv")), ",2174.166101,"));
  CHECK(german_json == json);
  REQUIRE(number);
  CHECK(*number == 2174.166101);
}

TEST_CASE("numbers read back to the same value and only whole numbers count", "[csv]") {
  for (const double x : {0.1, 1.0 / 3, 1e-300, 1.7976931348623157e308, 5e-324, 123456789.123, -0.25}) {
    CHECK(cell_number(cell_text(Cell(x))) == x);
  }
  CHECK(cell_text(Cell(std::numeric_limits<int64_t>::max())) == "9223372036854775807");
  CHECK(cell_text(Cell(std::numeric_limits<double>::quiet_NaN())).empty());
  CHECK(cell_text(Cell(-std::numeric_limits<double>::infinity())).empty());
  CHECK(cell_text(Cell()).empty());
  for (const char* bad : {"",
                          "nan",
                          "inf",
                          "-inf",
                          "1,5",
                          "1.5 ",
                          "x",
                          "1e999",
                          "1e400",
                          "1.5x",
                          "0x1p3",
                          "0x10",
                          "+1",
                          "1,234.5",
                          "1 234",
                          "1'234",
                          "1_000",
                          "\xC2\xA0"
                          "1",
                          "1e",
                          "--1",
                          "1.2.3"}) {
    INFO(bad);
    CHECK_FALSE(cell_number(bad));
  }
}

TEST_CASE("files that a spreadsheet saved read as the clean file does", "[csv]") {
  const auto clean = parse("impl,time_us\nnaive,1.5\nflash2,2\n").rows;
  const std::string bom = "\xEF\xBB\xBF";
  for (const std::string& text :
       {bom + "impl,time_us\nnaive,1.5\nflash2,2\n", std::string("impl,time_us\r\nnaive,1.5\r\nflash2,2\r\n"),
        bom + "impl,time_us\r\nnaive,1.5\r\nflash2,2\r\n",
        std::string("impl,time_us\nnaive,1.5\nflash2,2\n\n"),
        std::string("impl,time_us\r\nnaive,1.5\r\nflash2,2\r\n\r\n")}) {
    const CsvTable table = parse(text);
    CHECK(table.header == std::vector<std::string>{"impl", "time_us"});
    CHECK(table.rows == clean);
    CHECK_FALSE(table.torn_last_row);
  }
}

TEST_CASE("what is written has no BOM and LF line ends", "[csv]") {
  const TempFolder folder;
  write_rows(folder.file("a.csv"), {row("naive")});
  const std::string text = slurp(folder.file("a.csv"));
  CHECK(text.substr(0, 7) == "schema,");
  CHECK_FALSE(has(text, "\r"));
  CHECK(text.back() == '\n');
}

TEST_CASE("commas, quotes and line ends in text come back as they were", "[csv]") {
  const TempFolder folder;
  Record r = row("naive");
  r.message = "first\nsecond, \"third\"\r\n";
  write_rows(folder.file("a.csv"), {r, row("flash2")});
  const CsvTable table = read_csv_file(folder.file("a.csv"));
  REQUIRE(table.rows.size() == 2);
  CHECK(table.rows[0][table.column("device_name")] == "A, \"B\" C");
  CHECK(table.rows[0][table.column("message")] == r.message);
  CHECK(table.rows[0][table.column("command")] == r.conditions.command);
  CHECK(row_key(table, 0) == record_key(r));
  CHECK(row_key(table, 1) == record_key(row("flash2")));
  CHECK(table.row_lines[1] == 5);
}

TEST_CASE("columns are found by name, in any order, beside unknown ones", "[csv]") {
  const CsvTable table = parse("note,time_us,impl\nhello,1.5,naive\n");
  CHECK(table.rows[0][table.column("impl")] == "naive");
  CHECK(table.has("note"));
  CHECK(has(error_of([&] { table.column("tile_m"); }), "f.csv: has no column 'tile_m'"));
}

TEST_CASE("malformed files are refused with file and line", "[csv]") {
  CHECK(has(error_of([] { parse("a,b\n1,2\n1,2,3\n1,2\n"); }), "f.csv:3: has 3 cells, the header has 2"));
  CHECK(has(error_of([] { parse("a,b\n\"x\ny\",2\n1\n3,4\n"); }), "f.csv:4: has 1 cells"));
  CHECK(has(error_of([] { parse("a,b\n1,x\"y\n"); }), "f.csv:2: stray quote"));
  CHECK(has(error_of([] { parse("a,b\n1,\"x\"y\n"); }), "f.csv:2: text after a closing quote"));
  CHECK(has(error_of([] { parse("a,a\n1,2\n"); }), "'a' appears twice"));
  CHECK(has(error_of([] { parse("a;b\n1;2\n"); }), "separated by semicolons"));
  CHECK(has(error_of([] { parse(""); }), "f.csv: is empty"));
  CHECK(has(error_of([] { parse("a,b\n\"1,2\n3,4\n5,6\n"); }),
            "f.csv:2: a quote opened in this row is never closed"));
}

TEST_CASE("what is no UTF-8 text with commas is refused by the name of what it is", "[csv]") {
  using namespace std::string_literals;
  struct Bad {
    std::string text;
    const char* said;
  };
  for (const Bad& bad : {
           Bad{"\xFF\xFEi\0m\0,\0t\0\n\0"s, "f.csv: is UTF-16 text; save it as UTF-8"},
           Bad{"\xFE\xFF\0i\0m\0,"s, "f.csv: is UTF-16"},
           Bad{"\xFF\xFE\0\0i\0\0\0"s, "f.csv: is UTF-16"},
           Bad{"\0\0\xFE\xFF\0\0\0i"s, "f.csv: is UTF-32"},
           Bad{"i\0m\0,\0t\0\n\0"s, "f.csv:1: a NUL byte in the header"},
           Bad{"a,b\n1,2\n1,\0\0\n"s, "f.csv:3: a NUL byte in column 'b'"},
           Bad{"a,b\n1,\"x\0\"\n"s, "f.csv:2: a NUL byte in column 'b'"},
           Bad{"PK\x03\x04xl/worksheets"s, "save it as CSV"},
           Bad{"\x1F\x8B\x08"s, "compressed (gzip)"},
           Bad{"a\tb\n1\t2\n"s, "f.csv:1: cells are separated by tabs"},
           Bad{"a|b\n1|2\n"s, "separated by bars"},
           Bad{"\xEF\xBB\xBF"
               "a;b\r\n1;2\r\n"s,
               "separated by semicolons"},
           Bad{"sep=;\na;b\n1;2\n"s, "separated by semicolons"},
           Bad{"\xEF\xBB\xBF"s, "f.csv: is empty"},
           Bad{"a,b\n1,234,5\n"s, "f.csv:2: has 3 cells, the header has 2"},
           Bad{"a,b\n1,2 \"x\"\n"s, "f.csv:2: stray quote in cell 2"},
       }) {
    INFO(bad.said);
    CHECK(has(error_of([&] { parse(bad.text); }), bad.said));
  }
}

TEST_CASE("a tail of NUL bytes that a crash left is a torn row", "[csv]") {
  const CsvTable table = parse("a,b\n1,2\n3," + std::string(100, '\0'));
  CHECK(table.rows.size() == 1);
  CHECK(table.torn_last_row);
}

TEST_CASE("a first line that names the separator is passed over", "[csv]") {
  const CsvTable table = parse("sep=,\r\nimpl,time_us\r\nnaive,1.5\r\n");
  CHECK(table.header == std::vector<std::string>{"impl", "time_us"});
  CHECK(table.rows.size() == 1);
  CHECK(table.row_lines[0] == 3);
}

TEST_CASE("a last line without line end is left out, complete as it may look", "[csv]") {
  for (const char* tail : {"3", "3,\"x", "3,\"x\ny", "3,4,5", "3,4,\"x\""}) {
    const CsvTable table = parse(std::string("a,b,c\n1,2,3\n") + tail);
    CHECK(table.torn_last_row);
    CHECK(table.rows.size() == 1);
    CHECK(table.complete_bytes == 12);
  }
}

TEST_CASE("every status is a row, and metrics are empty unless ok", "[csv]") {
  const TempFolder folder;
  write_rows(folder.file("a.csv"), {row("a"), row("b", Status::skipped), row("c", Status::failed),
                                    row("d", Status::verify_failed)});
  const CsvTable table = read_csv_file(folder.file("a.csv"));
  REQUIRE(table.rows.size() == 4);
  const std::vector<std::string> expected{"ok", "skipped", "failed", "verify-failed"};
  for (size_t i = 0; i < 4; ++i) {
    CHECK(table.rows[i][table.column("status")] == expected[i]);
    CHECK(table.rows[i][table.column("time_us")].empty() == (i > 0));
  }
}

TEST_CASE("outputs that cannot be written are named with the cause", "[csv]") {
  const TempFolder folder;
  const auto open_new_csv = [](const std::string& path) { return open_csv(path, false); };
  const auto continue_csv = [](const std::string& path) { return open_csv(path, true); };
  using Open = std::function<std::unique_ptr<Sink>(const std::string&)>;
  for (const Open& open : {Open(open_new_csv), Open(continue_csv), Open(open_json_lines)}) {
    CHECK(has(error_of([&] { open(folder.path.string()); }),
              "'" + folder.path.string() + "': it is a directory"));
    CHECK(has(error_of([&] { open(folder.file("no/such.csv")); }), "no such file or directory"));
    const std::string full = error_of([&] { open("/dev/full")->write(row_of(row("naive"))); });
    CHECK(has(full, "/dev/full"));
    CHECK(has(full, "No space left"));
  }
  CHECK(has(error_of([&] { read_csv_file(folder.path.string()); }), "it is a directory"));
  CHECK(has(error_of([&] { read_csv_file(folder.file("none.csv")); }), "none.csv': no such file"));
}

TEST_CASE("a reader that went away is an error, not a signal", "[csv]") {
  const TempFolder folder;
  const std::string pipe = folder.file("pipe");
  REQUIRE(::mkfifo(pipe.c_str(), 0600) == 0);
  auto* before = std::signal(SIGPIPE, SIG_IGN);
  {
    std::fstream reader(pipe, std::ios::in | std::ios::out);
    const auto sink = open_csv(pipe, false);
    reader.close();
    CHECK(has(error_of([&] { sink->write(row_of(row("naive"))); }), "pipe': Broken pipe"));
  }
  std::signal(SIGPIPE, before);
}

TEST_CASE("appending cuts a torn row off and goes on", "[csv]") {
  const TempFolder folder;
  const std::string path = folder.file("a.csv");
  write_rows(path, {row("a"), row("b"), row("c")});
  const std::string whole = slurp(path);
  write_rows(folder.file("two.csv"), {row("a"), row("b")});
  const size_t two = slurp(folder.file("two.csv")).size();
  for (size_t cut = two; cut < whole.size(); ++cut) {  // wherever the third row was torn
    put(path, whole.substr(0, cut));
    const ResumeInfo info = read_resume(path);
    REQUIRE(info.table.rows.size() == 2);
    REQUIRE(info.table.torn_last_row == (cut > two));
    write_rows(path, {row("c")}, true);
    REQUIRE(slurp(path) == whole);
  }
}

TEST_CASE("appending to an absent, empty or header-torn file starts it", "[csv]") {
  const TempFolder folder;
  write_rows(folder.file("a.csv"), {row("a")});
  const std::string whole = slurp(folder.file("a.csv"));
  for (const char* start : {"", "schema,dev"}) {
    put(folder.file("b.csv"), start);
    CHECK(read_resume(folder.file("b.csv")).table.rows.empty());
    write_rows(folder.file("b.csv"), {row("a")}, true);
    CHECK(slurp(folder.file("b.csv")) == whole);
  }
  write_rows(folder.file("c.csv"), {row("a")}, true);
  CHECK(slurp(folder.file("c.csv")) == whole);
}

TEST_CASE("appending keeps the file's own order and extra columns", "[csv]") {
  const TempFolder folder;
  std::string header = "note";
  for (auto at = columns().rbegin(); at != columns().rend(); ++at) header += "," + std::string(at->name);
  put(folder.file("a.csv"), header + "\n");
  write_rows(folder.file("a.csv"), {row("naive")}, true);
  const CsvTable table = read_csv_file(folder.file("a.csv"));
  REQUIRE(table.rows.size() == 1);
  CHECK(table.header.front() == "note");
  CHECK(table.rows[0][0].empty());
  CHECK(row_key(table, 0) == record_key(row("naive")));
  CHECK(table.rows[0][table.column("time_us")] == "2174.166101");
}

TEST_CASE("files of another kind or schema are not continued, and stay as they are", "[csv]") {
  const TempFolder folder;
  const std::string path = folder.file("a.csv");
  put(path, "schema,impl\n1,naive\n");
  CHECK(has(error_of([&] { open_csv(path, true); }), "no column 'device'"));
  CHECK(has(error_of([&] { read_resume(path); }), "no column 'device'"));
  CHECK(slurp(path) == "schema,impl\n1,naive\n");
  write_rows(path, {row("a")});
  std::string text = slurp(path);
  text.replace(text.find('\n') + 1, 1, "7");
  put(path, text);
  CHECK(has(error_of([&] { open_csv(path, true); }), "line 2 has '7' in column 'schema'"));
}

TEST_CASE("resume knows the rows and refuses another device, not another index", "[csv]") {
  const TempFolder folder;
  Record r = row("naive");
  r.device.kind = DeviceKind::gpu;
  r.device.name = "NVIDIA H200";
  r.device.uuid = "GPU-1";
  write_rows(folder.file("a.csv"), {r});
  const ResumeInfo info = read_resume(folder.file("a.csv"));
  CHECK(info.has(record_key(r)));
  CHECK_FALSE(info.has(record_key(row("flash2"))));
  DeviceInfo now = r.device;
  now.index = 5;
  CHECK_NOTHROW(require_same_device(info, now, "node1", "a.csv"));
  now.uuid = "GPU-2";
  CHECK(has(error_of([&] { require_same_device(info, now, "node1", "a.csv"); }), "GPU-1"));
  now = DeviceInfo{};
  now.name = "EPYC";
  CHECK(has(error_of([&] { require_same_device(info, now, "node1", "a.csv"); }), "this run is on cpu EPYC"));
}

TEST_CASE("resume refuses rows of another machine with the same processor", "[csv]") {
  const TempFolder folder;
  Record r = row("naive");
  r.conditions.hostname = "node1";
  write_rows(folder.file("a.csv"), {r});
  const ResumeInfo info = read_resume(folder.file("a.csv"));
  CHECK_NOTHROW(require_same_device(info, r.device, "node1", "a.csv"));
  CHECK(has(error_of([&] { require_same_device(info, r.device, "node2", "a.csv"); }),
            "(node1), this run is on"));
}

TEST_CASE("a file from before there were rests and rows about single kernels has the keys of whole launches",
          "[csv]") {
  const TempFolder folder;
  Record kernel = row("naive");
  kernel.kernel = "qk";
  write_rows(folder.file("a.csv"), {row("naive"), kernel});
  CsvTable table = read_csv_file(folder.file("a.csv"));
  CHECK(row_key(table, 0) == record_key(row("naive")));
  CHECK(row_key(table, 1) == record_key(kernel));
  CHECK(row_key(table, 0) != row_key(table, 1));
  for (const char* name : {"kernel", "rest"}) {
    const size_t column = table.column(name);
    table.header.erase(table.header.begin() + static_cast<std::ptrdiff_t>(column));
    table.rows[0].erase(table.rows[0].begin() + static_cast<std::ptrdiff_t>(column));
  }
  CHECK(row_key(table, 0) == record_key(row("naive")));
}

TEST_CASE("a file with fewer columns is not continued: rows would lose figures", "[csv]") {
  const TempFolder folder;
  const std::string path = folder.file("a.csv");
  write_rows(path, {row("naive")});
  const CsvTable table = read_csv_file(path);
  std::string older;
  for (const auto& cells : {table.header, table.rows[0]}) {
    for (size_t i = 0; i < cells.size(); ++i) {
      if (i != table.column("ceiling_copy_gbps")) older += (i > 0 ? "," : "") + csv_field(cells[i]);
    }
    older += '\n';
  }
  put(path, older);
  CHECK(has(error_of([&] { open_csv(path, true); }), "no column 'ceiling_copy_gbps'"));
  CHECK(slurp(path) == older);
}

TEST_CASE("keys survive a spreadsheet that keeps 15 digits, or 9", "[csv]") {
  const TempFolder folder;
  write_rows(folder.file("a.csv"), {row("naive")});
  CsvTable table = read_csv_file(folder.file("a.csv"));
  CHECK(table.rows[0][table.column("scale")] == "0.11180339887498948");
  for (const char* saved : {"0.111803398874989", "0.111803399"}) {
    table.rows[0][table.column("scale")] = saved;
    CHECK(row_key(table, 0) == record_key(row("naive")));
  }
}

TEST_CASE("JSON rows escape text, keep numbers as numbers and say null", "[csv]") {
  Record r = row("naive");
  r.message = "tab\t \"q\" \\ \x01 \xff \xc3\xa4 \xed\xa0\x80";
  const std::string json = json_row(row_of(r));
  CHECK(has(json,
            "\"message\":\"tab\\u0009 \\\"q\\\" \\\\ \\u0001 \xEF\xBF\xBD \xc3\xa4 "
            "\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD\""));
  CHECK(has(json, "\"time_us\":2174.166101,"));
  CHECK(has(json, "\"hbm_read_bytes\":null"));
  CHECK(has(json, "\"batch\":1,"));
  CHECK(json.find('\n') == std::string::npos);
}
