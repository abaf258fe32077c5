// What the plan of flash2 (flash2_gpu.cpp) and its launch (flash2_launch_gpu.cpp) share.
#pragma once

#include <cstdint>
#include <memory>

#include "core/implementation.hpp"

namespace attnprof {

/// Dynamic shared memory of one block.
int64_t flash2_smem_bytes(const Problem& p, const KernelConfig& k);
KernelSpec flash2_spec(const Case& c);

/// Throws CaseError for operands that do not stand on 16 bytes; UnavailableError in a build without CUDA.
std::unique_ptr<Prepared> prepare_flash2(const Case& c, const Tensors& t, Device& device);

}  // namespace attnprof
