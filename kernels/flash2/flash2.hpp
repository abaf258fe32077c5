// Registry row of the fused kernel for sm_80 and newer.
#pragma once

#include "core/implementation.hpp"

namespace attnprof {

/// "flash2": FlashAttention-2's forward schedule with mma.sync and cp.async. See flash2.cu.
Implementation flash2();

}  // namespace attnprof
