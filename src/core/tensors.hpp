// The tensors of a problem as a table: what the runner allocates, fills and frees, what the memory estimate
// and the compulsory bytes add up, and what verification walks.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "core/problem.hpp"

namespace attnprof {

struct TensorSpec {
  std::string_view name;           ///< "q", "k", "v", "o", "lse", "do", "dq", "dk", "dv"
  bool output = false;             ///< written by the pass; otherwise read
  DType dtype = DType::bf16;       ///< LSE is fp32 whatever the problem's dtype
  std::array<int64_t, 4> sizes{};  ///< [batch, heads, rows, columns], contiguous
  uint32_t stream = 0;             ///< of the random numbers that an input is filled with (core/fill.hpp)

  int64_t elements() const { return sizes[0] * sizes[1] * sizes[2] * sizes[3]; }
  int64_t bytes() const { return elements() * dtype_bytes(dtype); }
};

/// Inputs first. Of a backward pass O and LSE are inputs; of fwd+bwd they are results on the way.
std::vector<TensorSpec> tensors_of(const Problem& p);

/// Bytes of all tensors together.
int64_t tensor_bytes(const Problem& p);
/// Of the outputs alone: what every implementation has for itself.
int64_t output_bytes(const Problem& p);

/// Where the tensors of a case lie, in host or device memory according to the implementation.
struct Tensors {
  std::vector<std::pair<std::string_view, void*>> places;
  void* workspace = nullptr;  ///< Implementation::workspace_bytes bytes, 256-byte aligned

  /// nullptr for a tensor that is not there.
  void* at(std::string_view name) const {
    for (const auto& [own, address] : places) {
      if (own == name) return address;
    }
    return nullptr;
  }
  float* lse() const { return static_cast<float*>(at("lse")); }
};

}  // namespace attnprof
