// CounterSource on CUPTI.
//
// Bytes: one launch of the case is counted as a range of its own, and where `drain` is asked for, a second
// range follows it in the same pass that reads a clean buffer of three times the L2: what the case left dirty
// in the cache is written back there. hbm_write_bytes is then the writes of both ranges; every other figure
// is of the case's range alone, so the drain's own reads are charged to nobody. Without `drain` the figures
// are those of the case's range, as `ncu` has them.
//
// Before every pass the cache is flushed the same way. For a hot cache the case is launched once more and
// then counted in a further range, whose figures are reported; only the drained writes stay those of the
// launch that began with a clean cache, because after a warm-up nobody can tell whose dirty lines are written
// back.
//
// Steps of one launch: a range each, in order, then the drain, whose writes are added to those of the last
// step. On a hot cache there is none: what the launch before left dirty is written back under the first steps
// instead.
//
// Nothing needs to be restored between passes: kernels write only O, LSE and workspace, from inputs they
// never touch.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/counter_source.hpp"
#include "gpu/counters/cupti_host.hpp"
#include "gpu/counters/cupti_metrics.hpp"
#include "gpu/device/gpu_device.hpp"

namespace attnprof {

class CuptiCounters final : public CounterSource {
 public:
  /// Counts an empty range at once, so that hint() knows whether counters can be had.
  explicit CuptiCounters(GpuDevice& gpu);

  Counters measure(Prepared& work, const CounterRequest& request) override;
  std::optional<KernelTimes> kernel_times(Prepared& work, CacheMode cache) override;
  std::vector<Counters> measure_steps(Prepared& work, size_t steps, const CounterRequest& request) override;
  std::vector<StepTimes> step_times(Prepared& work, size_t steps, CacheMode cache, int samples) override;
  std::string hint() const override { return hint_; }

 private:
  struct Plan {
    std::vector<Quantity> quantities;  ///< those that the chip has, in the schedule's order
    std::unique_ptr<CounterSchedule> schedule;
  };
  const Plan& plan(bool flops, DType dtype);
  Counters count(Prepared& work, const CounterRequest& request);
  std::vector<Counters> count_steps(Prepared& work, size_t steps, const CounterRequest& request);
  /// What a failure becomes: a status, and the hint of the run when it has none yet.
  Counters refusal(const std::string& status, const std::string& message);
  void refuse(const std::string& cause, const std::string& message);

  GpuDevice& gpu_;
  std::string chip_;
  std::vector<uint8_t> availability_;
  std::map<std::pair<bool, DType>, Plan> plans_;
  std::string cause_;  ///< why there are no counters at all; "" when there are
  std::string hint_;
};

}  // namespace attnprof
