// Correctness: every measured output against float64 on the host.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/problem.hpp"
#include "core/record.hpp"

namespace attnprof {

/// One row of exact attention in float64 from stored inputs: for tests. `q_row` has head_dim elements; `k`,
/// `v` are the KV head, [seqlen_kv, head_dim], in p.dtype. Writes head_dim outputs and returns the
/// log-sum-exp (-inf and zeros for a row with no visible key). See core/reference.hpp.
double reference_row(const Problem& p, int64_t i, const void* q_row, const void* k, const void* v,
                     double* out);

/// Bound on rel_err = ||o - ref||_2 / ||ref||_2 for zero-mean inputs, derived from the dtype's unit roundoff
/// and the length; the reasoning stands in reference.cpp. `materialized` is for baselines that round S and P
/// to the dtype.
double tolerance(const Problem& p, bool materialized);

/// Why no check could tell a right result from a wrong one: scores so large that their own rounding moves the
/// result by half of it or more. Nothing when it can be checked.
std::optional<std::string> unverifiable(const Problem& p, bool materialized);

/// Gives the verifier access to tensors wherever they live. `offset` and `count` in elements of the tensor.
using ReadTensor = std::function<void(std::string_view tensor, void* dst, int64_t offset, int64_t count)>;

struct VerifyOptions {
  int64_t max_rows = 64;   ///< rows checked; all of them when the problem has at most four times as many
  double max_flops = 2e9;  ///< cap on the reference's own work
  bool materialized = false;
  std::vector<std::string_view> omits{};  ///< outputs that are not written, and so not checked
  uint64_t seed = 7;
};

/// Walks the outputs of tensors_of(p): an output that there is no reference for is never right. O: every
/// element has to be finite (the runner fills outputs with NaN first, so a row that no kernel wrote is
/// found), then a sample of rows (all of a small problem; else random ones of a few heads, with the first and
/// last row of the first and last head and the rows where visibility begins) against reference_row: each
/// element against its hard bound, all together against tolerance(), LSE included. NaN never passes: in the
/// result only, in the reference only, and in both are distinct messages naming the first index.
VerifyResult verify(const Problem& p, const ReadTensor& read, const VerifyOptions& options);

}  // namespace attnprof
