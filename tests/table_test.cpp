#include "rows/table.hpp"

#include <algorithm>
#include <sstream>
#include <string>
#include <vector>

#include "catch.hpp"
#include "compare/render.hpp"
#include "text.hpp"

using namespace attnprof;

namespace {

Record row(const char* impl, int64_t seqlen, double us, int64_t bytes) {
  Record r;
  r.planned.impl = impl;
  r.planned.problem = {
      .batch = 1, .heads = 4, .kv_heads = 4, .seqlen_q = seqlen, .seqlen_kv = seqlen, .head_dim = 64};
  r.device.name = "Test GPU";
  r.device.kind = DeviceKind::gpu;
  r.time = TimeStats{us, us, us, us, us, 20, 3, true, false};
  r.counters.source = BytesSource::cupti;
  r.counters.hbm_read_bytes = bytes / 2;
  r.counters.hbm_write_bytes = bytes - bytes / 2;
  r.verify = VerifyResult{true, 64, 1e-3, 2e-3, 1e-2, ""};
  r.workspace_bytes = 0;
  return r;
}

size_t longest_line(const std::string& text) {
  size_t longest = 0;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) longest = std::max(longest, line.size());
  return longest;
}

constexpr int64_t kMb = 1000000;

std::string results_of(const std::vector<Record>& records, const TableStyle& style = {}) {
  return results_table(rows_of(records), style);
}
std::string comparison_of(const std::vector<Record>& records, const TableStyle& style = {}) {
  return comparison_table(compare_within(as_file(rows_of(records)), ""), style);
}

}  // namespace

TEST_CASE("figures for people have three digits and a fitting unit", "[table]") {
  CHECK(human_bytes(0) == "0 B");
  CHECK(human_bytes(999) == "999 B");
  CHECK(human_bytes(4.1e9) == "4.10 GB");
  CHECK(human_bytes(999.7e6) == "1.00 GB");
  CHECK(human_bytes(68719476736.0) == "68.7 GB");
  CHECK(human_time_us(0.5) == "0.50 us");
  CHECK(human_time_us(1240) == "1.24 ms");
  CHECK(human_rate_flops(306e12) == "306 TFLOP/s");
}

TEST_CASE("the comparison puts baseline and fused side by side with their ratios", "[table]") {
  const std::string text =
      comparison_of({row("naive", 1024, 1000, 40 * kMb), row("flash2", 1024, 250, 4 * kMb)}, {});
  CHECK(has(text, "1.00 -> 0.25 ms"));
  CHECK(has(text, "4.00x"));
  CHECK(has(text, "40.0 -> 4.00 MB"));
  CHECK(has(text, "10.0x"));
  CHECK(has(text, "HBM bytes: cupti"));
  CHECK(has(text, "flash2 against naive, geometric mean: 4.00x as fast (1 pair)"));
}

TEST_CASE("the naive row is the baseline wherever it stands", "[table]") {
  const std::string text =
      comparison_of({row("flash2", 1024, 250, 4 * kMb), row("naive", 1024, 1000, 40 * kMb)}, {});
  CHECK(has(text, "naive ->"));
  CHECK(has(text, "4.00x"));
}

TEST_CASE("rows of different problems are never paired", "[table]") {
  CHECK(comparison_of({row("naive", 1024, 1000, 40 * kMb), row("flash2", 2048, 250, 4 * kMb)}, {}).empty());
  Record hot = row("flash2", 1024, 250, 4 * kMb);
  hot.conditions.cache = CacheMode::hot;
  CHECK(comparison_of({row("naive", 1024, 1000, 40 * kMb), hot}, {}).empty());
}

TEST_CASE("the geometric mean runs over all pairs", "[table]") {
  const std::string text =
      comparison_of({row("naive", 1024, 1000, 40 * kMb), row("flash2", 1024, 500, 10 * kMb),
                     row("naive", 2048, 8000, 90 * kMb), row("flash2", 2048, 1000, 10 * kMb)},
                    {false, 140});
  CHECK(has(text, "4.00x as fast (2.00x to 8.00x, 2 pairs), 6.0x fewer HBM bytes (4.00x to 9.00x, 2 pairs)"));
}

TEST_CASE("bytes served by a cache give no ratio", "[table]") {
  // 4 heads, 1024 x 64 in bf16: Q, K, V, O are 2 MiB; 100 kB cannot have come from HBM.
  const std::string text =
      comparison_of({row("naive", 1024, 1000, 40 * kMb), row("flash2", 1024, 250, 100000)}, {});
  CHECK(has(text, "4.00x"));
  CHECK_FALSE(has(text, "400x"));
  CHECK_FALSE(has(text, "fewer HBM"));
  CHECK(has(text, "served by a cache"));
}

TEST_CASE("rows that are wrong, missing, too short or counted otherwise give no ratio", "[table]") {
  const auto compared_with = [](auto change) {
    Record other = row("flash2", 1024, 250, 4 * kMb);
    change(other);
    return comparison_of({row("naive", 1024, 1000, 40 * kMb), other}, {});
  };
  CHECK_FALSE(has(compared_with([](Record& r) {
                    r.status = Status::verify_failed;
                    r.verify->passed = false;
                  }),
                  "4.00x"));
  CHECK_FALSE(has(compared_with([](Record& r) { r.status = Status::oom; }), "4.00x"));
  CHECK_FALSE(has(compared_with([](Record& r) { r.verify.reset(); }), "4.00x"));
  CHECK_FALSE(has(compared_with([](Record& r) { r.time->below_resolution = true; }), "4.00x"));
  CHECK_FALSE(has(compared_with([](Record& r) { r.counters.source = BytesSource::counted; }), "10.0x"));
}

TEST_CASE("a baseline that does not fit still shows what the other took", "[table]") {
  Record naive = row("naive", 32768, 1, 1);
  naive.status = Status::oom;
  CHECK(has(comparison_of({naive, row("flash2", 32768, 1920, 400 * kMb)}, {}), "oom -> 1.92 ms"));
}

TEST_CASE("what all rows share stands once above the table", "[table]") {
  const std::string text =
      results_of({row("naive", 1024, 1000, 40 * kMb), row("naive", 2048, 4000, 90 * kMb)}, {});
  CHECK(has(text, "gpu: Test GPU, cold cache"));
  CHECK(has(text, "head_dim 64"));
  CHECK(text.find("bf16") == text.rfind("bf16"));
  CHECK(has(text, "2k"));
  CHECK(has(text, "2 rows: 2 ok"));
}

TEST_CASE("rows that failed print their message and are counted", "[table]") {
  Record failed = row("flash2", 1024, 1, 1);
  failed.status = Status::failed;
  failed.message = "tile 256x256 needs 300000 bytes of shared memory";
  const std::string text = results_of({row("naive", 1024, 1000, 40 * kMb), failed}, {});
  CHECK(has(text, "failed: tile 256x256 needs 300000 bytes"));
  CHECK(has(text, "2 rows: 1 ok, 1 failed"));
}

TEST_CASE("tables keep to the width and colour only on request", "[table]") {
  std::vector<Record> rows{row("naive", 1024, 1000, 40 * kMb), row("flash2", 1024, 250, 4 * kMb)};
  rows.push_back(row("flash2", 2048, 1, 1));
  rows.back().status = Status::failed;
  rows.back().message = std::string(300, 'x');
  for (const int width : {80, 100, 140}) {
    INFO(width);
    CHECK(longest_line(results_of(rows, {false, width})) <= static_cast<size_t>(width));
    CHECK_FALSE(has(results_of(rows, {false, width}), "\x1b["));
    CHECK(has(results_of(rows, {true, width}), "\x1b["));
  }
  CHECK(results_of({}, {}) == "no rows\n");
  rows.insert(rows.begin(), row("naive", 2048, 4000, 90 * kMb));
  const std::string narrow = comparison_of(rows, {false, 60});
  CHECK(has(narrow, "speed-up"));
  CHECK(has(narrow, "fewer"));
  CHECK_FALSE(has(narrow, "workspace"));
  CHECK(has(narrow, "- no ratio"));
  CHECK(has(narrow, "geometric mean"));
  CHECK(longest_line(narrow) <= 60);
}

TEST_CASE("marks of the interval are explained where the interval is shown, and only there", "[table]") {
  Record slow = row("naive", 1024, 1000, 40 * kMb);
  slow.time->converged = false;
  Record few = row("flash2", 1024, 250, 4 * kMb);
  few.time->samples = 5;
  few.time->converged = false;
  const std::string wide = results_of({slow, few}, {false, 140});
  CHECK(has(wide, "0.0%!"));
  CHECK(wide.find("0.0%") == wide.rfind("0.0%"));  // five samples have no interval, not one of width 0
  CHECK(has(wide, "! interval wider"));
  CHECK(has(wide, "- fewer than 6 samples"));
  const std::string narrow = results_of({slow, few}, {false, 50});
  CHECK_FALSE(has(narrow, "+-95%"));
  CHECK_FALSE(has(narrow, "! interval"));
  CHECK_FALSE(has(narrow, "- fewer"));
}

TEST_CASE("the progress line tells the time left from finished work and keeps to its width", "[table]") {
  CHECK(progress_line(0, 10, 3, "a", 80) == "[0/10] 0:03: a");
  CHECK(progress_line(12, 120, 14, "naive", 80) == "[12/120] 0:14, about 2:06 left: naive");
  CHECK(progress_line(10, 10, 3661, "", 80) == "[10/10] 1:01:01");
  CHECK(progress_line(1, 10, 1, std::string(200, 'x'), 60).size() == 60);
}
