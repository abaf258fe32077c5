// What the launches of fused GPU kernels have in common: operands checked, arguments packed.
#pragma once

#include <string_view>

#include "core/implementation.hpp"
#include "kernels/device/params.cuh"

namespace attnprof {

/// Throws CaseError, naming `impl` and the operand, for Q, K, V or O that do not stand on 16 bytes: kernels
/// move that much at a time.
void require_16_byte_operands(std::string_view impl, const Tensors& t);

/// The kernel argument of a problem.
AttentionParams attention_params(const Problem& p, const Tensors& t);

}  // namespace attnprof
