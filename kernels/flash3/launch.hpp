// The part of flash3 that needs CUDA; its plan (flash3_gpu.cpp) does not.
#pragma once

#include <cstdint>
#include <memory>

#include "core/implementation.hpp"

namespace attnprof {

/// `c` is resolved and supported; `spec` is its kernel (of whichever rung), `smem_bytes` its dynamic shared
/// memory. Throws CaseError for tensors that are not aligned to 16 bytes, or a driver without tensor maps.
std::unique_ptr<Prepared> prepare_flash3(const Case& c, const Tensors& t, Device& device,
                                         const KernelSpec& spec, int64_t smem_bytes);

}  // namespace attnprof
