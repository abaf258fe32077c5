// Arguments of every fused forward kernel: one plain struct, shared by host code and device code.
// Compiled by the host compiler and by NVRTC.
#pragma once

#include "core/mask.hpp"

namespace attnprof {

/// Layout: contiguous BHSD (see src/core/problem.hpp). Sizes in elements. Passed by value as
/// __grid_constant__.
struct AttentionParams {
  const void* q;  ///< [batch, heads, seqlen_q, head_dim]
  const void* k;  ///< [batch, kv_heads, seqlen_kv, head_dim]
  const void* v;  ///< [batch, kv_heads, seqlen_kv, head_dim]
  void* o;        ///< [batch, heads, seqlen_q, head_dim]
  float* lse;     ///< [batch, heads, seqlen_q]; natural log; -inf for a row that sees no key
  int batch;
  int heads;
  int kv_heads;
  int seqlen_q;
  int seqlen_kv;
  int head_dim;
  int window;        ///< 0: none
  float scale_log2;  ///< softmax scale times log2(e): scores are exponentiated in base 2
};

/// A kernel that is compiled for its masks passes constants. (seqlen_kv is read first: ptxas then allocates
/// registers better in the kernels that use all of them.)
inline Mask<int> mask_of(const AttentionParams& p, bool causal, bool windowed) {
  const int seqlen_kv = p.seqlen_kv;
  return {p.seqlen_q, seqlen_kv, causal, windowed, p.window};
}

}  // namespace attnprof
