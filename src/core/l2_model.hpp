// How much of what was touched before is still in the last-level cache: one rule for the predicted bytes of
// all kernels.
#pragma once

#include <algorithm>
#include <cstdint>

#include "core/device.hpp"

namespace attnprof {

/// Share of the lines that are gone when they are wanted again after `reuse_bytes` of other lines: none up to
/// half of `capacity_bytes`, all from the whole of it on. A sharp step would be strict least-recently-used
/// order, in which no cache of this size replaces lines, and a perfect pace of all blocks, which they do not
/// keep. The ramp and the capacity below agree with counters of an H200 (docs/results/h200.csv).
inline double l2_miss_share(double reuse_bytes, double capacity_bytes) {
  if (capacity_bytes <= 0) return 1;
  return std::clamp(2 * reuse_bytes / capacity_bytes - 1, 0.0, 1.0);
}

/// L2 capacity for data that SMs all over the chip read: from compute capability 8.0, 9.0 and 10.0 the L2 has
/// two partitions, each of which keeps its own copy of what its SMs read.
inline double l2_shared_capacity(const DeviceInfo& device) {
  const bool two_partitions = device.compute_capability % 10 == 0;
  return static_cast<double>(device.last_level_cache_bytes) / (two_partitions ? 2 : 1);
}

}  // namespace attnprof
