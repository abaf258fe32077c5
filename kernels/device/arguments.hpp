// What the plans of GPU kernels have in common: operands checked, macros and arguments packed.
#pragma once

#include <string>
#include <string_view>
#include <utility>

#include "core/tensors.hpp"
#include "kernels/device/params.cuh"

namespace attnprof {

/// Throws CaseError, naming `impl` and the tensor, for one that does not stand on 16 bytes: kernels move that
/// much at a time. LSE, which they write in single floats, may stand anywhere.
void require_16_byte_operands(std::string_view impl, const Tensors& t);

/// The kernel argument of a problem.
AttentionParams attention_params(const Problem& p, const Tensors& t);

/// A macro of a KernelSpec: {"ATTNPROF_TILE_M", "128"} of "TILE_M".
std::pair<std::string, std::string> macro(std::string_view name, int64_t value);

}  // namespace attnprof
