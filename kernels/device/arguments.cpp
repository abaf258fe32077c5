#include "kernels/device/arguments.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>

#include "core/error.hpp"

namespace attnprof {

void require_16_byte_operands(std::string_view impl, const Tensors& t) {
  for (const auto& [name, address] : t.places) {
    if (name != "lse" && reinterpret_cast<uintptr_t>(address) % 16 != 0) {
      throw CaseError(fmt::format("{} needs {} aligned to 16 bytes, not at {}", impl, name, address));
    }
  }
}

AttentionParams attention_params(const Problem& p, const Tensors& t) {
  constexpr double kLog2E = 1.4426950408889634;
  return {.q = t.at("q"),
          .k = t.at("k"),
          .v = t.at("v"),
          .o = t.at("o"),
          .lse = t.lse(),
          .batch = static_cast<int>(p.batch),
          .heads = static_cast<int>(p.heads),
          .kv_heads = static_cast<int>(p.kv_heads),
          .seqlen_q = static_cast<int>(p.seqlen_q),
          .seqlen_kv = static_cast<int>(p.seqlen_kv),
          .head_dim = static_cast<int>(p.head_dim),
          .window = static_cast<int>(mask_of(p).window),
          .scale_log2 = static_cast<float>(softmax_scale(p) * kLog2E)};
}

std::pair<std::string, std::string> macro(std::string_view name, int64_t value) {
  return {fmt::format("ATTNPROF_{}", name), std::to_string(value)};
}

}  // namespace attnprof
