// Device times of single kernels, from CUPTI's activity records.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/counter_source.hpp"
#include "core/implementation.hpp"
#include "core/record.hpp"
#include "gpu/device/gpu_device.hpp"

namespace attnprof {

/// One kernel of a launch; GPU timestamps in nanoseconds.
struct KernelRecord {
  std::string name;
  int64_t start_ns = 0;
  int64_t end_ns = 0;
};

/// Records the kernels of one launch of `work`, in order of start. They are enqueued behind a kernel that
/// keeps the device busy, so that gaps are the device's own and not the host's. Records are on for this call
/// only, and the range profiler must be off meanwhile. Throws CuptiError, and CaseError when the launch
/// fails.
std::vector<KernelRecord> record_kernels(GpuDevice& gpu, Prepared& work, CacheMode cache);

/// Records `samples` launches of `work`, step by step, as record_kernels does. Kernels carry no sign of their
/// step, but run in the order in which they were enqueued: each step is first recorded alone, for the number
/// of its kernels. Empty when a launch did not show as many kernels as its steps together.
std::vector<StepTimes> record_steps(GpuDevice& gpu, Prepared& work, size_t steps, CacheMode cache,
                                    int samples);

/// Sums of durations of consecutive groups of `counts` kernels; empty unless the counts add up to all of
/// them.
std::vector<double> split_by_counts(const std::vector<KernelRecord>& kernels, const std::vector<int>& counts);

/// Sum of durations, and the time between first start and last end in which no kernel ran. Empty without
/// records.
std::optional<KernelTimes> summarise_kernels(const std::vector<KernelRecord>& kernels);

}  // namespace attnprof
