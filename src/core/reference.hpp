// Exact attention of single rows in float64, and how far a computation in a given dtype may be from it.
#pragma once

#include <cstdint>

#include "core/problem.hpp"

namespace attnprof {

/// One row of the reference. `out[c]` = sum_j p_j v_jc; `magnitude[c]` = sum_j p_j |v_jc|, the scale on which
/// rounding errors of p act; both head_dim long. Two-pass "safe" softmax (Milakov & Gimelshein 2018, section
/// 2). `q` is the row, `k` and `v` are the KV head [seqlen_kv, head_dim], converted to float (exact for every
/// dtype). A row that sees no key gives zeros and -inf.
struct ReferenceRow {
  double lse = 0;
  double max_abs_score = 0;  ///< largest |scale * q.k| among the visible keys
};
ReferenceRow reference_row(const Problem& p, int64_t i, const float* q, const float* k, const float* v,
                           double* out, double* magnitude);

/// Unit roundoff: half the distance from 1 to the next number. bf16 2^-8, fp16 2^-11, fp32 2^-24.
double unit_roundoff(DType t);

/// Hard bound on one element of O, from the worst case of every rounding (see reference.cpp).
double element_bound(const Problem& p, bool materialized, const ReferenceRow& row, double out,
                     double magnitude);

/// Bound on the log-sum-exp of one row.
double lse_bound(const Problem& p, bool materialized, const ReferenceRow& row);

}  // namespace attnprof
