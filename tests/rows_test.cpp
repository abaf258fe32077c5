#include "rows/rows.hpp"

#include <algorithm>
#include <functional>
#include <iterator>
#include <string>
#include <vector>

#include "catch.hpp"
#include "compare_case.hpp"
#include "core/error.hpp"
#include "error_of.hpp"
#include "rows/derived.hpp"
#include "rows/matching.hpp"
#include "temp_folder.hpp"
#include "text.hpp"

using namespace attnprof;

namespace {

std::string refusal(const std::string& csv) {
  return error_of([&] { rows_of(parse_csv(csv, "f.csv")); });
}
/// What is said when one cell of the second row holds `cell`.
std::string refusal_of(const std::string& column, const std::string& cell) {
  return refusal(csv_of({{{"impl", "naive"}}, {{column, cell}}}));
}

}  // namespace

TEST_CASE("rows of a file are typed by column name", "[rows]") {
  const RowFile file = rows_of(parse_csv(csv_of({{}, {{"impl", "flash2"}, {"tile_m", "128"}}}), "f.csv"));
  REQUIRE(file.rows.size() == 2);
  const Row& row = file.rows[1];
  CHECK(row.where() == "f.csv:3");
  CHECK(row.text("impl") == "flash2");
  CHECK(row.number("time_us") == 250.0);
  CHECK_FALSE(row.number("gaps_us"));
  CHECK_FALSE(row.number("no_such_column"));
  CHECK(row.verified());
  CHECK(row.key() != file.rows[0].key());
  CHECK(row.problem_key() == file.rows[0].problem_key());
}

TEST_CASE("the key of a row is the one that resume uses", "[rows]") {
  const CsvTable table = read_csv_file(results_file("h200.csv"));
  const RowFile file = rows_of(table);
  REQUIRE(file.rows.size() == 144);
  for (size_t i = 0; i < file.rows.size(); ++i) CHECK(file.rows[i].key() == row_key(table, i));
}

TEST_CASE("every measured file in docs/results is accepted, and its rows are verified", "[rows]") {
  for (const char* name :
       {"h200.csv", "h200-fused.csv", "h200-ladder.csv", "cpu-2core.csv", "before-after/h200-before-1.csv",
        "before-after/h200-before-2.csv", "before-after/h200-after-1.csv", "before-after/h200-after-2.csv"}) {
    INFO(name);
    const RowFile file = read_rows(results_file(name));
    CHECK(file.rows.size() >= 20);
    for (const Row& row : file.rows) CHECK(row.verified());
  }
}

TEST_CASE("labels name a row for people and tell all rows of a file apart", "[rows]") {
  const RowFile file = read_rows(results_file("h200.csv"));
  CHECK(file.rows[0].label() == "naive bf16 b32 h32 s512 d64");
  CHECK(file.rows[1].impl_label() == "flash2 128x48");
  std::vector<std::string> labels;
  for (const Row& row : file.rows) labels.push_back(row.label());
  std::sort(labels.begin(), labels.end());
  CHECK(std::adjacent_find(labels.begin(), labels.end()) == labels.end());

  const auto label = [](const Cells& cells) {
    return rows_of(parse_csv(csv_of({cells}), "f.csv")).rows.at(0).label();
  };
  CHECK(
      label({{"causal", "1"}, {"kv_heads", "2"}, {"seqlen_kv", "100"}, {"window", "64"}, {"cache", "hot"}}) ==
      "flash3 bf16 b4 h16/2 s4kx100 d128 causal window 64 hot cache");
  const auto tiles = rows_of(parse_csv(
      csv_of({{{"tile_m", "64"}, {"tile_n", "64"}}, {{"tile_m", "128"}, {"tile_n", "64"}, {"seed", "2"}}}),
      "f"));
  CHECK(tiles.rows[0].label() == "flash3 64x64 bf16 b4 h16 s4k d128 seed 1");
  CHECK(tiles.rows[1].label() == "flash3 128x64 bf16 b4 h16 s4k d128 seed 2");
}

TEST_CASE("what spreadsheets and pandas write reads as the clean file does", "[rows]") {
  const std::vector<Cells> rows{{{"scale", "0.08838834764831845"}, {"tile_m", "128"}}, {{"impl", "naive"}}};
  const std::string clean = csv_of(rows);
  const RowFile expected = rows_of(parse_csv(clean, "f.csv"));
  std::string crlf;
  for (const char c : clean) crlf += c == '\n' ? std::string("\r\n") : std::string(1, c);
  std::string gaps =
      csv_of({{{"scale", "0.0883883476483184"}, {"tile_m", "128.0"}, {"batch", " 4"}, {"gaps_us", "nan"}},
              {{"impl", "naive"}, {"tile_m", "NaN"}, {"gaps_us", "inf"}, {"threads", "NA"}}});
  for (const std::string& text :
       {"\xEF\xBB\xBF" + clean, crlf, "\xEF\xBB\xBF" + crlf, clean + "\n", gaps, reversed_columns(rows)}) {
    const RowFile file = rows_of(parse_csv(text, "f.csv"));
    REQUIRE(file.rows.size() == 2);
    for (size_t i = 0; i < 2; ++i) {
      CHECK(file.rows[i].key() == expected.rows[i].key());
      CHECK(file.rows[i].number("time_us") == expected.rows[i].number("time_us"));
      CHECK(file.rows[i].text("command") == expected.rows[i].text("command"));
      CHECK_FALSE(file.rows[i].number("gaps_us"));
    }
  }
}

TEST_CASE("names with commas, quotes and line breaks survive, and columns nobody knows are kept", "[rows]") {
  std::string csv = csv_of({{{"device_name", "\"A, \"\"B\"\" C\nD\""}}});
  csv.insert(csv.find('\n'), ",my note");
  csv.insert(csv.size() - 1, ",fast");
  const RowFile file = rows_of(parse_csv(csv, "f.csv"));
  CHECK(file.rows.at(0).device().name == "A, \"B\" C\nD");
  CHECK(file.rows.at(0).text("my note") == "fast");
}

TEST_CASE("cells that cannot be right are refused by file, line and column", "[rows]") {
  CHECK(refusal_of("time_us", "0") == "f.csv:3: column 'time_us': '0' is no time; it must be above 0");
  CHECK(has(refusal_of("time_us", "-250"), "f.csv:3: column 'time_us': '-250' is no time"));
  CHECK(refusal_of("time_us", "fast") == "f.csv:3: column 'time_us': 'fast' is not a number");
  CHECK(has(refusal_of("time_us", "\"250,5\""), "is not a number; decimals need a '.'"));
  CHECK(refusal_of("time_lo_us", "251") == "f.csv:3: column 'time_lo_us': '251' is above time_us '250'");
  CHECK(has(refusal_of("time_hi_us", "249"), "f.csv:3: column 'time_us': '250' is above time_hi_us '249'"));
  CHECK(refusal_of("causal", "yes") == "f.csv:3: column 'causal': 'yes' is not a number");
  CHECK(refusal_of("causal", "2") == "f.csv:3: column 'causal': '2' is neither 0 nor 1");
  CHECK(has(refusal_of("causal", ""), "column 'causal': is empty"));
  CHECK(refusal_of("schema", "2") ==
        "f.csv:3: column 'schema': '2', this version reads 1; a newer attnprof wrote it");
  CHECK(refusal_of("schema", "0") == "f.csv:3: column 'schema': '0', this version reads 1");
  CHECK(refusal_of("schema", "") == "f.csv:3: column 'schema': '', this version reads 1");
  CHECK(has(refusal_of("hbm_read_bytes", "-1"), "f.csv:3: column 'hbm_read_bytes': '-1' is negative"));
  CHECK(has(refusal_of("tensor_flops", "1e"), "column 'tensor_flops': '1e' is not a number"));
  CHECK(has(refusal_of("workspace_bytes", "-5"), "column 'workspace_bytes'"));
  CHECK(has(refusal_of("heads", "0"), "column 'heads': '0' is below 1"));
  CHECK(has(refusal_of("heads", "1.5"), "column 'heads': '1.5' is not a whole number"));
  CHECK(has(refusal_of("status", "fine"), "column 'status': 'fine' is none of ok, skipped"));
  CHECK(has(refusal_of("device", "tpu"), "column 'device': 'tpu' is none of cpu or gpu"));
  CHECK(has(refusal_of("impl", ""), "column 'impl': is empty"));
  CHECK(has(refusal_of("rel_err", "-0.1"), "column 'rel_err'"));
}

TEST_CASE("figures that no machine reaches are refused, those of large machines are not", "[rows]") {
  CHECK(refusal_of("hbm_read_bytes", "1e300") ==
        "f.csv:3: column 'hbm_read_bytes': '1e300' cannot be; at most 1e+18 can");
  CHECK(has(refusal_of("time_us", "1e30"), "f.csv:3: column 'time_us': '1e30' cannot be; at most 1e+13 can"));
  CHECK(has(refusal_of("tensor_flops", "1e40"), "column 'tensor_flops': '1e40' cannot be"));
  CHECK(has(refusal_of("ceiling_copy_gbps", "1e12"), "column 'ceiling_copy_gbps': '1e12' cannot be"));
  CHECK(has(refusal_of("samples", "1e18"), "column 'samples': '1e18' cannot be"));
  CHECK(has(refusal_of("tolerance", "1e9"),
            "column 'tolerance': '1e9' cannot be; at most 1 can"));  // all would pass
  CHECK(has(refusal_of("model_bytes_err_pct", "-1e99"), "column 'model_bytes_err_pct': '-1e99' cannot be"));
  const auto takes = [](const Cells& cells) {
    return rows_of(parse_csv(csv_of({cells}), "f.csv")).rows.size() == 1;
  };
  CHECK(takes(
      {{"time_us", "9e11"}, {"time_hi_us", "9e11"}, {"hbm_read_bytes", "9e15"}, {"tensor_flops", "1e22"}}));
  CHECK(takes({{"seed", "18446744073709551615"}, {"seqlen_kv", "1099511627776"}}));
  CHECK(takes({{"status", "skipped"}, {"seqlen_q", "1e18"}}));  // asked for, not run
}

TEST_CASE("a time of no samples and a result of which no row was checked are refused; unknown ones are not",
          "[rows]") {
  CHECK(refusal_of("samples", "0") == "f.csv:3: column 'samples': '0', but there is a time of status ok");
  CHECK(refusal_of("rows_checked", "0") ==
        "f.csv:3: column 'rows_checked': '0', but status is ok: nothing was verified");
  const auto takes = [](const Cells& cells) {
    return rows_of(parse_csv(csv_of({cells}), "f.csv")).rows.size() == 1;
  };
  for (const char* missing : {"", "nan"}) CHECK(takes({{"samples", missing}, {"rows_checked", missing}}));
  CHECK(takes({{"samples", "0"}, {"time_us", ""}, {"time_lo_us", ""}, {"time_hi_us", ""}}));
  CHECK(takes({{"status", "failed"}, {"samples", "0"}, {"rows_checked", "0"}}));
}

TEST_CASE("files that cannot be compared are refused as a whole", "[rows]") {
  CHECK(has(refusal(""), "f.csv: is empty"));
  CHECK(has(refusal(csv_of({})), "f.csv: has a header but no rows"));
  std::string renamed = csv_of({{}});
  renamed.replace(renamed.find("kv_heads"), 8, "n_kv");
  CHECK(
      refusal(renamed) ==
      "f.csv:1: has no column 'kv_heads', so its rows cannot be told apart; was it renamed? not known here: "
      "'n_kv'");
  std::string versionless = csv_of({{}});
  versionless.replace(0, 6, "format");
  CHECK(has(refusal(versionless), "f.csv:1: has no column 'schema'"));
  std::string timeless = csv_of({{}});
  timeless.replace(timeless.find(",time_us"), 8, ",t");
  CHECK(has(refusal(timeless), "f.csv:1: has no column 'time_us'"));
  CHECK(has(refusal(csv_of({{}}) + csv_of({{{"impl", "naive"}}})), "f.csv:3: is a second header line"));
  CHECK(has(error_of([] { read_rows("/nonexistent/a.csv"); }), "/nonexistent/a.csv"));
}

TEST_CASE("two rows with one key are an error, the median of repeats, or both kept", "[rows]") {
  const std::string csv = csv_of({{{"time_us", "300"}, {"time_lo_us", ""}, {"time_hi_us", ""}},
                                  {{"impl", "naive"}},
                                  {{"time_us", "100"}, {"time_lo_us", ""}},
                                  {{"time_us", "200"}, {"time_lo_us", ""}}});
  CHECK(refusal(csv) ==
        "f.csv:4: repeats line 2 (flash3 bf16 b4 h16 s4k d128): which of the two counts? keep one of them");
  const RowFile median = rows_of(parse_csv(csv, "f.csv"), Duplicates::median);
  REQUIRE(median.rows.size() == 2);
  CHECK(median.rows[0].number("time_us") == 200.0);
  CHECK(median.rows[0].line() == 5);
  CHECK(median.repeats == 2);
  CHECK(rows_of(parse_csv(csv, "f.csv"), Duplicates::keep).rows.size() == 4);

  // A repeat that came out wrong is not outvoted.
  const std::string wrong = csv_of({{}, {{"status", "verify-failed"}}, {}});
  CHECK(rows_of(parse_csv(wrong, "f.csv"), Duplicates::median).rows.at(0).why_unverified() ==
        "verify-failed");
}

TEST_CASE("rows that differ in any input are no duplicates", "[rows]") {
  for (const auto& [column, cell] : Cells{{"dtype", "fp16"},
                                          {"window", "64"},
                                          {"scale", "1"},
                                          {"batch", "5"},
                                          {"kv_heads", "2"},
                                          {"fill", "zeros"},
                                          {"cache", "hot"},
                                          {"pass", "bwd"},
                                          {"seed", "2"},
                                          {"tile_n", "8"},
                                          {"stages", "3"},
                                          {"warps", "8"},
                                          {"threads", "2"},
                                          {"device_uuid", "GPU-2"},
                                          {"device_name", "other"}}) {
    INFO(column);
    const RowFile file = rows_of(parse_csv(csv_of({{}, {{column, cell}}}), "f.csv"));
    CHECK(file.rows.size() == 2);
    CHECK(file.rows[0].label() != file.rows[1].label());
    const bool is_config = column == "tile_n" || column == "stages" || column == "warps";
    const bool is_device = column == "device_uuid" || column == "device_name";
    CHECK((file.rows[0].problem_key() == file.rows[1].problem_key()) == (is_config || is_device));
  }
}

TEST_CASE("a row is verified only when a known error is within a known tolerance", "[rows]") {
  const auto why = [](const Cells& cells) {
    return rows_of(parse_csv(csv_of({cells}), "f.csv")).rows.at(0).why_unverified();
  };
  CHECK(why({}).empty());
  CHECK(why({{"status", "oom"}}) == "oom");
  CHECK(why({{"rel_err", ""}}) == "no rel_err");
  CHECK(why({{"rel_err", "nan"}}) == "no rel_err");
  CHECK(why({{"tolerance", ""}}) == "no tolerance");
  CHECK(why({{"rel_err", "0.2"}}) == "rel_err 0.2 above tolerance 0.01");
}

TEST_CASE("another index is the same device; another UUID, model or backend is not", "[rows]") {
  const auto difference = [](const Cells& cells) {
    const RowFile file = rows_of(parse_csv(csv_of({{}, cells}), "f.csv"), Duplicates::keep);
    return device_difference(file.rows[0], file.rows[1]);
  };
  CHECK(difference({}).empty());
  CHECK(difference({{"device_uuid", ""}}).empty());
  CHECK(difference({{"driver", "1.0"}}).empty());
  CHECK(difference({{"device_uuid", "GPU-2"}}) == "gpu NVIDIA H200 GPU-1 against GPU-2");
  CHECK(difference({{"device_name", "NVIDIA H100"}, {"device_uuid", "GPU-1"}}) ==
        "gpu NVIDIA H200 against gpu NVIDIA H100");
  CHECK(difference({{"device", "cpu"}, {"device_name", "EPYC"}}) == "gpu NVIDIA H200 against cpu EPYC");
}

TEST_CASE("figures of a row say where they come from, and are empty where they would mislead", "[rows]") {
  const auto row = [](const Cells& cells) { return rows_of(parse_csv(csv_of({cells}), "f.csv")).rows.at(0); };
  CHECK(resolved_time_us(row({})) == 250.0);
  CHECK_FALSE(resolved_time_us(row({{"below_resolution", "1"}})));
  CHECK_FALSE(resolved_time_us(row({{"status", "failed"}})));
  CHECK(hbm_bytes(row({})) == 4e6);
  CHECK_FALSE(hbm_bytes(row({{"hbm_write_bytes", ""}})));
  CHECK(measured_flops(row({})) == 2e6);
  CHECK(attribution_input(row({})).executed_flops == 2e6);
  CHECK(attribution_input(row({{"tensor_flops", ""}})).executed_flops == 2.1e6);
  CHECK(attribution_input(row({{"tensor_flops", "0"}})).executed_flops == 2.1e6);
  CHECK_FALSE(attribution_input(row({{"tensor_flops", ""}, {"executed_flops", ""}})).executed_flops);
  CHECK(served_by_cache(row({})) == false);
  CHECK(served_by_cache(row({{"hbm_read_bytes", "10"}, {"hbm_write_bytes", "10"}})) == true);
  CHECK_FALSE(served_by_cache(row({{"min_hbm_bytes", ""}})));
}

TEST_CASE("a last line that was cut off is not a row, and the file says so", "[rows]") {
  const std::string csv = csv_of({{}, {{"impl", "naive"}}});
  const RowFile file = rows_of(parse_csv(csv.substr(0, csv.size() - 20), "f.csv"));
  CHECK(file.rows.size() == 1);
  CHECK(file.torn_last_row);
}

TEST_CASE("machines with one kind of processor are two devices, a GPU that moved is one", "[rows]") {
  const auto host = [](const char* name) {
    return Cells{{"device", "cpu"},   {"threads", "2"},   {"device_name", "EPYC"},
                 {"device_uuid", ""}, {"hostname", name}, {"impl", "fused"}};
  };
  const RowFile file = rows_of(parse_csv(csv_of({host("node1"), host("node2")}), "f.csv"));
  REQUIRE(file.rows.size() == 2);
  CHECK(file.rows[0].label() != file.rows[1].label());
  CHECK_FALSE(same_device(file.rows[0], file.rows[1]));
  CHECK(device_difference(file.rows[0], file.rows[1]) == "cpu EPYC of node1 against node2");
  const std::vector<Row> turned{file.rows[1], file.rows[0]};
  const auto partners = match_rows(file.rows, turned, {MatchBy::device});
  CHECK(partners == std::vector<std::optional<size_t>>{1, 0});
  CHECK(has(error_of([&] {
              rows_of(parse_csv(csv_of({host("node1"), host("node1")}), "f.csv"));
            }),
            "repeats line 2"));
  const Cells moved{{"hostname", "node2"}};
  CHECK(has(error_of([&] {
              rows_of(parse_csv(csv_of({{{"hostname", "node1"}}, moved}), "f.csv"));
            }),
            "repeats line 2"));
}
