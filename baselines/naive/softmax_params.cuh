// Arguments of softmax.cu: one plain struct, shared by host code and device code, so it includes nothing.
#pragma once

namespace attnprof {

struct SoftmaxParams {
  const void* scores;   ///< [rows, pitch], already scaled; columns from seqlen_kv on are padding
  void* probabilities;  ///< [rows, pitch]
  float* lse;           ///< [rows]; natural log; -inf for a row that sees no key
  long long rows;       ///< batch * heads * seqlen_q
  int seqlen_q;
  int seqlen_kv;
  int pitch;   ///< elements; rows start 16-byte aligned
  int window;  ///< 0: none
};

}  // namespace attnprof
