#include "core/tensors.hpp"

#include "core/fill.hpp"

namespace attnprof {

std::vector<TensorSpec> tensors_of(const Problem& p) {
  const std::array<int64_t, 4> query{p.batch, p.heads, p.seqlen_q, p.head_dim};
  const std::array<int64_t, 4> key{p.batch, p.kv_heads, p.seqlen_kv, p.head_dim};
  const std::array<int64_t, 4> statistic{p.batch, p.heads, p.seqlen_q, 1};
  const bool forward = p.pass != Pass::bwd, backward = p.pass != Pass::fwd;
  std::vector<TensorSpec> all{{"q", false, p.dtype, query, kStreamQ},
                              {"k", false, p.dtype, key, kStreamK},
                              {"v", false, p.dtype, key, kStreamV}};
  if (backward) all.push_back({"do", false, p.dtype, query, kStreamDo});
  all.push_back({"o", forward, p.dtype, query});
  all.push_back({"lse", forward, DType::fp32, statistic});
  if (backward) {
    all.push_back({"dq", true, p.dtype, query});
    all.push_back({"dk", true, p.dtype, key});
    all.push_back({"dv", true, p.dtype, key});
  }
  return all;
}

int64_t tensor_bytes(const Problem& p) {
  int64_t sum = 0;
  for (const TensorSpec& tensor : tensors_of(p)) sum += tensor.bytes();
  return sum;
}

int64_t output_bytes(const Problem& p) {
  int64_t sum = 0;
  for (const TensorSpec& tensor : tensors_of(p)) sum += tensor.output ? tensor.bytes() : 0;
  return sum;
}

}  // namespace attnprof
