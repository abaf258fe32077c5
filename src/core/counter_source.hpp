// Where hardware counters and kernel times come from. CUPTI on a GPU; a fake in the tests.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "core/device.hpp"
#include "core/implementation.hpp"
#include "core/record.hpp"

namespace attnprof {

struct CounterRequest {
  CacheMode cache = CacheMode::cold;
  /// true: dirty L2 lines are written back inside the measured range (their HBM writes are charged to the
  /// case); false: as `ncu` does, the range ends when the last kernel does.
  bool drain = true;
  /// false: HBM and L2 bytes only (fewest passes); true: FLOPs and pipe utilisation too.
  bool flops = true;
  /// Of the operands: tensor FLOPs are counted by operand type.
  DType dtype = DType::bf16;
};

/// One step in several launches: the sum of its kernels' durations in each, and how many kernels that are.
struct StepTimes {
  std::vector<double> samples_us;
  int launches = 0;
};

/// Replays a prepared case under hardware counters, apart from any timing. Never throws for a refusal:
/// the cause is in Counters::status, the numbers stay empty.
class CounterSource {
 public:
  virtual ~CounterSource() = default;
  virtual Counters measure(Prepared& work, const CounterRequest& request) = 0;
  /// Device times of the kernels of one launch, taken unprofiled by counters. Empty when records cannot be
  /// had.
  virtual std::optional<KernelTimes> kernel_times(Prepared& work, CacheMode cache) = 0;
  /// The same per step of Prepared::launch_step, `steps` of them run in order: one range each in the same
  /// pass, with the caches as the step before left them. What a step leaves dirty in the cache is written
  /// back, and counted, under those after it; with `drain` and a cold cache, what the last one leaves is its
  /// own. Empty when counters cannot be had.
  virtual std::vector<Counters> measure_steps(Prepared& /*work*/, size_t /*steps*/,
                                              const CounterRequest& /*request*/) {
    return {};
  }
  /// Device times of each step in `samples` launches of all. Empty when records cannot be had.
  virtual std::vector<StepTimes> step_times(Prepared& /*work*/, size_t /*steps*/, CacheMode /*cache*/,
                                            int /*samples*/) {
    return {};
  }
  /// "" when counters work; else one line with the cause and its cure, for stderr, said once per run.
  virtual std::string hint() const = 0;
};

}  // namespace attnprof
