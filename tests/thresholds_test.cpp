#include "gate/thresholds.hpp"

#include "catch.hpp"
#include "compare_case.hpp"
#include "core/error.hpp"
#include "error_of.hpp"
#include "refusals.hpp"
#include "text.hpp"

using namespace attnprof;

namespace {

Limits limits_of(const std::string& toml, const Cells& cells = {}) {
  const RowFile file = rows_of(parse_csv(csv_of({cells}), "f.csv"));
  return parse_thresholds(toml, "t.toml").of(file.rows.front());
}
std::string refusal(const std::string& toml) {
  return error_of([&] { parse_thresholds(toml, "t.toml"); });
}

}  // namespace

TEST_CASE("a thresholds file sets limits and policies for all cases", "[thresholds]") {
  const Limits limits = limits_of(
      "time_pct = 3.5\nnoise_pct = 1\nbytes_pct = 2\nflops_pct = 0\nworkspace_pct = 10\nalpha = 0.01\n"
      "missing = \"warn\"\nnew = \"fail\"\nflops = \"ignore\"\n");
  CHECK(limits.time_pct == 3.5);
  CHECK(limits.noise_pct == 1.0);
  CHECK(limits.bytes_pct == 2);
  CHECK(limits.flops_pct == 0);
  CHECK(limits.workspace_pct == 10);
  CHECK(limits.of(Subject::missing) == Policy::warn);
  CHECK(limits.of(Subject::added) == Policy::fail);
  CHECK(limits.of(Subject::flops) == Policy::ignore);
  CHECK(limits.of(Subject::time) == Policy::fail);
  CHECK(parse_thresholds("alpha = 0.01", "t").alpha == 0.01);
  CHECK(limits_of("").time_pct == 2);
}

TEST_CASE("an override holds for the cases that match all of its axes; the last one wins", "[thresholds]") {
  const std::string toml =
      "time_pct = 3\n[[override]]\nimpl = \"flash3\"\nseqlen_q = \"512:1k\"\ntime_pct = 5\n"
      "[[override]]\nseqlen_q = [1024, \"8k:\"]\ntime = \"warn\"\ntime_pct = 7\n";
  const auto at = [&toml](const char* impl, const char* seqlen) {
    return limits_of(toml, {{"impl", impl}, {"seqlen_q", seqlen}});
  };
  CHECK(at("flash3", "4096").time_pct == 3);
  CHECK(at("flash3", "512").time_pct == 5);
  CHECK(at("flash3", "768").time_pct == 5);  // inside, though no power of two
  CHECK(at("flash2", "512").time_pct == 3);
  CHECK(at("flash3", "1024").time_pct == 7);
  CHECK(at("flash3", "1024").of(Subject::time) == Policy::warn);
  CHECK(at("flash2", "65536").time_pct == 7);
  CHECK(at("flash3", "512").of(Subject::time) == Policy::fail);
}

TEST_CASE("axes match words, numbers, lists and flags", "[thresholds]") {
  const auto matches = [](const std::string& axis, const Cells& cells) {
    return limits_of("[[override]]\n" + axis + "\ntime_pct = 9\n", cells).time_pct == 9;
  };
  CHECK(matches("dtype = [\"fp16\", \"bf16\"]", {}));
  CHECK(matches("dtype = \"fp16,bf16\"", {}));
  CHECK_FALSE(matches("dtype = \"fp16\"", {}));
  CHECK(matches("causal = true", {{"causal", "1"}}));
  CHECK_FALSE(matches("causal = true", {{"causal", "0"}}));
  CHECK(matches("causal = 0", {{"causal", "0"}}));
  CHECK(matches("seqlen_q = \"4k\"", {{"seqlen_q", "4096"}}));
  CHECK(matches("seqlen_q = \":4k\"", {{"seqlen_q", "4096"}}));
  CHECK_FALSE(matches("seqlen_q = \":4k\"", {{"seqlen_q", "4097"}}));
  CHECK_FALSE(matches("tile_m = 64", {{"tile_m", ""}}));
  CHECK(matches("rest = 0", {{"rest", ""}}));
  CHECK(matches("rest = 3", {{"rest", "3"}}));
  CHECK_FALSE(matches("rest = 3", {{"rest", ""}}));
  CHECK_FALSE(matches("rest = 0", {{"rest", "3"}}));
}

TEST_CASE("the command line's policies hold whatever the file says", "[thresholds]") {
  Thresholds thresholds = parse_thresholds("[[override]]\nimpl = \"flash3\"\ntime = \"fail\"\n", "t.toml");
  thresholds.final_word.policy[static_cast<size_t>(Subject::time)] = Policy::ignore;
  const RowFile file = rows_of(parse_csv(csv_of({{}}), "f.csv"));
  CHECK(thresholds.of(file.rows.front()).of(Subject::time) == Policy::ignore);
}

TEST_CASE("what is wrong in a thresholds file is named with file, line and key", "[thresholds]") {
  check_refusals(
      {
          {"\ntime_pc = 3", "t.toml:2:1: key 'time_pc'", "'time_pct'"},
          {"mising = \"warn\"", "t.toml:1:1: key 'mising'", "'missing'"},
          {"time_pct = \"3\"", "t.toml:1:1: key 'time_pct'", "number"},
          {"time_pct = -1", "t.toml:1:1: key 'time_pct'", "0 to 1000"},
          {"time_pct = nan", "t.toml:1:1: key 'time_pct'", "number"},
          {"time_pct = true", "t.toml:1:1: key 'time_pct'", "number"},
          {"alpha = 1", "t.toml:1:1: key 'alpha'", "0.5"},
          {"time = \"off\"", "t.toml:1:1: key 'time'", "ignore"},
          {"time = 3", "t.toml:1:1: key 'time'", "ignore"},
          {"impl = \"flash3\"", "t.toml:1:1: key 'impl'", "[[override]]"},
          {"[override]\nimpl = \"a\"", "t.toml:1:2: key 'override'", "[[override]]"},
          {"override = [1]", "t.toml:1:13: key 'override'", "[[override]]"},
          {"[[override]]\ntime_pct = 5", "t.toml:1:1", "names no axis"},
          {"[[override]]\nseqlen = 5", "t.toml:2:1: key 'seqlen'", "'seqlen_q'"},
          {"[[override]]\nimpl = \"a\"\nalpha = 0.1", "t.toml:3:1: key 'alpha'", "above the first"},
          {"[[override]]\nseqlen_q = \"1k:512\"", "t.toml:2:1: key 'seqlen_q'", "reversed"},
          {"[[override]]\nseqlen_q = \"1k:2k:3k\"", "t.toml:2:1: key 'seqlen_q'", "more than one"},
          {"[[override]]\nseqlen_q = \"1q\"", "t.toml:2:1: key 'seqlen_q'", "1q"},
          {"[[override]]\nseqlen_q = []", "t.toml:2:1: key 'seqlen_q'", "empty"},
          {"[[override]]\nimpl = \"\"", "t.toml:2:1: key 'impl'", "word"},
          {"[[override]]\nimpl = {a = 1}", "t.toml:2:1: key 'impl'", "word"},
          {"a = \n", "t.toml:1:", "t.toml"},
          {"new = \"warn", "t.toml:1:12: ", "string"},
          {"[[override]]\nseqlen_q = [1, [2]]", "t.toml:2:16: key 'seqlen_q'", "a word"},
          {"time_pct = 1\ntime_pct = 2", "t.toml:2:", "time_pct"},
      },
      [](const std::string& toml) { return refusal(toml); });
}
