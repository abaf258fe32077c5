// attnprof sweep --resume as its users meet it: what is measured again, what is refused.
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include "catch.hpp"
#include "rows/csv.hpp"
#include "run_program.hpp"
#include "temp_folder.hpp"

using namespace attnprof;

namespace {

namespace fs = std::filesystem;

constexpr const char* kTiny =
    "sweep --device cpu --seqlen 64,128 --heads 2 --head-dim 32 --max-time 0.05 --min-samples 6";

}  // namespace

TEST_CASE("resume measures only what the file lacks, and repairs a torn last row", "[cli][resume]") {
  TempFolder scratch;
  const fs::path csv = scratch.path / "rows.csv";
  REQUIRE(run_program(std::string(kTiny) + " --impl naive --csv " + csv.string()).exit_code == 0);
  const std::string first = slurp(csv);
  std::ofstream(csv, std::ios::app) << "fused,fwd,bf";  // a run that died mid-row
  const Outcome o = run_program(std::string(kTiny) + " --impl naive,fused --resume --csv " + csv.string());
  INFO(o.err);
  CHECK(o.exit_code == 0);
  const std::string after = slurp(csv);
  CHECK(lines(after) == 1 + 4);
  CHECK(after.compare(0, first.size(), first) == 0);
  const Outcome again =
      run_program(std::string(kTiny) + " --impl naive,fused --resume --csv " + csv.string());
  CHECK(again.exit_code == 0);
  CHECK(slurp(csv) == after);
}

TEST_CASE("resume refuses a file of another schema or device and leaves it alone", "[cli][resume]") {
  TempFolder scratch;
  const fs::path csv = scratch.path / "rows.csv";
  std::ofstream(csv) << "when,what\n1,2\n";
  const Outcome schema = run_program(std::string(kTiny) + " --resume --csv " + csv.string());
  CHECK(schema.exit_code == 2);
  CHECK(slurp(csv) == "when,what\n1,2\n");

  REQUIRE(run_program(std::string(kTiny) + " --impl fused --overwrite --csv " + csv.string()).exit_code == 0);
  std::string text = slurp(csv);
  const std::string header = text.substr(0, text.find('\n'));
  REQUIRE(header.find("device_name") != std::string::npos);
  // The same rows as if another machine had measured them.
  std::stringstream in(header);
  int column = 0, device = -1;
  for (std::string name; std::getline(in, name, ',');) {
    if (name == "device_name") device = column;
    ++column;
  }
  REQUIRE(device >= 0);
  const Outcome list = run_program("list devices");
  const size_t at = list.out.find("cpu      ") + 9;
  const std::string name = list.out.substr(at, list.out.find(',', at) - at);
  for (size_t pos = text.find(name); pos != std::string::npos; pos = text.find(name, pos + 6)) {
    text.replace(pos, name.size(), "Abacus");
  }
  std::ofstream(csv) << text;
  const Outcome other = run_program(std::string(kTiny) + " --impl naive --resume --csv " + csv.string());
  CHECK(other.exit_code == 2);
  CHECK(other.err.find("Abacus") != std::string::npos);
  CHECK(slurp(csv) == text);
}

TEST_CASE("resume with --per-kernel adds the rows of kernels that the file lacks, each once",
          "[cli][resume]") {
  TempFolder scratch;
  const fs::path csv = scratch.path / "rows.csv";
  const std::string call = std::string(kTiny) + " --impl naive,fused --csv " + csv.string();
  REQUIRE(run_program(call).exit_code == 0);
  const std::string before = slurp(csv);
  REQUIRE(lines(before) == 1 + 4);
  const Outcome o = run_program(call + " --per-kernel --resume");
  INFO(o.err);
  CHECK(o.exit_code == 0);
  const std::string after = slurp(csv);
  CHECK(after.compare(0, before.size(), before) == 0);
  CHECK(lines(after) == 1 + 4 + 2 * 3);
  // A run that died between the rows of one case.
  const std::string torn = after.substr(0, after.rfind(",softmax,"));
  std::ofstream(csv) << torn.substr(0, torn.rfind('\n') + 1);
  CHECK(run_program(call + " --per-kernel --resume").exit_code == 0);
  CHECK(lines(slurp(csv)) == 1 + 4 + 2 * 3);
  const std::string whole = slurp(csv);
  CHECK(run_program(call + " --per-kernel --resume").exit_code == 0);
  CHECK(slurp(csv) == whole);
  CHECK(run_program(call + " --resume").exit_code == 0);  // rows of kernels are no rows of launches
  CHECK(slurp(csv) == whole);
}

TEST_CASE("resume says that it adds rows of kernels, and refuses to leave them out of half a file",
          "[cli][resume]") {
  TempFolder scratch;
  const std::string csv = scratch.file("rows.csv");
  const auto sweep = [&csv](const std::string& options) {
    return run_program(
        "sweep --device cpu --heads 2 --head-dim 32 --max-time 0.05 --min-samples 6 --quiet --impl "
        "naive,fused --csv " +
        csv + " " + options);
  };
  REQUIRE(sweep("--seqlen 64").exit_code == 0);
  const Outcome added = sweep("--seqlen 64 --resume --per-kernel");
  CHECK(added.exit_code == 0);
  CHECK(added.err.find("lacks rows of single kernels of 1 case: it is measured again") != std::string::npos);
  CHECK(sweep("--seqlen 64 --resume").exit_code == 0);  // nothing is left, nothing is mixed
  const std::string before = slurp(csv);
  const Outcome mixed = sweep("--seqlen 64,128 --resume");
  CHECK(mixed.exit_code == 2);
  CHECK(lines(mixed.err) == 1);
  CHECK(mixed.err.find("without --per-kernel: line 4 is about a single kernel") != std::string::npos);
  CHECK(slurp(csv) == before);
  CHECK(sweep("--seqlen 64,128 --resume --per-kernel").exit_code == 0);
}

TEST_CASE("resume takes no row for measured whose figures are damaged: it names file, line and column",
          "[cli][resume]") {
  TempFolder scratch;
  const std::string csv = scratch.file("rows.csv");
  const std::string call = std::string(kTiny) + " --impl fused --quiet --csv " + csv;
  REQUIRE(run_program(call).exit_code == 0);
  const CsvTable whole = read_csv_file(csv);
  struct Damage {
    const char *column, *cell, *said;
  };
  for (const Damage& damage :
       {Damage{"time_us", "", "rows.csv:3: column 'time_us': is empty, though status is ok"},
        {"time_us", "1.2.3", "rows.csv:3: column 'time_us': '1.2.3' is not a number"},
        {"time_us", "-4", "rows.csv:3: column 'time_us': '-4' is no time"},
        {"hbm_read_bytes", "12ab", "rows.csv:3: column 'hbm_read_bytes': '12ab'"},
        {"rel_err", "", "rows.csv:3: status is ok, but it is not verified: no rel_err"},
        {"rel_err", "0.9", "rows.csv:3: status is ok, but it is not verified: rel_err 0.9"},
        {"status", "o", "rows.csv:3: column 'status': 'o' is none of"},
        {"seqlen_q", "6x", "rows.csv:3: column 'seqlen_q': '6x'"}}) {
    INFO(damage.said);
    CsvTable table = whole;
    table.rows[1][table.column(damage.column)] = damage.cell;
    std::string text;
    const auto add = [&text](const std::vector<std::string>& cells) {
      for (size_t i = 0; i < cells.size(); ++i) text += (i > 0 ? "," : "") + csv_field(cells[i]);
      text += '\n';
    };
    add(table.header);
    for (const auto& row : table.rows) add(row);
    put(csv, text);
    const Outcome o = run_program(call + " --resume");
    CHECK(o.exit_code == 2);
    CHECK(lines(o.err) == 1);
    CHECK(o.err.find(damage.said) != std::string::npos);
    CHECK(o.err.find("delete that line to measure it again") != std::string::npos);
    CHECK(slurp(csv) == text);
  }
}
