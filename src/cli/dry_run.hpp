// What a sweep would do: the planned rows with predicted bytes, memory and time.
#pragma once

#include <vector>

#include "core/device.hpp"
#include "measure/plan.hpp"

namespace attnprof {

/// Prints one line per planned row and the totals; returns the exit code. Times come from datasheet rates
/// where the GPU is known (a lower bound), else they are left out. `free_bytes` decides which rows would be
/// oom;
/// `run` says which shard of which plan they are.
int print_dry_run(const std::vector<PlannedRow>& rows, const RunConditions& run, const DeviceInfo& device,
                  int64_t free_bytes);

}  // namespace attnprof
