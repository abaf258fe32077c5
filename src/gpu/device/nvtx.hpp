// Named ranges for tools that watch from outside (ncu --nvtx, nsys). Push and pop nest, per thread.
#pragma once

#include <string>

namespace attnprof {

void nvtx_push(const std::string& name);
void nvtx_pop();

}  // namespace attnprof
