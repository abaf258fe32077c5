#include "core/axes.hpp"

#include <algorithm>
#include <set>
#include <string>

#include "catch.hpp"
#include "core/error.hpp"

using namespace attnprof;

namespace {

using Values = std::vector<int64_t>;

Values ints(std::string_view text) {
  return parse_int_axis("seqlen", text);
}

/// Message of the refusal; "" when the text was taken.
std::string refusal(std::string_view text, int64_t min_value = 1) {
  try {
    parse_int_axis("seqlen", text, min_value);
  } catch (const UsageError& e) {
    return e.what();
  }
  return "";
}

Axes one_case() {
  Axes axes;
  axes.set("seqlen", "1024");
  axes.impls = {"naive"};
  return axes;
}

std::vector<std::string> texts(std::string_view option, std::string_view text) {
  std::vector<std::string> all;
  for (const AxisItem& item : parse_axis(option, text)) {
    std::string joined;
    for (const Cell& value : item) joined += (joined.empty() ? "" : "x") + cell_text(value);
    all.push_back(joined);
  }
  return all;
}
using Texts = std::vector<std::string>;

}  // namespace

TEST_CASE("a list keeps its order and drops what it has already", "[axes]") {
  CHECK(ints("512") == Values{512});
  CHECK(ints("4096,512,4096,1024") == Values{4096, 512, 1024});
}

TEST_CASE("k is 1024 and m its square, in either case", "[axes]") {
  CHECK(ints("1k,2K,1m,3M") == Values{1024, 2048, 1 << 20, 3 << 20});
  CHECK(ints("1024,1k") == Values{1024});
}

TEST_CASE("ranges include both ends", "[axes]") {
  CHECK(ints("1k:8k:x2") == Values{1024, 2048, 4096, 8192});
  CHECK(ints("1:100:x10") == Values{1, 10, 100});
  CHECK(ints("64:256:+64") == Values{64, 128, 192, 256});
  CHECK(ints("5:5:x2") == Values{5});
}

TEST_CASE("a range that its steps do not meet still ends at its last value", "[axes]") {
  CHECK(ints("64:200:+64") == Values{64, 128, 192, 200});
  CHECK(ints("3:20:x2") == Values{3, 6, 12, 20});
}

TEST_CASE("without a step, powers of two double and other numbers count", "[axes]") {
  CHECK(ints("1k:4k") == Values{1024, 2048, 4096});
  CHECK(ints("5:8") == Values{5, 6, 7, 8});
  CHECK(ints("6:9") == Values{6, 7, 8, 9});
}

TEST_CASE("lists and ranges mix, and what both give stands once", "[axes]") {
  CHECK(ints("128,1k:4k:x2,2k,100") == Values{128, 1024, 2048, 4096, 100});
}

TEST_CASE("each refusal names the axis, quotes the item, says what is wrong and shows a right form",
          "[axes]") {
  const std::pair<const char*, const char*> bad[] = {
      {"", "is empty"},
      {"512,", "is empty"},
      {",512", "is empty"},
      {"512,,1k", "is empty"},
      {"1,abc", "'abc' is not a whole number"},
      {"1,5x", "'5x' is not a whole number"},
      {"1,1.5k", "'1.5k' is not a whole number"},
      {"1,k", "'k' is not a whole number"},
      {"1, 2", "' 2' is not a whole number"},
      {"1,0x10", "'0x10' is not a whole number"},
      {"1,0", "'0' is below 1"},
      {"1,-5", "'-5' is below 1"},
      {"1,99999999999999999999", "'99999999999999999999' is too large"},
      {"1,9223372036854775807k", "is too large"},
      {"1,8k:1k", "'8k:1k' runs backwards"},
      {"1,8k:1k:x2", "runs backwards"},
      {"1,1k:8k:x1", "never ends"},
      {"1,1k:8k:x0", "never ends"},
      {"1,1k:8k:+0", "never ends"},
      {"1,1k:8k:2", "neither xF nor +S"},
      {"1,1k:8k:*2", "neither xF nor +S"},
      {"1,1k:8k:", "neither xF nor +S"},
      {"1,1k:8k:x", "neither xF nor +S"},
      {"1,1k:8k:x2:3", "more than three parts"},
      {"1,:8k", "is empty"},
      {"1,1k:", "is empty"},
      {"1,3:9000", "more than 4096 values"},
      {"1,1:1m:+1", "more than 4096 values"},
  };
  for (const auto& [text, wrong] : bad) {
    INFO("'" << text << "': " << refusal(text));
    CHECK(refusal(text).find("--seqlen") == 0);
    CHECK(refusal(text).find("'" + std::string(text) + "'") != std::string::npos);
    CHECK(refusal(text).find(wrong) != std::string::npos);
    CHECK(refusal(text).find("right forms") != std::string::npos);
  }
}

TEST_CASE("a whole text that is one bad item is quoted as well", "[axes]") {
  CHECK(refusal("abc").find("'abc'") != std::string::npos);
  CHECK(refusal("0").find("'0'") != std::string::npos);
}

TEST_CASE("the smallest value allowed is the axis's own", "[axes]") {
  CHECK(parse_int_axis("window", "0,5", 0) == Values{0, 5});
  CHECK(refusal("0:8:x2", 0).find("never ends") != std::string::npos);
  CHECK(parse_int_axis("window", "0:8:+4", 0) == Values{0, 4, 8});
  CHECK(refusal("15", 16).find("below 16") != std::string::npos);
}

TEST_CASE("ranges up to the largest number end without overflow", "[axes]") {
  CHECK(ints("4611686018427387904:9223372036854775807:x2") == Values{int64_t{1} << 62, INT64_MAX});
  CHECK(ints("9223372036854775806:9223372036854775807:+1") == Values{INT64_MAX - 1, INT64_MAX});
  CHECK(ints("1:4096:+1").size() == 4096);
}

TEST_CASE("causal, dtype, pass and fill take their words", "[axes]") {
  CHECK(texts("causal", "0") == Texts{"0"});
  CHECK(texts("causal", "true") == Texts{"1"});
  CHECK(texts("causal", "both") == Texts{"0", "1"});
  CHECK(texts("causal", "yes,no,1") == Texts{"1", "0"});
  CHECK(texts("causal", "1,both") == Texts{"1", "0"});
  CHECK(texts("dtype", "fp16,bf16,fp32,fp16") == Texts{"fp16", "bf16", "fp32"});
  CHECK(texts("pass", "fwd+bwd,bwd,fwd") == Texts{"fwd+bwd", "bwd", "fwd"});
  CHECK(texts("fill", "zeros") == Texts{"zeros"});
  CHECK_THROWS_WITH(parse_axis("causal", "maybe"), containing("maybe") && containing("both"));
  CHECK_THROWS_WITH(parse_axis("dtype", "bf16,int8"), containing("int8") && containing("fp16"));
  CHECK_THROWS_WITH(parse_axis("pass", "backward"), containing("backward") && containing("fwd+bwd"));
  CHECK_THROWS_AS(parse_axis("dtype", ""), UsageError);
  CHECK_THROWS_AS(parse_axis("dtype", "BF16 "), UsageError);
}

TEST_CASE("scales are numbers", "[axes]") {
  CHECK(texts("scale", "0.125,1e-3") == Texts{"0.125", "0.001"});
  for (const char* bad : {"", "x", "0.1,", "nan", "inf", "1e400", "0.1 "}) {
    INFO(bad);
    CHECK_THROWS_AS(parse_axis("scale", bad), UsageError);
  }
}

TEST_CASE("tiles are MxN or default", "[axes]") {
  CHECK(texts("tile", "128x64,default,64x64,128x64") == Texts{"128x64", "0x0", "64x64"});
  CHECK(texts("tile", "7x5") == Texts{"7x5"});
  for (const char* bad : {"", "128", "128x", "x64", "128x64x32", "0x64", "-1x64", "128x64 ", "axb",
                          "9999999x1", "99999999999x1", "64x64,"}) {
    INFO(bad);
    CHECK_THROWS_AS(parse_axis("tile", bad), UsageError);
  }
  CHECK_THROWS_WITH(parse_axis("tile", "64x64,12y8"), containing("'12y8'") && containing("128x64"));
}

TEST_CASE("windows are none or numbers", "[axes]") {
  CHECK(texts("window", "none,128,1k") == Texts{"0", "128", "1024"});
  CHECK(texts("window", "128:512:x2,none") == Texts{"128", "256", "512", "0"});
  CHECK_THROWS_AS(parse_axis("window", "0"), UsageError);
  CHECK_THROWS_AS(parse_axis("window", ""), UsageError);
}

TEST_CASE("every axis of the table sets what it gets, and says what is neutral", "[axes]") {
  std::set<std::string_view> names;
  for (const Axis& axis : axes()) {
    INFO(axis.name);
    CHECK(names.insert(axis.name).second);
    Case c;
    CHECK(axis.is_neutral(c));
    const Cell other = axis.kind == AxisKind::word ? axis.words.back().values.front() : Cell(int64_t{1});
    axis.field.set(c, other);
    CHECK(cell_text(axis.field.get(c)) == cell_text(other));
    CHECK((axis.is_neutral(c) || identity(c) != identity(Case{})));
  }
}

TEST_CASE("implementations of one problem are adjacent, tiles outside them, problems outermost", "[axes]") {
  Axes axes = one_case();
  axes.set("seqlen", "512,1024");
  axes.set("tile", "64x64,128x64");
  axes.impls = {"naive", "fused"};
  const std::vector<PlannedCase> cases = expand(axes);
  REQUIRE(cases.size() == 8);
  for (size_t i = 0; i < cases.size(); ++i) {
    const Case& c = cases[i].planned;
    CHECK(c.impl == (i % 2 == 0 ? "naive" : "fused"));
    CHECK(c.config.tile_m == (i / 2 % 2 == 0 ? 64 : 128));
    CHECK(c.problem.seqlen_q == (i / 4 == 0 ? 512 : 1024));
  }
}

TEST_CASE("every axis multiplies, and no combination comes twice", "[axes]") {
  Axes axes = one_case();
  axes.set("pass", "fwd,bwd");
  axes.set("dtype", "fp16,bf16");
  axes.set("head-dim", "64,128");
  axes.set("heads", "8,16");
  axes.set("kv-heads", "1,2");
  axes.set("batch", "1,3");
  axes.set("seqlen", "128,256");
  axes.set("seqlen-kv", "128,512");
  axes.set("window", "none,32");
  axes.set("causal", "both");
  const std::vector<PlannedCase> cases = expand(axes);
  CHECK(cases.size() == 1024);
  std::set<std::string> different;
  for (const PlannedCase& c : cases) {
    CHECK(c.invalid.empty());
    different.insert(describe(c.planned.problem));
  }
  CHECK(different.size() == cases.size());
  CHECK(describe(cases[0].planned.problem) == "fp16 b1 h8/1 s128 d64");
  CHECK(describe(cases[1].planned.problem) == "fp16 b1 h8/1 s128 d64 causal");
  CHECK(describe(cases[2].planned.problem) == "fp16 b1 h8/1 s128 d64 window 32");
}

TEST_CASE("axes that were not given follow others", "[axes]") {
  Axes axes = one_case();
  axes.set("head-dim", "64,128,4096");
  const std::vector<PlannedCase> cases = expand(axes);
  const int64_t heads[] = {32, 16, 1};  // 2048 / head_dim, never below 1
  for (size_t i = 0; i < 3; ++i) {
    const Problem& p = cases[i].planned.problem;
    CHECK(p.heads == heads[i]);
    CHECK(p.kv_heads == p.heads);
    CHECK(p.seqlen_kv == p.seqlen_q);
    CHECK(p.batch == 1);
  }
}

TEST_CASE("tokens set the batch of each length, and never below 1", "[axes]") {
  Axes axes = one_case();
  axes.tokens = 16384;
  axes.set("seqlen", "512,16k,32k");
  const std::vector<PlannedCase> cases = expand(axes);
  CHECK(cases[0].planned.problem.batch == 32);
  CHECK(cases[1].planned.problem.batch == 1);
  CHECK(cases[2].planned.problem.batch == 1);
  axes.set("batch", "2");
  CHECK_THROWS_WITH(expand(axes), containing("--tokens") && containing("--batch"));
}

TEST_CASE("scale, fill and seed reach every problem", "[axes]") {
  Axes axes = one_case();
  axes.set("scale", "0.5");
  axes.set("fill", "zeros");
  axes.set("seed", "99");
  const Problem p = expand(axes).front().planned.problem;
  CHECK(p.scale == 0.5);
  CHECK(p.fill == Fill::zeros);
  CHECK(p.seed == 99);
}

TEST_CASE("a combination without sense stays in the list with its reason", "[axes]") {
  Axes axes = one_case();
  axes.set("heads", "8,9");
  axes.set("kv-heads", "4");
  const std::vector<PlannedCase> cases = expand(axes);
  REQUIRE(cases.size() == 2);
  CHECK(cases[0].invalid.empty());
  CHECK(cases[1].invalid.find("kv_heads 4 does not divide heads 9") == 0);
}

TEST_CASE("axes that leave no sensible case are refused with the reason", "[axes]") {
  Axes axes = one_case();
  axes.set("heads", "9");
  axes.set("kv-heads", "4");
  CHECK_THROWS_WITH(expand(axes), containing("kv_heads 4 does not divide heads 9"));
  axes = one_case();
  axes.given.clear();
  CHECK_THROWS_AS(expand(axes), UsageError);
}

TEST_CASE("more than a million cases are refused before they fill the memory", "[axes]") {
  Axes axes = one_case();
  axes.set("seqlen", "1:4096:+1");
  axes.set("seqlen-kv", "1:4096:+1");
  CHECK_THROWS_WITH(expand(axes), containing("1000000"));
  axes = one_case();
  axes.set("stages", "1:4096:+1");
  axes.set("warps", "1:4096:+1");
  CHECK_THROWS_WITH(expand(axes), containing("1000000"));
}
