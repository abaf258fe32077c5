// Registry rows of the fused kernel for Hopper.
#pragma once

#include <vector>

#include "core/implementation.hpp"

namespace attnprof {

/// "flash3": TMA, wgmma, specialised warpgroups, softmax under the products. See flash3.cu. Behind it the
/// steps that lead to it, as switches of the same kernel: "flash3-tma" (one role: everybody computes, one
/// thread also loads), "flash3-roles" (+ a producer warpgroup), "flash3-turns" (+ ping-pong).
std::vector<Implementation> flash3();

}  // namespace attnprof
