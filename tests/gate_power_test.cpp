// How often the gate is wrong and how much it sees, on noise like a real machine's (tests/noisy_grid.hpp).
// 120 cases, every fourth slowed; seeds 1 to 3 together; "runs" are sweeps of the baseline and of the new
// build:
//
//   machine                   runs   same build failed   found:  1%    2%     3%     5%    10%
//   H200, no throttling       1, 1        0 of 300               0%   27%    97%   100%   100%
//                             3, 1        0 of 300               0%   49%    99%   100%   100%
//                             3, 3        0 of 300               0%   56%   100%   100%   100%
//   four times the noise      1, 1        1 of 300               0%    0%     0%     0%     1%
//   between runs              3, 1        0 of 300               0%    0%     0%     4%    63%
//                             3, 3        0 of 300               0%    0%    16%    91%   100%
//
// // Why the threshold is 2%: of 3% (1, 1), thresholds of 1, 1.5 and 2% find 97%, since there the noise
// decides; 2.5% finds 94%, 3% finds 47%. 2% is the largest that costs nothing.
#include "catch.hpp"
#include "noisy_grid.hpp"

using namespace attnprof;

namespace {

constexpr int kCases = 120;

/// Runs of the same build that the gate failed, of 300.
int false_alarms(const MachineNoise& machine, int baselines, int news) {
  int failed = 0;
  for (const uint64_t seed : {1, 2, 3}) {
    NoisyGrid grid(kCases, machine, seed);
    failed += gate_power(grid, baselines, news, 100, 0).runs_failed;
  }
  return failed;
}

double found(const MachineNoise& machine, int baselines, int news, double slow_down) {
  double share = 0;
  for (const uint64_t seed : {1, 2, 3}) {
    NoisyGrid grid(kCases, machine, seed);
    const GatePower power = gate_power(grid, baselines, news, 8, slow_down);
    CHECK(power.false_alarms == 0);  // none of the cases that were not slowed
    share += power.found / 3;
  }
  return share;
}

}  // namespace

TEST_CASE("a hundred repeats of the same build do not fail once, at any of three seeds", "[gate][power]") {
  CHECK(false_alarms({}, 1, 1) == 0);
  CHECK(false_alarms({}, 3, 1) == 0);
}

TEST_CASE("of slow-downs by 3% nineteen in twenty are found at default settings, by 5% all",
          "[gate][power]") {
  CHECK(found({}, 1, 1, 0.01) == 0);  // below the threshold
  CHECK(found({}, 1, 1, 0.03) >= 0.95);
  CHECK(found({}, 1, 1, 0.05) == 1);
  CHECK(found({}, 3, 1, 0.03) >= 0.98);
}

TEST_CASE("on a machine four times as noisy, repeats keep the gate quiet and still show 10%",
          "[gate][power]") {
  const MachineNoise noisy{0.003, 0.006, 0.004, 0.7, 0.02};
  CHECK(false_alarms(noisy, 3, 3) == 0);
  CHECK(found(noisy, 3, 3, 0.05) > 0.8);
  CHECK(found(noisy, 3, 3, 0.10) > 0.99);
}
