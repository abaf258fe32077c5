// What one row in the table of axes is enough for: `dropout`, an axis that is not built in, and all that
// follows from its row. A program of its own, since the table is read once.
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <iterator>

#include "catch.hpp"
#include "cli/program.hpp"
#include "core/axes.hpp"
#include "core/error.hpp"
#include "core/tuned.hpp"
#include "implementations.hpp"
#include "measure/plan.hpp"
#include "rows/columns.hpp"
#include "rows/csv.hpp"
#include "rows/row.hpp"
#include "rows/rows.hpp"
#include "state/tuned_csv.hpp"
#include "temp_folder.hpp"

using namespace attnprof;

namespace {

const bool added = [] {
  added_axes().push_back(
      {.name = "dropout",
       .option = "dropout",
       .help = "Share of the probabilities that is dropped",
       .meaning = "share of the probabilities that is dropped; empty: none",
       .kind = AxisKind::number,
       .most = 1,
       .field = {[](const Case& c) -> Cell { return c.problem.dropout; },
                 [](Case& c, const Cell& cell) { c.problem.dropout = std::get<double>(cell); }},
       .feature = [](const Case& c) { return c.problem.dropout > 0 ? "dropout" : ""; },
       .nesting = 13,
       .empty_when_neutral = true,
       .label = " dropout {}",
       .tuned = TunedMatch::equal});
  return true;
}();

std::string read(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

/// Runs a command line in this process; what it prints to stdout goes to `output`.
int run(std::vector<std::string> words, const std::string& output = "/dev/null") {
  words.insert(words.begin(), "attnprof");
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  std::fflush(stdout);
  const int saved = dup(STDOUT_FILENO), file = open(output.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  dup2(file, STDOUT_FILENO);
  const int code = run_attnprof(static_cast<int>(arguments.size()), arguments.data());
  std::fflush(stdout);
  dup2(saved, STDOUT_FILENO);
  close(saved);
  close(file);
  return code;
}

std::vector<std::string> sweep(const std::string& csv, std::vector<std::string> more) {
  std::vector<std::string> words{"sweep", "--device",      "cpu",   "--threads",  "1", "--impl",
                                 "naive", "--heads",       "1",     "--head-dim", "8", "--max-time",
                                 "0.01",  "--no-ceilings", "--csv", csv};
  if (std::find(more.begin(), more.end(), "--config") == more.end())
    words.insert(words.end(), {"--seqlen", "16"});
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

}  // namespace

TEST_CASE("one row gives an axis its option, config key, column, identity, command, label and refusal",
          "[axis]") {
  TempFolder folder;
  const std::string csv = folder.file("a.csv"), help = folder.file("help.txt");
  CHECK(run({"sweep", "--help"}, help) == 0);
  CHECK(read(help).find("--dropout") != std::string::npos);

  run(sweep(csv, {"--dropout", "0,0.1,0.25,0.1"}));
  const std::vector<Row> rows = read_rows(csv).rows;
  REQUIRE(rows.size() == 3);  // identity: 0.1 is there once, and three values are three rows
  CHECK(rows[0].text("dropout").empty());
  CHECK(rows[0].status() == Status::ok);
  CHECK(rows[1].text("dropout") == "0.1");
  CHECK(rows[2].text("dropout") == "0.25");
  CHECK(rows[1].key() != rows[2].key());
  CHECK(rows[1].status() == Status::unsupported);
  CHECK(rows[1].text("message").find("naive does not support dropout") == 0);
  CHECK(rows[1].text("command").find(" --dropout 0.1") != std::string::npos);
  CHECK(rows[0].text("command").find("--dropout") == std::string::npos);
  CHECK(rows[1].label() == "naive bf16 b1 h1 s16 d8 dropout 0.1");
  CHECK(rows[0].label() == "naive bf16 b1 h1 s16 d8");
  CHECK(columns_markdown().find("`dropout`") != std::string::npos);
  const Column* column = find_column("dropout");
  REQUIRE(column != nullptr);
  CHECK(column->is_key);

  const std::string config = folder.file("c.toml"), from_config = folder.file("b.csv");
  std::ofstream(config) << "seqlen = 16\ndropout = [0.1, 0.5]\n";
  run(sweep(from_config, {"--config", config}));
  REQUIRE(read_rows(from_config).rows.size() == 2);
  CHECK(read_rows(from_config).rows[1].text("dropout") == "0.5");
  CHECK(run(sweep(folder.file("d.csv"), {"--dropout", "much"})) == 2);
}

TEST_CASE("cells of an added axis are checked, and files from before it mean the neutral value", "[axis]") {
  TempFolder folder;
  const std::string csv = folder.file("a.csv");
  run(sweep(csv, {}));
  CsvTable table = parse_csv(read(csv), csv);
  const std::string key = rows_of(table).rows.at(0).key();
  const size_t position = table.column("dropout");
  for (const char* bad : {"abc", "-0.1", "2"}) {
    CsvTable damaged = table;
    damaged.rows[0][position] = bad;
    CHECK_THROWS_WITH(rows_of(std::move(damaged)), containing("column 'dropout'"));
  }
  table.header.erase(table.header.begin() + static_cast<std::ptrdiff_t>(position));
  table.rows[0].erase(table.rows[0].begin() + static_cast<std::ptrdiff_t>(position));
  CHECK(rows_of(std::move(table)).rows.at(0).key() == key);
}

TEST_CASE("no implementation takes an axis that it does not know of", "[axis]") {
  for (const Implementation& impl : registry()) {
    INFO(impl.name);
    Case c;
    c.problem.dropout = 0.1;
    c.problem.pass = impl.pass;
    const Unsupported reason = refusal(impl, c, DeviceInfo{});
    REQUIRE(reason);
    CHECK(reason->find("dropout") != std::string::npos);
  }
}

TEST_CASE("tuned tiles hold for their value of an added axis", "[axis]") {
  DeviceInfo device;
  Case c;
  c.impl = "fused";
  c.problem.dropout = 0.1;
  c.problem.seqlen_q = c.problem.seqlen_kv = c.problem.head_dim = 64;
  const TunedKey key = tuned_key(c, device);
  CHECK(fits(key, "fused", c.problem, device));
  c.problem.dropout = 0.2;
  CHECK_FALSE(fits(key, "fused", c.problem, device));
  TunedEntry entry;
  entry.key = key;
  entry.config = {64, 32, 0, 0};
  const std::string text = tuned_csv({entry});
  CHECK(text.find("dropout") != std::string::npos);
  CHECK(parse_tuned(text, "t.csv", [](std::string_view, DeviceKind) { return true; }).at(0).key == key);
}

TEST_CASE("the limit on planned cases counts an added axis", "[axis]") {
  Axes axes;
  axes.set("seqlen", "1:1024:+1");
  axes.impls = {"naive"};
  std::string values;
  for (int i = 1; i <= 2000; ++i) values += (values.empty() ? "" : ",") + std::to_string(i * 1e-4);
  axes.set("dropout", values);
  CHECK_THROWS_WITH(expand(axes), containing("more than 1000000 cases"));
}

TEST_CASE("an axis that files of schema 1 do not have is empty when neutral", "[axis]") {
  for (const Axis& axis : axes()) {
    const bool first_schema = &axis - axes().data() < 17;
    INFO(axis.name);
    CHECK((first_schema || axis.empty_when_neutral));
  }
}
