// The GPU rows of the registry; empty in a build without CUDA.
#pragma once

#include <string_view>
#include <vector>

#include "core/implementation.hpp"

namespace attnprof {

std::vector<Implementation> gpu_implementations();

/// What the alias "fused" means on `device`.
std::string_view best_fused_gpu(const DeviceInfo& device);

}  // namespace attnprof
