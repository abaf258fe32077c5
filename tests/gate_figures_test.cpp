// What the gate does with cells that are damaged, missing or impossible: it never ends with 0.
#include "catch.hpp"
#include "compare_case.hpp"
#include "core/error.hpp"
#include "gate/figures.hpp"
#include "gate/gate.hpp"
#include "gate/gate_report.hpp"

using namespace attnprof;

namespace {

/// A row in which every figure has a value.
Cells full_row() {
  Cells cells = good_row();
  for (const auto& [name, cell] : Cells{{"time_min_us", "249"},
                                        {"time_max_us", "260"},
                                        {"l2_bytes", "9000000"},
                                        {"fp32_flops", "500000"},
                                        {"exp_count", "70000"},
                                        {"workspace_bytes", "4096"},
                                        {"min_hbm_read_bytes", "3000000"},
                                        {"min_hbm_write_bytes", "1000000"},
                                        {"max_abs_err", "0.002"},
                                        {"rows_checked", "64"}})
    cells[name] = cell;
  return cells;
}

/// Exit code of the gate, and everything that it says.
struct Ended {
  int code = 0;
  std::string text;
};
Ended gate(const Cells& before, const Cells& after) {
  try {
    const RowFile ref = rows_of(parse_csv(csv_of({before}), "ref.csv"));
    const RowFile now = rows_of(parse_csv(csv_of({after}), "new.csv"));
    const GateReport report = judge_rows({ref}, {now}, {});
    return {static_cast<int>(exit_code(report)), gate_table(report, true)};
  } catch (const Error& error) {
    return {static_cast<int>(error.code()), error.what()};
  }
}
Cells with(const std::string& column, const std::string& cell) {
  Cells cells = full_row();
  cells[column] = cell;
  return cells;
}

}  // namespace

TEST_CASE("no cell of either file that is not a number passes, and row and column are named", "[gate]") {
  REQUIRE(gate(full_row(), full_row()).code == 0);
  for (const Figure& figure : figures()) {
    const std::string column(figure.column);
    for (const char* cell : {"nan", "inf", "-inf", "NaN", "abc", "1e999", "-1"}) {
      for (const bool in_baseline : {true, false}) {
        INFO(column << " = '" << cell << "' in the " << (in_baseline ? "baseline" : "new file"));
        const Cells bad = with(column, cell);
        const Ended end = in_baseline ? gate(bad, full_row()) : gate(full_row(), bad);
        CHECK(end.code != 0);
        CHECK(end.text.find(in_baseline ? "ref.csv:2" : "new.csv:2") != std::string::npos);
        CHECK(end.text.find("column '" + column + "'") != std::string::npos);
        CHECK(gate(bad, bad).code != 0);  // no better for having been so before
      }
    }
  }
}

TEST_CASE("an empty figure passes only where the baseline had none either", "[gate]") {
  for (const Figure& figure : figures()) {
    const std::string column(figure.column);
    INFO(column);
    const Cells empty = with(column, "");
    CHECK(gate(empty, full_row()).code != 0);
    CHECK(gate(full_row(), empty).code != 0);
    const bool needed = figure.subject == Subject::time || column == "rel_err" || column == "tolerance";
    if (!needed) CHECK(gate(empty, empty).code == 0);
  }
  CHECK(gate(with("l2_bytes", ""), full_row()).text.find("no data in the baseline") != std::string::npos);
}

TEST_CASE("a row without an error is not verified, whatever it was before", "[gate]") {
  for (const char* column : {"rel_err", "tolerance"}) {
    INFO(column);
    CHECK(gate(with(column, ""), with(column, "")).code == 1);
    CHECK(gate(with(column, "nan"), with(column, "nan")).code == 4);
  }
  // Nor is a new case.
  const RowFile ref = rows_of(parse_csv(csv_of({{}}), "ref.csv"));
  const RowFile now = rows_of(parse_csv(csv_of({{}, {{"impl", "flash9"}, {"rel_err", ""}}}), "new.csv"));
  CHECK(exit_code(judge_rows({ref}, {now}, {})) == ExitCode::regression);
}

TEST_CASE("a looser tolerance than the baseline's is not taken for verified", "[gate]") {
  Cells loose = with("tolerance", "1");
  loose["rel_err"] = "0.9";
  CHECK(gate(full_row(), loose).code == 3);
  CHECK(gate(full_row(), with("tolerance", "0.011")).code == 0);
}

TEST_CASE("fewer FLOPs or exponentials than the scores need are a wrong count", "[gate]") {
  Cells before = full_row();
  before["model_flops"] = "2000000";
  for (const char* column : {"executed_flops", "exp_count"}) {
    CAPTURE(column);
    Cells after = before;
    after[column] = "5";
    CHECK(gate(before, after).code == 3);
    CHECK(gate(after, after).code == 0);  // as before
  }
}

TEST_CASE("no bytes, or far fewer than must be moved, are a wrong count and not an improvement", "[gate]") {
  CHECK(gate(full_row(), with("hbm_write_bytes", "0")).code == 3);
  CHECK(gate(full_row(), with("hbm_write_bytes", "400000")).code == 3);
  CHECK(gate(full_row(), with("hbm_write_bytes", "600000")).code == 0);
  CHECK(gate(full_row(), with("hbm_read_bytes", "0")).code == 3);
  Cells no_minimum = full_row(), none_written = with("hbm_write_bytes", "0");
  for (const char* column : {"min_hbm_bytes", "min_hbm_read_bytes", "min_hbm_write_bytes"})
    no_minimum[column] = none_written[column] = "";
  CHECK(gate(no_minimum, none_written).code == 3);
  CHECK(gate(with("hbm_write_bytes", "0"), with("hbm_write_bytes", "0")).code == 0);  // a cache, as before
}
