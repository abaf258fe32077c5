#include <functional>
#include <string>
#include <vector>

#include "catch.hpp"
#include "compare/render.hpp"
#include "compare/words.hpp"
#include "compare_case.hpp"
#include "core/error.hpp"
#include "error_of.hpp"
#include "text.hpp"

using namespace attnprof;

namespace {

RowFile file_of(const std::vector<Cells>& rows, const char* name = "a.csv") {
  return rows_of(parse_csv(csv_of(rows), name));
}
/// A naive row four times as slow, with ten times the bytes and a workspace.
Cells naive() {
  return {{"impl", "naive"},
          {"time_us", "1000"},
          {"time_lo_us", "998"},
          {"time_hi_us", "1002"},
          {"hbm_read_bytes", "30000000"},
          {"hbm_write_bytes", "10000000"},
          {"tensor_flops", "1800000"},
          {"workspace_bytes", "1107296256"}};
}
Cells with(Cells cells, const Cells& changes) {
  for (const auto& [name, cell] : changes) cells[name] = cell;
  return cells;
}
/// The pair of a naive row and a fused one with these cells changed.
Pair pair_with(const Cells& changes, const Cells& of_naive = {}) {
  const Comparison c = compare_within(file_of({with(naive(), of_naive), changes}), "naive");
  REQUIRE(c.pairs.size() == 1);
  return c.pairs.front();
}
Comparison before_after(const std::vector<Cells>& before, const std::vector<Cells>& after,
                        bool allow = false) {
  return compare_files(file_of(before, "before.csv"), file_of(after, "after.csv"), allow);
}
bool noted(const Comparison& c, const std::string& piece) {
  for (const std::string& note : c.notes) {
    if (has(note, piece)) return true;
  }
  return false;
}

}  // namespace

TEST_CASE("the sentence of a pair holds ratios, absolute figures and their sources", "[compare]") {
  const Pair pair = pair_with({});
  CHECK(subject(pair, false) == "flash3 against naive, bf16 b4 h16 s4k d128");
  CHECK(sentence(pair) ==
        "40.0 MB -> 4.00 MB, 10x fewer (cupti); 1.00 ms -> 0.25 ms, 4.0x faster (3.98 to 4.02); 1.11x the "
        "FLOPs "
        "(measured); workspace 1.11 GB -> none");
  CHECK(sentence(pair_with({{"time_us", "1500"},
                            {"time_lo_us", "1490"},
                            {"time_hi_us", "1510"},
                            {"hbm_read_bytes", "79000000"},
                            {"tensor_flops", "1800000"}})) ==
        "40.0 MB -> 80.0 MB, 2.0x more (cupti); 1.00 ms -> 1.50 ms, 1.50x slower (1.49 to 1.51); the same "
        "FLOPs "
        "(measured); workspace 1.11 GB -> none");
}

TEST_CASE("the sentences of a measured file are what they were", "[compare]") {
  const Comparison c = compare_within(read_rows(results_file("h200.csv")), "");
  REQUIRE(c.pairs.size() == 108);
  CHECK(c.from_name == "naive");
  CHECK(subject(c.pairs[1], false) + ": " + sentence(c.pairs[1]) ==
        "flash3 against naive, bf16 b32 h32 s512 d64: 2.42 GB -> 0.27 GB, 8.9x fewer (cupti); 611 us -> 165 "
        "us, 3.7x faster (3.68 to 3.72); 0.889x the FLOPs (measured); workspace 1.11 GB -> none");
  const std::vector<Mean> means = geometric_means(c);
  REQUIRE(means.size() == 3);
  CHECK(sentence(means[1]) ==
        "flash3 against naive, geometric mean: 3.45x as fast (1.76x to 7.25x, 36 pairs), 23x fewer HBM bytes "
        "(2.75x to 257x, 36 pairs), 0.718x the FLOPs (0.50x to 1.08x, 36 pairs)");

  const Comparison host = compare_within(read_rows(results_file("cpu-2core.csv")), "");
  REQUIRE(host.pairs.size() == 12);
  CHECK(sentence(host.pairs[2]) ==
        "1.09 GB -> 0.10 GB, 11x fewer (counted); 223 ms -> 201 ms, within noise (1.109x, 0.8146 to 1.9); "
        "the same "
        "FLOPs (modelled); workspace 537 MB -> none");
}

TEST_CASE("small and large ratios keep the digits that matter", "[compare]") {
  CHECK(ratio_text(12.6) == "13x");
  CHECK(ratio_text(6.21) == "6.2x");
  CHECK(ratio_text(1.128) == "1.13x");
  CHECK(ratio_text(1.0041) == "1.004x");
  CHECK(less_or_more(0.5, "fewer", "more") == "2.0x more");
  CHECK(less_or_more(1.0001, "fewer", "more") == "the same");
  Change c;
  c.from = 69.6e9;
  c.to = 271e6;
  CHECK(bytes_words(c) == "69.6 GB -> 271 MB");
  c.to = 7e9;
  CHECK(bytes_words(c) == "69.6 GB -> 7.00 GB");
  c.to.reset();
  CHECK(bytes_words(c) == "69.6 GB -> ?");
}

TEST_CASE("a time ratio carries the interval of both medians, and noise is called noise", "[compare]") {
  const Pair far = pair_with({});
  REQUIRE(far.time_ratio_interval);
  CHECK(far.time_ratio_interval->lo == Approx(998 / 250.5));
  CHECK(far.time_ratio_interval->hi == Approx(1002 / 249.5));
  CHECK_FALSE(far.within_noise);
  const Pair near = pair_with({{"time_us", "999"}, {"time_lo_us", "997"}, {"time_hi_us", "1001"}});
  CHECK(near.within_noise);
  CHECK(has(sentence(near), "within noise (1.001x, 0.997 to 1.005)"));
  // The least difference that the intervals do show.
  CHECK_FALSE(pair_with({{"time_us", "996"}, {"time_lo_us", "995"}, {"time_hi_us", "997.9"}}).within_noise);
  CHECK(pair_with({{"time_us", "996"}, {"time_lo_us", "995"}, {"time_hi_us", "998"}}).within_noise);
  const Pair few = pair_with({{"time_lo_us", ""}, {"time_hi_us", ""}});
  CHECK_FALSE(few.time_ratio_interval);
  CHECK(has(sentence(few), "4.0x faster (no interval: too few samples)"));
}

TEST_CASE("no ratio of any kind comes from a row that is not verified", "[compare]") {
  for (const Cells& bad : std::vector<Cells>{{{"status", "verify-failed"}},
                                             {{"status", "oom"}},
                                             {{"status", "failed"}},
                                             {{"rel_err", ""}},
                                             {{"tolerance", ""}},
                                             {{"rel_err", "0.02"}}}) {
    for (const Pair& pair : {pair_with(bad), pair_with({}, bad)}) {
      INFO(sentence(pair));
      CHECK_FALSE(pair.time_us.ratio);
      CHECK_FALSE(pair.hbm_bytes.ratio);
      CHECK_FALSE(pair.flops.ratio);
      CHECK_FALSE(pair.workspace_bytes.ratio);
      CHECK(has(sentence(pair), "no ratio: "));
      CHECK(has(sentence(pair), "is not verified: "));
    }
  }
  const Pair oom = pair_with({}, {{"status", "oom"}, {"message", "needs 80 GB"}});
  CHECK(sentence(oom) ==
        "? -> 4.00 MB (cupti); ? -> 250 us; no ratio: naive is not verified: oom, needs 80 GB");
}

TEST_CASE("bytes of another source, another draining, a cache or 0 give no ratio", "[compare]") {
  const auto why = [](const Cells& changes) {
    const Pair pair = pair_with(changes);
    CHECK(pair.time_us.ratio);
    CHECK_FALSE(pair.hbm_bytes.ratio);
    return pair.hbm_bytes.why_no_ratio;
  };
  CHECK(why({{"bytes_source", "counted"}}) == "bytes of different sources");
  CHECK(pair_with({{"bytes_source", "counted"}}).hbm_bytes.source == "cupti -> counted");
  CHECK(why({{"bytes_source", ""}}) == "bytes of an unknown source");
  CHECK(has(why({{"drained", "1"}}), "dirty L2 lines"));
  CHECK(has(why({{"hbm_read_bytes", "900000"}}), "served by a cache"));
  const Pair cached = pair_with({}, {{"hbm_read_bytes", "900000"}, {"hbm_write_bytes", "100000"}});
  CHECK(has(cached.hbm_bytes.why_no_ratio, "served by a cache"));
  CHECK(why({{"hbm_read_bytes", ""}}) == "unknown in the second");
  CHECK(why({{"hbm_read_bytes", "0"}, {"hbm_write_bytes", "0"}, {"min_hbm_bytes", ""}}) == "the second is 0");
}

TEST_CASE("zeros never become a ratio", "[compare]") {
  const Pair none = pair_with({}, {{"workspace_bytes", "0"}});
  CHECK(none.workspace_bytes.why_no_ratio == "both are 0");
  CHECK_FALSE(has(sentence(none), "workspace"));
  const Pair appears = pair_with({{"workspace_bytes", "5"}}, {{"workspace_bytes", "0"}});
  CHECK(appears.workspace_bytes.why_no_ratio == "the first is 0");
  CHECK(has(sentence(appears), "workspace none -> 5 B"));
}

TEST_CASE("executed FLOPs are measured on both sides or modelled on both", "[compare]") {
  CHECK(pair_with({}).flops.source == "measured");
  const Pair modelled = pair_with({{"tensor_flops", ""}, {"executed_flops", "4200000"}});
  CHECK(modelled.flops.source == "modelled");
  CHECK(*modelled.flops.ratio == 2.0);
}

TEST_CASE("the reference is naive, else the first, or the one that was named", "[compare]") {
  const RowFile file = file_of({{{"impl", "cudnn"}}, naive(), {}});
  CHECK(compare_within(file, "").from_name == "naive");
  const Comparison c = compare_within(file, "cudnn");
  REQUIRE(c.pairs.size() == 2);
  CHECK(c.pairs[0].from.text("impl") == "cudnn");
  CHECK(c.pairs[0].to.text("impl") == "naive");
  CHECK(compare_within(file_of({{{"impl", "cudnn"}}, {}}), "").from_name == "cudnn");
  CHECK(error_of([&] { compare_within(file, "nope"); }) ==
        "--reference 'nope' is not in a.csv; there are: cudnn, naive, flash3");
  const Comparison partly =
      compare_within(file_of({naive(), {}, {{"batch", "8"}}, {{"batch", "8"}, {"impl", "x"}}}), "naive");
  CHECK(partly.pairs.size() == 1);
  CHECK(noted(partly, "1 problem without a row of naive"));
}

TEST_CASE("of several tiles the fastest verified one is the reference, or the one named", "[compare]") {
  const auto tile = [](const char* m, const char* us, const char* status) {
    return Cells{{"impl", "flash2"}, {"tile_m", m},      {"tile_n", "64"},  {"time_us", us},
                 {"time_lo_us", ""}, {"time_hi_us", ""}, {"status", status}};
  };
  const RowFile file =
      file_of({tile("64", "300", "ok"), tile("128", "200", "ok"), tile("256", "100", "failed"), {}});
  const Comparison c = compare_within(file, "flash2");
  REQUIRE(c.pairs.size() == 3);
  for (const Pair& pair : c.pairs) CHECK(pair.from.impl_label() == "flash2 128x64");
  CHECK(subject(c.pairs[0], false) == "flash2 64x64 against flash2 128x64, bf16 b4 h16 s4k d128");
  CHECK(compare_within(file, "flash2 64x64").pairs[0].from.impl_label() == "flash2 64x64");
}

TEST_CASE("rows of other problems, caches, fills and devices are never held against each other",
          "[compare]") {
  for (const auto& [column, cell] : Cells{{"batch", "5"},
                                          {"cache", "hot"},
                                          {"fill", "zeros"},
                                          {"seed", "2"},
                                          {"device_name", "NVIDIA H100"},
                                          {"device_uuid", "GPU-2"},
                                          {"dtype", "fp16"}}) {
    INFO(column);
    CHECK(compare_within(file_of({naive(), {{column, cell}}}), "").pairs.empty());
    const Comparison two = before_after({{}}, {{{column, cell}}});
    const bool is_device = column == "device_name" || column == "device_uuid";
    CHECK(two.pairs.empty() != is_device);
    if (!is_device) CHECK(unmatched_reason(two) == column + " " + good_row().at(column) + " -> " + cell);
  }
  // Parts of a launch and rows that were not run are no cases.
  CHECK(compare_within(file_of({naive(), {{"status", "skipped"}}}), "").pairs.empty());
}

TEST_CASE("rows about one kernel of a launch are parts, not cases: they are never paired", "[compare]") {
  const RowFile file = rows_of(
      parse_csv(csv_with_kernels(
                    {naive(), with(naive(), {{"kernel", "qk"}}), with(naive(), {{"kernel", "softmax"}}), {}}),
                "a.csv"));
  REQUIRE(file.rows.size() == 4);
  CHECK(file.rows[2].label() == "naive softmax bf16 b4 h16 s4k d128");
  const Comparison c = compare_within(file, "");
  REQUIRE(c.pairs.size() == 1);
  CHECK(c.pairs[0].from.kernel().empty());
  const Comparison two = compare_files(file, file, false);
  CHECK(two.pairs.size() == 2);
  CHECK(two.only_from.empty());
}

TEST_CASE("the geometric mean of an implementation with several tiles of one problem is one for each tile",
          "[compare]") {
  const auto tile = [](const char* impl, const char* m, const char* seqlen, double us) {
    return Cells{{"impl", impl},
                 {"tile_m", m},
                 {"tile_n", "64"},
                 {"seqlen_q", seqlen},
                 {"time_us", std::to_string(us)},
                 {"time_lo_us", ""},
                 {"time_hi_us", ""}};
  };
  const auto of = [](const Comparison& c) {
    std::vector<std::string> means;
    for (const Mean& mean : geometric_means(c))
      means.push_back(fmt::format("{} against {} {:.3g} {}", mean.impl, mean.reference, mean.time->ratio,
                                  mean.time->pairs));
    return means;
  };
  using Lines = std::vector<std::string>;
  const RowFile file = file_of({tile("fused", "32", "1024", 100), tile("fused", "64", "1024", 200),
                                tile("fused", "128", "1024", 400), tile("fused", "32", "2048", 100),
                                tile("fused", "64", "2048", 200), tile("fused", "128", "2048", 400)});
  CHECK(of(compare_within(file, "")) ==
        Lines{"fused 64x64 against fused 0.5 2", "fused 128x64 against fused 0.25 2"});
  CHECK(of(compare_files(file, file, false)).size() == 3);
  // One tile for each problem: a choice that belongs to the implementation.
  const RowFile tuned = file_of({tile("naive", "", "1024", 400), tile("fused", "32", "1024", 100),
                                 tile("naive", "", "2048", 400), tile("fused", "64", "2048", 100)});
  CHECK(of(compare_within(tuned, "")) == Lines{"fused against naive 4 2"});
}

TEST_CASE("a cell that says nan is shown as missing, with a note", "[compare]") {
  const Comparison c =
      compare_within(file_of({naive(), {{"hbm_read_bytes", "nan"}, {"l2_bytes", "-inf"}}}), "");
  CHECK_FALSE(c.pairs[0].hbm_bytes.ratio);
  CHECK(noted(c, "column 'hbm_read_bytes' says 'nan' (2 such cells in all); shown as missing"));
}

TEST_CASE("two files are matched by key, wherever a row stands", "[compare]") {
  const Comparison c = before_after(
      {naive(), {}, {{"impl", "cudnn"}}},
      {{{"time_us", "200"}, {"time_lo_us", "199"}, {"time_hi_us", "201"}}, naive(), {{"impl", "flash2"}}});
  REQUIRE(c.pairs.size() == 2);
  CHECK(subject(c.pairs[0], true) == "flash3 bf16 b4 h16 s4k d128");
  CHECK(has(sentence(c.pairs[0]), "250 us -> 200 us, 1.25x faster (1.24 to 1.26)"));
  CHECK(has(sentence(c.pairs[0]), "4.00 MB -> 4.00 MB, the same (cupti)"));
  CHECK(c.pairs[1].within_noise);
  REQUIRE(c.only_from.size() == 1);
  CHECK(c.only_from[0].text("impl") == "cudnn");
  REQUIRE(c.only_to.size() == 1);
  CHECK(c.only_to[0].text("impl") == "flash2");
  CHECK(unmatched_reason(c) == "impl cudnn -> flash2");
  CHECK(noted(c,
              "unmatched rows: 1 in before.csv, 1 in after.csv; the most similar rows differ in impl cudnn "
              "-> flash2"));
  const Comparison tiles =
      before_after({{{"seed", "3"}}, {{"seed", "4"}}, {}},
                   {{{"seed", "5"}, {"tile_m", "64"}}, {{"seed", "4"}, {"tile_m", "32"}}});
  CHECK(noted(tiles, "unmatched rows: 3 in before.csv, 2 in after.csv"));
  CHECK(noted(before_after({{}, naive()}, {{}}), "unmatched rows: 1 in before.csv"));
  CHECK(unmatched_reason(before_after({{}, naive()}, {{{"seed", "2"}}, with(naive(), {{"seed", "3"}})})) ==
        "seed 1 -> 2 for one");
  const std::string table = comparison_table(c, {});
  CHECK(has(table, "before.csv -> after.csv"));
  CHECK(has(table, "-20.0%"));
  CHECK(has(table, "only in before.csv: 1 row\n  cudnn bf16 b4 h16 s4k d128"));
  CHECK(has(table, "only in after.csv: 1 row\n  flash2 bf16 b4 h16 s4k d128"));
}

TEST_CASE("a file against itself shows no difference anywhere", "[compare]") {
  const RowFile file = read_rows(results_file("h200.csv"));
  const Comparison c = compare_files(file, file, false);
  REQUIRE(c.pairs.size() == 144);
  for (const Pair& pair : c.pairs) {
    CHECK(pair.within_noise);
    CHECK(*pair.time_us.ratio == 1);
    CHECK(*pair.hbm_bytes.ratio == 1);
    CHECK(*pair.flops.ratio == 1);
  }
  CHECK(c.only_from.empty());
  CHECK(c.device_mismatch.empty());
}

TEST_CASE("from another device only counts and models are compared, unless that is allowed", "[compare]") {
  const Cells other{{"device_name", "NVIDIA H100"}, {"device_uuid", "GPU-2"}};
  const Comparison refused = before_after({{}}, {other});
  CHECK(refused.device_mismatch == "gpu NVIDIA H200 against gpu NVIDIA H100");
  REQUIRE(refused.pairs.size() == 1);
  CHECK_FALSE(refused.pairs[0].time_us.ratio);
  CHECK_FALSE(refused.pairs[0].hbm_bytes.ratio);
  CHECK(refused.pairs[0].flops.source == "modelled");
  CHECK(refused.pairs[0].flops.ratio);
  CHECK(before_after({{{"bytes_source", "counted"}}}, {with(other, {{"bytes_source", "counted"}})})
            .pairs[0]
            .hbm_bytes.ratio);
  const Comparison allowed = before_after({{}}, {other}, true);
  CHECK(allowed.pairs[0].time_us.ratio);
  CHECK(allowed.pairs[0].hbm_bytes.ratio);
  CHECK(allowed.device_mismatch == refused.device_mismatch);

  const Comparison backend = before_after(
      {{}}, {{{"device", "cpu"}, {"threads", "8"}, {"device_name", "EPYC"}, {"device_uuid", ""}}});
  CHECK(backend.pairs.size() == 1);
  CHECK(backend.device_mismatch == "gpu NVIDIA H200 against cpu EPYC");
  CHECK(before_after({{}}, {{{"driver", "590.1"}}}).device_mismatch.empty());
  CHECK(noted(before_after({{}}, {{{"driver", "590.1"}}}), "driver differs: 580.1 -> 590.1"));
}

TEST_CASE("what a reader has to know about a file is noted", "[compare]") {
  const std::string csv =
      csv_of({naive(), {{"converged", "0"}}, {{"impl", "x"}, {"rel_err", ""}}, {{"impl", "y"}}});
  const Comparison c = compare_within(rows_of(parse_csv(csv.substr(0, csv.size() - 20), "a.csv")), "");
  CHECK(noted(c, "a.csv: the last line was cut off and is left out"));
  CHECK(noted(c, "a.csv: 1 row without ratios, not verified: no rel_err"));
  CHECK(noted(c, "a.csv: in 1 row the interval of the time was wider"));
}

TEST_CASE("the table says why a ratio is missing and which FLOPs it shows", "[compare]") {
  const Comparison c = compare_within(
      file_of(
          {naive(), {}, {{"impl", "x"}, {"bytes_source", "counted"}}, {{"impl", "y"}, {"status", "oom"}}}),
      "");
  const std::string table = comparison_table(c, {false, 140});
  CHECK(has(table, "executed FLOPs: measured"));
  CHECK(has(table, "- no ratio (1 pair): of HBM bytes: bytes of different sources"));
  CHECK(has(table, "- no ratio (1 pair): y is not verified: oom"));
  CHECK(has(table, "1.00 ms -> oom"));
  CHECK(has(table, "1.11 GB -> none"));
  CHECK(has(table, "cupti -> counted"));
  CHECK_FALSE(has(comparison_table(c, {false, 60}), "executed FLOPs"));
}

TEST_CASE("markdown has one line per pair and hides no bar of a name", "[compare]") {
  const Comparison c = compare_within(file_of({naive(), {{"impl", "a|b"}}}), "");
  const std::string text = comparison_markdown(c, {});
  CHECK(has(
      text,
      "| case | time | | HBM bytes | | FLOPs | workspace |\n| --- | --- | --- | --- | --- | --- | --- |\n"));
  CHECK(has(text,
            "| a\\|b against naive, bf16 b4 h16 s4k d128 | 1.00 ms -> 0.25 ms | 4.0x faster (3.98 to 4.02) | "
            "40.0 MB -> "
            "4.00 MB (cupti) | 10x fewer | 1.11x (measured) | 1.11 GB -> none |\n"));
}

TEST_CASE("the CSV reads back, one line per pair, with reasons instead of missing ratios", "[compare]") {
  const Comparison c =
      compare_within(file_of({naive(), {}, {{"impl", "x"}, {"bytes_source", "counted"}}}), "");
  const CsvTable table = parse_csv(comparison_csv(c, {}), "out.csv");
  REQUIRE(table.rows.size() == 2);
  const auto cell = [&](size_t row, const char* name) { return table.rows[row][table.column(name)]; };
  CHECK(cell(0, "impl") == "flash3");
  CHECK(cell(0, "from_impl") == "naive");
  CHECK(cell(0, "time_ratio") == "4");
  CHECK(cell(0, "time_within_noise") == "0");
  CHECK(cell(0, "hbm_ratio") == "10");
  CHECK(cell(0, "flops_source") == "measured");
  CHECK(cell(0, "line") == "a.csv:3");
  CHECK(cell(0, "sentence") == sentence(c.pairs[0]));
  CHECK(cell(1, "hbm_ratio").empty());
  CHECK(cell(1, "hbm_no_ratio") == "bytes of different sources");

  const Comparison two = before_after({{}, {{"impl", "old"}}}, {{}, {{"impl", "new"}}});
  const CsvTable lines = parse_csv(comparison_csv(two, {}), "out.csv");
  REQUIRE(lines.rows.size() == 3);
  CHECK(lines.rows[0][lines.column("side")] == "both");
  CHECK(lines.rows[1][lines.column("side")] == "before");
  CHECK(lines.rows[2][lines.column("side")] == "after");
}

TEST_CASE("JSON holds the same figures as numbers, and null for what is missing", "[compare]") {
  const Comparison c =
      compare_within(file_of({naive(),
                              {{"bytes_source", "counted"}, {"device_name", "\"A \"\"B\"\"\""}},
                              with(naive(), {{"device_name", "\"A \"\"B\"\"\""}})}),
                     "");
  const std::string json = comparison_json(c, {});
  CHECK(has(json, "\"time_ratio\":4,"));
  CHECK(has(json, "\"hbm_ratio\":null"));
  CHECK(has(json, "\"device_name\":\"A \\\"B\\\"\""));
  CHECK(has(json, "\"means\":["));
}

TEST_CASE("rows of a sweep are compared without being read from a file", "[compare]") {
  Record r;
  r.planned.impl = "naive";
  r.planned.problem = {
      .batch = 1, .heads = 4, .kv_heads = 4, .seqlen_q = 64, .seqlen_kv = 64, .head_dim = 64};
  const auto table = [](const std::vector<Record>& records) {
    return comparison_table(compare_within(as_file(rows_of(records)), ""), {});
  };
  CHECK(table({}).empty());
  CHECK(table({r}).empty());
  // A case that made no sense must not end the sweep that reports it.
  r.status = Status::skipped;
  r.planned.problem.heads = -1;
  CHECK(table({r, r}).empty());
}
