// The measured files that the README quotes: readable by this version, whole, and saying what is claimed.
#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <string>

#include "catch.hpp"
#include "rows/columns.hpp"
#include "rows/rows.hpp"

using namespace attnprof;

namespace {

CsvTable results(const std::string& name) {
  return read_csv_file(std::string(ATTNPROF_SOURCE_DIR "/docs/results/") + name);
}

double number(const CsvTable& table, size_t row, const char* column) {
  return std::stod(table.rows[row][table.column(column)]);
}

/// Of impl's rate over the other's, over problems.
struct Ratio {
  double geometric_mean;
  double smallest;
};
Ratio ratios(const CsvTable& table, const std::string& impl, const std::string& over) {
  std::map<std::string, std::map<std::string, double>> by_problem;
  for (size_t row = 0; row < table.rows.size(); ++row) {
    std::string problem;
    for (const char* axis : {"dtype", "head_dim", "seqlen_q", "causal"})
      problem += table.rows[row][table.column(axis)] + " ";
    by_problem[problem][table.rows[row][table.column("impl")]] = number(table, row, "tflops");
  }
  double sum = 0, smallest = 1e9;
  for (const auto& [problem, rates] : by_problem) {
    sum += std::log(rates.at(impl) / rates.at(over));
    smallest = std::min(smallest, rates.at(impl) / rates.at(over));
  }
  return {std::exp(sum / static_cast<double>(by_problem.size())), smallest};
}
double ratio(const CsvTable& table, const std::string& impl, const std::string& over) {
  return ratios(table, impl, over).geometric_mean;
}

}  // namespace

TEST_CASE("every measured file is whole: each row once, ok, and within its tolerance", "[results]") {
  const std::map<std::string, size_t> rows{
      {"h200.csv", 144},       {"h200-fused.csv", 216},       {"h200-rested.csv", 108},
      {"h200-ladder.csv", 20}, {"second-card/h200.csv", 144}, {"second-card/h200-fused.csv", 216},
      {"h200-tiles.csv", 11},  {"cpu-2core.csv", 24}};
  for (const auto& [name, count] : rows) {
    INFO(name);
    const CsvTable table = results(name);
    CHECK(table.rows.size() == count);
    std::set<std::string> keys;
    for (size_t row = 0; row < table.rows.size(); ++row) {
      keys.insert(row_key(table, row));
      CHECK(table.rows[row][table.column("status")] == "ok");
      CHECK(number(table, row, "rel_err") <= number(table, row, "tolerance"));
      CHECK(number(table, row, "time_lo_us") <= number(table, row, "time_us"));
    }
    CHECK(keys.size() == count);
  }
}

TEST_CASE("the measured files say what the README claims of them", "[results]") {
  const CsvTable fused = results("h200-fused.csv");
  CHECK(ratio(fused, "flash3", "cudnn") > 1.1);
  CHECK(ratios(fused, "flash3", "cudnn").smallest > 1.0);
  CHECK(ratio(results("h200-rested.csv"), "flash3", "cudnn") > 1.1);
  CHECK(ratios(results("h200-rested.csv"), "flash3", "cudnn").smallest > 1.0);
  const CsvTable second = results("second-card/h200-fused.csv");
  CHECK(ratio(second, "flash3", "cudnn") > 1.1);
  CHECK(ratios(second, "flash3", "cudnn").smallest > 1.0);
  CHECK(ratio(fused, "flash3", "torch-cudnn") > 1.05);
  CHECK(ratio(fused, "flash2", "torch-flash") > 1.05);
  CHECK(ratio(results("cpu-2core.csv"), "fused", "naive") > 1.2);
  CHECK(ratio(results("h200-ladder.csv"), "flash3", "flash3-tma") > 1.3);
}

TEST_CASE("flash3 moved at most 1.05 times the compulsory bytes, causal or not", "[results]") {
  const CsvTable table = results("h200.csv");
  for (size_t row = 0; row < table.rows.size(); ++row) {
    if (table.rows[row][table.column("impl")] != "flash3") continue;
    CHECK(number(table, row, "hbm_read_bytes") + number(table, row, "hbm_write_bytes") <
          1.05 * number(table, row, "min_hbm_bytes"));
  }
}

TEST_CASE("bytes of the counters follow the model where the caches cannot interfere", "[results]") {
  const CsvTable table = results("h200.csv");
  for (size_t row = 0; row < table.rows.size(); ++row) {
    if (table.rows[row][table.column("impl")] != "naive") continue;
    CHECK(std::abs(number(table, row, "model_bytes_err_pct")) < 5);
    CHECK(number(table, row, "hbm_read_bytes") + number(table, row, "hbm_write_bytes") >=
          number(table, row, "min_hbm_bytes"));
  }
}

TEST_CASE("what follows from other cells is the same of a row that was read as of the row just measured",
          "[results]") {
  for (const char* name : {"h200.csv", "h200-fused.csv", "h200-rested.csv", "second-card/h200.csv"}) {
    for (const Row& row : rows_of(results(name)).rows) {
      INFO(row.where());
      for (const char* column : {"tflops", "hbm_gbps", "model_bytes_err_pct", "hbm_us", "matrix_us", "exp_us",
                                 "pct_of_copy", "pct_of_matrix", "pct_of_exp"}) {
        CHECK(cell_text(find_column(column)->derive(row)) == row.text(column));
      }
    }
  }
}
