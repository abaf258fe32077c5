#include "rows/merge.hpp"

#include <fstream>
#include <functional>
#include <iterator>

#include "catch.hpp"
#include "core/error.hpp"
#include "error_of.hpp"
#include "rows/columns.hpp"
#include "temp_folder.hpp"
#include "text.hpp"

using namespace attnprof;

namespace {

/// Row `plan_row` of a plan of six, told apart by its length.
Record row(int64_t plan_row, const char* shard = "") {
  Record r;
  r.planned.impl = "naive";
  r.planned.problem = {.seqlen_q = 64 * plan_row, .seqlen_kv = 64 * plan_row, .head_dim = 80};
  r.device.name = "EPYC, 2 cores";
  r.time = TimeStats{10.5 * static_cast<double>(plan_row), 10, 110, 9, 120, 20, 3, true, false};
  r.plan_row = plan_row;
  r.conditions.plan = "p1";
  r.conditions.plan_rows = 6;
  r.conditions.shard = shard;
  r.conditions.hostname = "node1";
  return r;
}
Record gpu_row(int64_t plan_row, const char* uuid) {
  Record r = row(plan_row);
  r.device.kind = DeviceKind::gpu;
  r.device.name = "NVIDIA H200";
  r.device.uuid = uuid;
  return r;
}

/// Files of rows in a folder of their own.
struct Files {
  TempFolder folder;
  std::string write(const char* name, const std::vector<Record>& rows) {
    const std::string path = folder.file(name);
    const auto sink = open_csv(path, false);
    for (const Record& r : rows) sink->write(row_of(r));
    return path;
  }
  std::string text(const char* name, const std::string& text) {
    put(folder.file(name), text);
    return folder.file(name);
  }
};

MergedRows merge(const std::vector<std::string>& paths) {
  std::vector<CsvTable> tables;
  for (const std::string& path : paths) tables.push_back(read_rows_to_merge(path));
  return merge_rows(tables);
}
std::vector<std::string> column(const MergedRows& merged, const std::string& name) {
  const auto at = std::find(merged.header.begin(), merged.header.end(), name) - merged.header.begin();
  std::vector<std::string> cells;
  for (const auto& cells_of_row : merged.rows) cells.push_back(cells_of_row.at(static_cast<size_t>(at)));
  return cells;
}
using Words = std::vector<std::string>;

}  // namespace

TEST_CASE("shards given in any order make the file of one run, byte for byte", "[merge]") {
  Files files;
  const std::string one = files.write("one.csv", {row(1), row(2), row(3), row(4), row(5), row(6)});
  const std::string a = files.write("a.csv", {row(2), row(5)}), b = files.write("b.csv", {row(1), row(6)}),
                    c = files.write("c.csv", {row(3), row(4)});
  for (const auto& order : {Words{a, b, c}, Words{c, b, a}}) {
    write_rows(merge(order), files.folder.file("merged.csv"));
    CHECK(slurp(files.folder.file("merged.csv")) == slurp(one));
  }
}

TEST_CASE("a row that is in two files is there once when its cells are equal", "[merge]") {
  Files files;
  const std::string a = files.write("a.csv", {row(1), row(2)}), b = files.write("b.csv", {row(2), row(3)});
  const MergedRows merged = merge({a, b});
  CHECK(column(merged, "plan_row") == Words{"1", "2", "3"});
  CHECK(merged.repeated == 1);
  // A spreadsheet drops trailing zeros and digits of fractions that are part of the key.
  std::string text = slurp(b);
  text.replace(text.find(",21,10,110,"), 11, ",21.0,10.00,110,");
  CHECK(merge({a, files.text("b.csv", text)}).repeated == 1);
}

TEST_CASE("one case with two results on one device is refused, both files and lines named", "[merge]") {
  Files files;
  Record other = row(2);
  other.time->median_us = 99;
  const std::string a = files.write("a.csv", {row(1), row(2)}), b = files.write("b.csv", {other});
  const std::string error = error_of([&] { merge({a, b}); });
  INFO(error);
  CHECK(has(error, a + ":3 and " + b + ":2 "));
  CHECK(has(error, "'time_us': '21' and '99'"));
}

TEST_CASE("rows of other devices all stay: other GPUs by UUID, hosts by name", "[merge]") {
  Files files;
  const MergedRows gpus = merge({files.write("a.csv", {gpu_row(1, "GPU-1"), gpu_row(2, "GPU-1")}),
                                 files.write("b.csv", {gpu_row(1, "GPU-2"), gpu_row(2, "GPU-2")})});
  CHECK(column(gpus, "device_uuid") == Words{"GPU-1", "GPU-2", "GPU-1", "GPU-2"});
  CHECK(column(gpus, "plan_row") == Words{"1", "1", "2", "2"});
  Record second = row(1), other_model = row(1);
  second.conditions.hostname = "node2";
  other_model.device.name = "Xeon";
  CHECK(merge({files.write("a.csv", {row(1)}), files.write("b.csv", {second, other_model})}).rows.size() ==
        3);
  // The same GPU keeps its UUID when it moves to another machine.
  Record moved = gpu_row(1, "GPU-1");
  moved.conditions.hostname = "node2";
  CHECK(has(error_of([&] {
              merge({files.write("a.csv", {gpu_row(1, "GPU-1")}), files.write("b.csv", {moved})});
            }),
            "'hostname': 'node1' and 'node2'"));
}

TEST_CASE("a missing shard, and one that did not finish, are named", "[merge]") {
  Files files;
  const std::string a = files.write("a.csv", {row(1, "1 of 3"), row(4, "1 of 3")}),
                    b = files.write("b.csv", {row(2, "2 of 3"), row(5, "2 of 3")}),
                    c = files.write("c.csv", {row(3, "3 of 3"), row(6, "3 of 3")});
  CHECK(merge({a, b, c}).missing.empty());
  const Words without = merge({a, c}).missing;
  REQUIRE(without.size() == 1);
  CHECK(has(without[0], "2 of the 6 rows of plan p1"));
  CHECK(has(without[0], "no row is of shard 2/3"));
  const Words unfinished = merge({a, files.write("b.csv", {row(2, "2 of 3")}), c}).missing;
  REQUIRE(unfinished.size() == 1);
  CHECK(has(unfinished[0], "1 of the 6 rows"));
  CHECK(has(unfinished[0], "did not finish"));
  // What was not split says nothing about missing shards.
  CHECK(merge({files.write("d.csv", {row(1), row(2)})}).missing.empty());
}

TEST_CASE("plans follow one another, and rows of other programs come last", "[merge]") {
  Files files;
  Record peer = row(9), other = row(1);
  peer.conditions.plan = "";
  other.conditions.plan = "p2";
  other.planned.impl = "fused";
  const std::string a = files.write("a.csv", {row(4), peer}), b = files.write("b.csv", {other, row(1)});
  CHECK(column(merge({a, b}), "plan") == Words{"p1", "p1", "p2", ""});
  CHECK(column(merge({a, b}), "plan_row") == Words{"1", "4", "1", ""});
}

TEST_CASE("a torn last row is left out as by --resume, and a torn header is no row", "[merge]") {
  Files files;
  const std::string whole = slurp(files.write("a.csv", {row(1), row(2)}));
  const size_t second = slurp(files.write("one.csv", {row(1)})).size();
  for (size_t cut = 0; cut < whole.size(); cut += (cut < whole.size() - 20 ? 41 : 1)) {
    const CsvTable table = read_rows_to_merge(files.text("torn.csv", whole.substr(0, cut)));
    INFO(cut);
    CHECK(table.rows.size() == (cut < second ? 0u : 1u));
    CHECK(table.torn_last_row == (cut > 0 && cut != second));
  }
  CHECK(read_rows_to_merge(files.text("torn.csv", whole)).rows.size() == 2);
  const std::string torn = files.text("torn.csv", whole.substr(0, whole.size() - 1));
  CHECK(column(merge({torn, files.text("empty.csv", "")}), "plan_row") == Words{"1"});
}

TEST_CASE("columns that only some files have are kept, in the first file's order", "[merge]") {
  Files files;
  std::string text = slurp(files.write("a.csv", {row(2)}));
  text.insert(text.find('\n'), ",note");
  text.insert(text.size() - 1, ",\"see, below\"");
  const MergedRows merged = merge({files.write("b.csv", {row(1)}), files.text("a.csv", text)});
  CHECK(merged.header.size() == columns().size() + 1);
  CHECK(column(merged, "note") == Words{"", "see, below"});
  write_rows(merged, files.folder.file("merged.csv"));
  CHECK(has(slurp(files.folder.file("merged.csv")), ",\"see, below\"\n"));
}

TEST_CASE("files that cannot be merged are refused with file, line and column", "[merge]") {
  Files files;
  const std::string good = slurp(files.write("good.csv", {row(1)}));
  const auto with = [&](const std::string& from, const std::string& to) {
    std::string text = good;
    const size_t at = text.find(from, text.find('\n'));
    REQUIRE(at != std::string::npos);
    return files.text("bad.csv", text.replace(at, from.size(), to));
  };
  const auto refusal = [&](const std::string& path) {
    return error_of([&] { merge({files.folder.file("good.csv"), path}); });
  };
  CHECK(has(refusal(with("\n1,cpu", "\n2,cpu")), "bad.csv:2: column 'schema': '2' is not the schema"));
  CHECK(has(refusal(with("p1,1,6,", "p1,0,6,")),
            "bad.csv:2: column 'plan_row': '0' is not a whole number from 1"));
  CHECK(has(refusal(with("p1,1,6,", "p1,7,6,")),
            "bad.csv:2: column 'plan_row': '7' is not in the plan, which has 6 rows"));
  CHECK(has(refusal(with("p1,1,6,", "p1,1,,")),
            "bad.csv:2: column 'plan_rows': '' is not a whole number from 1"));
  CHECK(has(refusal(with(",fwd,", ",sideways,")), "bad.csv:2: column 'pass': 'sideways'"));
  CHECK(has(refusal(with("naive", "other")), "nothing was thrown"));
  std::string other = good;
  other.replace(other.find("naive"), 5, "other").replace(other.find("p1,1,6,"), 7, "p1,1,8,");
  CHECK(has(refusal(files.text("bad.csv", other)), "good.csv:2 has 6 for the same plan"));
  CHECK(has(refusal(files.text("bad.csv", "schema,impl\n1,naive\n")), "bad.csv: has no column 'device'"));
}
