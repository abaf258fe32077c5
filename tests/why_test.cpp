#include "compare/why.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include "catch.hpp"
#include "compare_case.hpp"
#include "text.hpp"

using namespace attnprof;

namespace {

Row row_with(const Cells& cells) {
  return rows_of(parse_csv(csv_of({cells}), "a.csv")).rows.at(0);
}
/// With the ceilings as columns, whether this version writes them or not.
Row row_with_ceilings(const std::string& names, const std::string& values, const Cells& cells = {}) {
  std::vector<std::string> columns = all_columns();
  std::string csv = csv_with_columns(columns, {cells});
  const size_t end = csv.find('\n');
  csv.insert(csv.size() - 1, "," + values);
  csv.insert(end, "," + names);
  return rows_of(parse_csv(csv, "a.csv")).rows.at(0);
}

}  // namespace

TEST_CASE("ceilings come from the command line, else from the datasheet when the row has none", "[why]") {
  const Ceilings sheet = ceilings_of(row_with({}), {});
  CHECK(ceilings_text(sheet) ==
        "copy 4800 GB/s (datasheet), matrix 989 TFLOP/s (datasheet), exp 4182 Gexp/s (datasheet)");
  const Ceilings given = ceilings_of(row_with({}), {4281, 790, std::nullopt});
  CHECK(has(ceilings_text(given),
            "copy 4281 GB/s (given), matrix 790 TFLOP/s (given), exp 4182 Gexp/s (datasheet)"));
  const Ceilings fp32 = ceilings_of(row_with({{"dtype", "fp32"}}), {});
  CHECK(fp32.matrix_tflops->rate == 66.9);
  CHECK(ceilings_text(ceilings_of(row_with({{"device_name", "NVIDIA GH200"}}), {})).empty());
  CHECK(ceilings_text(ceilings_of(row_with({{"device", "cpu"}, {"device_name", "H200"}}), {})).empty());
}

TEST_CASE("what is given comes before the measured ceilings of the row", "[why]") {
  const std::vector<std::string> names = all_columns();
  const bool written = std::find(names.begin(), names.end(), "ceiling_copy_gbps") != names.end();
  const Row row = written ? row_with({{"ceiling_copy_gbps", "4200"}, {"ceiling_matrix_tflops", "800"}})
                          : row_with_ceilings("ceiling_copy_gbps,ceiling_matrix_tflops", "4200,800");
  CHECK(has(ceilings_text(ceilings_of(row, {4281, std::nullopt, 4000})),
            "copy 4281 GB/s (given), matrix 800 TFLOP/s (measured), exp 4000 Gexp/s (given)"));
}

TEST_CASE("rows of a measured file are explained by their own columns", "[why]") {
  const RowFile file = read_rows(results_file("h200.csv"));
  const GivenCeilings none;
  CHECK(explain(file.rows[0], none).attribution.reasoning ==
        "93% of the measured copy bandwidth (3961 of 4259 GB/s); exp 22%, matrix units 16%, no kernel 2%: "
        "memory");
  size_t naive = 0, memory = 0;
  for (const Row& row : file.rows) {
    const Explained e = explain(row, none);
    CHECK_FALSE(e.attribution.invalid);
    CHECK_FALSE(e.attribution.bound.empty());
    if (row.text("impl") != "naive") continue;
    ++naive;
    memory += e.attribution.bound == "memory";
  }
  CHECK(naive == 36);
  CHECK(memory == 36);
}

TEST_CASE("bytes and FLOPs that were not measured are modelled, and the sentence says so", "[why]") {
  const Row row = row_with({{"hbm_read_bytes", ""}, {"model_hbm_bytes", "900000000"}, {"bytes_source", ""}});
  CHECK(has(explain(row, {4281, 790, {}}).attribution.reasoning, "GB/s, bytes modelled)"));
}

TEST_CASE("a row that is not verified is not explained", "[why]") {
  const Explained e = explain(row_with({{"status", "oom"}}), {});
  CHECK(e.attribution.reasoning == "not verified: oom");
  CHECK_FALSE(e.attribution.hbm_us);
  const std::string table = why_table({e}, {});
  CHECK(has(table, "not verified: oom"));
}

TEST_CASE("each kernel of a launch is explained for itself", "[why]") {
  const RowFile file = rows_of(
      parse_csv(csv_with_kernels({{{"kernel", "softmax"}, {"hbm_read_bytes", "900000000"}, {"rel_err", ""}}}),
                "a.csv"));
  const std::string table = why_table({explain(file.rows.at(0), {4281, 790, {}})}, {false, 300});
  CHECK(
      has(table, "flash3 softmax bf16 b4 h16 s4k d128: 84% of the given copy bandwidth (3604 of 4281 GB/s)"));
  CHECK(has(table, ": memory\n"));
}

TEST_CASE("the table says when ceilings are a datasheet's, and marks impossible shares", "[why]") {
  const Explained impossible = explain(row_with({{"hbm_read_bytes", "2000000000"}}), {});
  CHECK(impossible.attribution.invalid);
  const std::string table = why_table({impossible}, {false, 300});
  CHECK(has(table, "datasheet ceilings were not measured"));
  CHECK(has(table, "167%!"));
  CHECK(has(table, "invalid"));
  CHECK(has(table, "more than HBM can deliver: L2 or a wrong counter"));
  CHECK_FALSE(has(why_table({explain(row_with({}), {4281, 790, 4000})}, {}), "datasheet"));
}

TEST_CASE("without any ceiling the table says how to get them, once", "[why]") {
  const Explained e = explain(row_with({{"device", "cpu"}, {"device_name", "EPYC"}}), {});
  const std::string table = why_table({e, e}, {});
  CHECK(has(table, "2 rows have no ceilings: `attnprof ceilings` measures them"));
}
