// Registry row of the materialising GPU baseline.
#pragma once

#include "core/implementation.hpp"

namespace attnprof {

/// "naive" on the GPU: S and P written to HBM, three steps. See naive.cpp.
Implementation naive_gpu();

}  // namespace attnprof
