// Keys of fractions: the same after a spreadsheet, and apart where the numbers differ.
#include <fmt/format.h>

#include <cmath>

#include "catch.hpp"
#include "compare_case.hpp"
#include "core/axis.hpp"
#include "rows/rows.hpp"

using namespace attnprof;

namespace {

std::string without_zeros(std::string text) {
  return text.erase(text.find_last_not_of('0') + 1);
}

}  // namespace

TEST_CASE("a default scale keeps its key in the digits that a spreadsheet shows", "[key]") {
  for (int n = 2; n <= 4096; ++n) {
    const double scale = 1 / std::sqrt(n);
    const std::string key = key_part(cell_text(scale));
    INFO(n << " " << key);
    if (key.find('.') == std::string::npos) continue;  // 1/32768: written with an exponent by nobody's head
    for (const std::string& text : {without_zeros(fmt::format("{:.9f}", scale)), fmt::format("{:.9g}", scale),
                                    fmt::format("{:.10g}", scale), fmt::format("{:.15g}", scale),
                                    fmt::format("{:.8e}", scale), fmt::format("{:.17g}", scale)})
      REQUIRE(key_part(text) == key);
    // Further away than fp32 can tell: another scale.
    REQUIRE(key_part(cell_text(scale * (1 + 1e-6))) != key);
    REQUIRE(key_part(cell_text(scale * (1 - 1e-6))) != key);
  }
}

TEST_CASE("scales that were given and differ have keys that differ", "[key]") {
  const std::vector<std::string> scales{
      "0.088388348", "0.088388347", "0.0883883477", "0.0884",     "0.088",     "0.125",
      "0.12500001",  "0.1250001",   "0.3535534",    "0.3535533",  "0.35355",   "1.5",
      "0.5",         "0.50000001",  "0.333",        "0.33333333", "0.3333334", "2.25"};
  for (size_t a = 0; a < scales.size(); ++a) {
    for (size_t b = 0; b < a; ++b) {
      INFO(scales[a] << " " << scales[b]);
      CHECK(key_part(scales[a]) != key_part(scales[b]));
    }
  }
  CHECK(key_part("3.50") == key_part("3.5"));
  CHECK(key_part("0.1.2") == "0.1.2");
}

TEST_CASE("a row that a spreadsheet saved is the same case, with the default scale", "[key]") {
  const auto row = [](const char* scale) {
    return rows_of(parse_csv(csv_of({{{"scale", scale}}}), "f.csv")).rows.at(0);
  };
  const Row saved = row("0.088388348"), own = row("0.08838834764831843");
  CHECK(saved.key() == own.key());
  CHECK(row("0.1").key() != own.key());
  const Case c = case_of([&](std::string_view column) { return saved.text(column); });
  CHECK(c.problem.scale == 0);  // its command names no scale
}
