#include "kernels/device/fused_launch.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <utility>

#include "core/error.hpp"

namespace attnprof {

void require_16_byte_operands(std::string_view impl, const Tensors& t) {
  for (const auto& [name, address] :
       {std::pair{"Q", t.q}, {"K", t.k}, {"V", t.v}, {"O", const_cast<const void*>(t.o)}}) {
    if (reinterpret_cast<uintptr_t>(address) % 16 != 0) {
      throw CaseError(fmt::format("{} needs {} aligned to 16 bytes, not at {}", impl, name, address));
    }
  }
}

AttentionParams attention_params(const Problem& p, const Tensors& t) {
  constexpr double kLog2E = 1.4426950408889634;
  return {.q = t.q,
          .k = t.k,
          .v = t.v,
          .o = t.o,
          .lse = t.lse,
          .batch = static_cast<int>(p.batch),
          .heads = static_cast<int>(p.heads),
          .kv_heads = static_cast<int>(p.kv_heads),
          .seqlen_q = static_cast<int>(p.seqlen_q),
          .seqlen_kv = static_cast<int>(p.seqlen_kv),
          .head_dim = static_cast<int>(p.head_dim),
          // A window wider than everything is none at all, and must not overflow a column number.
          .window = static_cast<int>(std::min(p.window, p.seqlen_q + p.seqlen_kv)),
          .scale_log2 = static_cast<float>(softmax_scale(p) * kLog2E)};
}

}  // namespace attnprof
