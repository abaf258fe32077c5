#pragma once

#include <vector>

#include "core/device.hpp"
#include "core/problem.hpp"

namespace attnprof {

/// Configurations of flash3 worth measuring: what `attnprof tune` chooses from.
std::vector<KernelConfig> flash3_candidates(const Problem& p, const DeviceInfo& device);

}  // namespace attnprof
