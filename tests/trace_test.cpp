#include "core/trace.hpp"

#include <cmath>
#include <limits>

#include "catch.hpp"
#include "core/error.hpp"

using namespace attnprof;

namespace {

const std::vector<double> kScores{2, 1, 0.5, 3, -1, 2.5, 0, 4};
const std::vector<double> kValues{10, 20, 30, 40, 50, 60, 70, 80};

}  // namespace

TEST_CASE("eight keys in tiles of four: 30.81 after the first tile, 61.69 after the second",
          "[trace][seeds]") {
  const std::vector<TraceStep> steps = trace_online_softmax(kScores, kValues, 4);
  REQUIRE(steps.size() == 2);
  CHECK(steps[0].first_key == 0);
  CHECK(steps[0].last_key == 3);
  CHECK(steps[0].m == 3);
  CHECK(steps[0].rescale == 0);
  CHECK(steps[0].output == Approx(30.81).margin(0.005));
  CHECK(steps[1].first_key == 4);
  CHECK(steps[1].last_key == 7);
  CHECK(steps[1].m == 4);
  CHECK(steps[1].rescale == Approx(std::exp(3.0 - 4.0)));
  CHECK(steps[1].output == Approx(61.69).margin(0.005));
}

TEST_CASE("every tile size ends at the full softmax", "[trace][seeds]") {
  const double full = full_softmax_output(kScores, kValues);
  for (int tile = 1; tile <= 9; ++tile) {
    INFO("tile " << tile);
    const std::vector<TraceStep> steps = trace_online_softmax(kScores, kValues, tile);
    CHECK(steps.back().output == Approx(full).epsilon(1e-14));
    CHECK(steps.back().last_key == 7);
    CHECK(static_cast<int>(steps.size()) == (8 + tile - 1) / tile);
  }
}

TEST_CASE("a tile without a larger score rescales nothing", "[trace]") {
  const std::vector<TraceStep> steps = trace_online_softmax({3, 1, 2, 0}, {1, 2, 3, 4}, 2);
  CHECK(steps[1].rescale == 1);
  CHECK(steps[1].m == 3);
}

TEST_CASE("each step's output is u / l, and l counts the exponentials relative to m", "[trace]") {
  const std::vector<TraceStep> steps = trace_online_softmax({0, 0, 0, 0, 0}, {1, 2, 3, 4, 5}, 2);
  REQUIRE(steps.size() == 3);
  CHECK(steps[0].l == 2);
  CHECK(steps[1].l == 4);
  CHECK(steps[2].l == 5);
  CHECK(steps[2].u == 15);
  CHECK(steps[2].output == 3);
}

TEST_CASE("scores whose exponential overflows stay finite", "[trace]") {
  const std::vector<TraceStep> steps = trace_online_softmax({-5000, 5000, 5000}, {1, 2, 4}, 1);
  CHECK(steps[0].output == 1);
  CHECK(steps[1].rescale == 0);
  CHECK(steps[2].output == 3);
  CHECK(full_softmax_output({-5000, 5000, 5000}, {1, 2, 4}) == 3);
}

TEST_CASE("input that has no trace is refused", "[trace]") {
  CHECK_THROWS_AS(trace_online_softmax({}, {}, 1), UsageError);
  CHECK_THROWS_AS(trace_online_softmax({1, 2}, {1}, 1), UsageError);
  CHECK_THROWS_AS(trace_online_softmax({1, 2}, {1, 2}, 0), UsageError);
  CHECK_THROWS_AS(trace_online_softmax({1, std::nan("")}, {1, 2}, 1), UsageError);
  CHECK_THROWS_AS(trace_online_softmax({1, 2}, {1, std::numeric_limits<double>::infinity()}, 1), UsageError);
  CHECK_THROWS_AS(full_softmax_output({}, {}), UsageError);
  CHECK_THROWS_WITH(full_softmax_output({1, 2, 3}, {1}), containing("3 scores") && containing("1 values"));
}
