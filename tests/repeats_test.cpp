// The gate on real runs of one build on an H200 (docs/results, made by `scripts/check_power --save`): it
// never fails one against another, and finds slow-downs that are written into them.
#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "catch.hpp"
#include "gate/gate.hpp"
#include "rows/csv.hpp"

using namespace attnprof;

namespace {

std::vector<CsvTable> runs_of(const std::string& name) {
  const CsvTable all = read_csv_file(std::string(ATTNPROF_SOURCE_DIR "/docs/results/") + name);
  std::map<std::string, CsvTable> runs;
  for (size_t row = 0; row < all.rows.size(); ++row) {
    CsvTable& run = runs[all.rows[row][all.column("run")]];
    run.file = name;
    run.header = all.header;
    run.rows.push_back(all.rows[row]);
    run.row_lines.push_back(all.row_lines[row]);
  }
  std::vector<CsvTable> tables;
  for (auto& [number, table] : runs) tables.push_back(std::move(table));
  return tables;
}

/// The run with the times of every fourth case raised, beginning with case `first`.
RowFile slowed(CsvTable run, double slow_down, size_t first) {
  for (size_t row = first; row < run.rows.size(); row += 4) {
    for (const char* column : {"time_us", "time_lo_us", "time_hi_us"}) {
      std::string& cell = run.rows[row][run.column(column)];
      cell = std::to_string(*cell_number(cell) * (1 + slow_down));
    }
  }
  return rows_of(std::move(run));
}

size_t slower(const GateReport& report) {
  return static_cast<size_t>(std::count_if(report.findings.begin(), report.findings.end(),
                                           [](const Finding& f) { return f.fails(); }));
}

/// What a run of the same build should never be told: cases that fail, and families that moved.
size_t complaints(const GateReport& report) {
  return static_cast<size_t>(
      std::count_if(report.findings.begin(), report.findings.end(),
                    [](const Finding& f) { return f.fails() || f.subject == Subject::family; }));
}

/// Share of the slowed cases that gates of two runs each find: of every run against the next.
double found(const std::vector<CsvTable>& runs, double slow_down) {
  size_t slow = 0, seen = 0;
  for (size_t i = 0; i < runs.size(); ++i) {
    const RowFile before = rows_of(runs[i]);
    const CsvTable& next = runs[(i + 1) % runs.size()];
    seen += slower(judge_rows({before}, {slowed(next, slow_down, i % 4)}, {}));
    slow += next.rows.size() / 4;
  }
  return static_cast<double>(seen) / static_cast<double>(slow);
}

}  // namespace

TEST_CASE("no run of a build on an H200 fails against another, one or three of each, with rests and without",
          "[results][gate]") {
  for (const auto& [name, count] :
       std::map<std::string, size_t>{{"repeats/h200.csv", 17}, {"repeats/h200-rested.csv", 30}}) {
    std::vector<RowFile> runs;
    for (CsvTable& table : runs_of(name)) runs.push_back(rows_of(std::move(table)));
    REQUIRE(runs.size() == count);
    for (size_t a = 0; a < runs.size(); ++a) {
      const auto run = [&](size_t i) { return runs[(a + i) % runs.size()]; };
      INFO(name << ", run " << a);
      for (size_t b = 1; b < runs.size(); ++b) CHECK(complaints(judge_rows({run(0)}, {run(b)}, {})) == 0);
      CHECK(complaints(judge_rows({run(1), run(2), run(3)}, {run(0)}, {})) == 0);
      CHECK(complaints(judge_rows({run(1), run(2), run(3)}, {run(4), run(5), run(6)}, {})) == 0);
    }
  }
}

TEST_CASE("with rests one run on an H200 shows nineteen of twenty slow-downs by 3%", "[results][gate]") {
  const std::vector<CsvTable> runs = runs_of("repeats/h200-rested.csv");
  CHECK(found(runs, 0.01) < 0.01);  // below the threshold
  CHECK(found(runs, 0.03) > 0.95);
  CHECK(found(runs, 0.05) > 0.97);
  CHECK(found(runs, 0.10) > 0.99);
  // Back to back the chip is at its power limit in half of the cases: there only more is a slow-down.
  CHECK(found(runs_of("repeats/h200.csv"), 0.03) < 0.7);
}
