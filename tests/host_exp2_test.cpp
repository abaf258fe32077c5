// The polynomial behind every softmax on the CPU, for the instruction set the tests are compiled for.
#include <cmath>
#include <limits>

#include "catch.hpp"
#include "host/simd.hpp"

using attnprof::HWY_NAMESPACE::exp2_scalar;

TEST_CASE("exp2 keeps its stated error over its whole range", "[host][numerics]") {
  double worst = 0;
  for (double x = -126.0; x <= 127.0; x += 1.0 / 4099) {
    const float at = static_cast<float>(x);
    const double exact = std::exp2(static_cast<double>(at));
    worst = std::max(worst, std::abs(exp2_scalar(at) - exact) / exact);
  }
  CAPTURE(worst);
  CHECK(worst < 1.2e-7);
}

TEST_CASE("exp2 is exact at integers, zero far below, and keeps NaN", "[host][numerics]") {
  for (int n = -126; n <= 127; ++n) CHECK(exp2_scalar(static_cast<float>(n)) == std::ldexp(1.0f, n));
  CHECK(exp2_scalar(-126.5f) == 0.0f);
  CHECK(exp2_scalar(-1e30f) == 0.0f);
  CHECK(exp2_scalar(-std::numeric_limits<float>::infinity()) == 0.0f);
  CHECK(std::isnan(exp2_scalar(std::numeric_limits<float>::quiet_NaN())));
}
