// The GPU rows of the registry. A build without CUDA has them too: it can plan and model, not launch.
#pragma once

#include <string_view>
#include <vector>

#include "core/implementation.hpp"

namespace attnprof {

std::vector<Implementation> gpu_implementations();

/// What the alias "fused" means on `device`.
std::string_view best_fused_gpu(const DeviceInfo& device);

}  // namespace attnprof
