#include "cli/tune_report.hpp"

#include <sstream>

#include "catch.hpp"
#include "rows/grid.hpp"
#include "text.hpp"

using namespace attnprof;

namespace {

TunedShape shape(TuneOutcome::End end, const std::string& message) {
  PlannedRow row;
  row.planned.impl = "flash3";
  row.planned.problem.seqlen_q = row.planned.problem.seqlen_kv = 16384;
  row.planned.config = {128, 128, 2, 12};
  TunedShape tuned{{row}, {}};
  tuned.outcome.end = end;
  tuned.outcome.message = message;
  Record best;
  best.planned = row.planned;
  tuned.outcome.records = {best};
  tuned.outcome.best_time = TimeStats{};
  tuned.outcome.best_time->median_us = 1234;
  return tuned;
}

}  // namespace

TEST_CASE("the table of tune says the whole reason why a shape keeps its tile, at any width",
          "[tune][table]") {
  const std::string reason = "default kept: 192x80 s3 w12 is 1.003x as fast (0.998..1.008), within the noise";
  const std::string why = "needs 274877906944 bytes, 150000000000 bytes are available";
  const std::vector<TunedShape> shapes{shape(TuneOutcome::End::kept, reason),
                                       shape(TuneOutcome::End::nothing_ran, why)};
  for (const int width : {60, 80, 100, 400}) {
    INFO(width);
    const std::string table = tune_table(shapes, {false, width});
    INFO(table);
    CHECK_FALSE(has(table, "..."));
    std::string joined, line;  // as if it had not been wrapped
    std::istringstream in(table);
    while (std::getline(in, line)) {
      CHECK(display_width(line) <= static_cast<size_t>(width));
      line.erase(0, line.find_first_not_of(' '));
      joined += line + " ";
    }
    CHECK(has(joined, reason));
    CHECK(has(joined, "not tuned: " + why));
  }
}
