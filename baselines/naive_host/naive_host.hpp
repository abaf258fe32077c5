// Registry row of the materialising host baseline.
#pragma once

#include "core/implementation.hpp"

namespace attnprof {

/// "naive" on the CPU: S and P written to main memory, three passes. See naive_host.cpp.
Implementation naive_host();

}  // namespace attnprof
