// Registry row of the tiled host kernel.
#pragma once

#include "core/implementation.hpp"

namespace attnprof {

/// "fused" on the CPU: FlashAttention-2's forward schedule, threaded and vectorised. See fused_host.cpp.
Implementation fused_host();

}  // namespace attnprof
