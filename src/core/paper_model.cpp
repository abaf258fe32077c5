#include "core/paper_model.hpp"

#include <algorithm>

#include "core/theory.hpp"

namespace attnprof {
namespace {

bool has_forward(const Problem& p) {
  return p.pass != Pass::bwd;
}
bool has_backward(const Problem& p) {
  return p.pass != Pass::fwd;
}

/// Pairs of a query and a block of `block` keys in which the query sees a key.
int64_t row_visits(const Problem& p, int64_t block) {
  int64_t visits = 0;
  for (int64_t i = 0; i < p.seqlen_q; ++i) {
    const KeyRange keys = visible_keys(p, i);
    if (keys.size() > 0) visits += (keys.end + block - 1) / block - keys.begin / block;
  }
  return visits;
}

}  // namespace

Traffic standard_traffic(const Problem& p) {
  const int64_t s = score_matrix_bytes(p), q = q_bytes(p), kv = kv_bytes(p), o = o_bytes(p);
  Traffic t;
  if (has_forward(p)) {
    t += Traffic{q + kv, s};  // S = Q K^T
    t += Traffic{s, s};       // P = softmax(S)
    t += Traffic{s + kv, o};  // O = P V
  }
  if (has_backward(p)) {
    t += Traffic{s + o, kv};  // dV = P^T dO
    t += Traffic{o + kv, s};  // dP = dO V^T
    t += Traffic{2 * s, s};   // dS from P and dP
    t += Traffic{s + kv, q};  // dQ = dS K
    t += Traffic{s + q, kv};  // dK = dS^T Q
  }
  return t;
}

Traffic unfused_traffic(const Problem& p) {
  const int64_t s = score_matrix_bytes(p);
  const int64_t mask = s / dtype_bytes(p.dtype);  // dropout: one byte per element
  Traffic t = standard_traffic(p);
  // The scale is a factor of the first product, so it moves nothing.
  if (has_forward(p)) {
    t += Traffic{
        s, s};  // mask added to the scores; its gradient is the incoming one, so it costs no backward pass
    t += Traffic{s, s + mask};  // dropout: P in, dropped P and its mask out
  }
  if (has_backward(p)) t += Traffic{s + mask, s};  // dropout
  return t;
}

Traffic flash_traffic(const Problem& p, int64_t onchip_bytes) {
  const int64_t elements = onchip_bytes / dtype_bytes(p.dtype);
  const int64_t block = std::max<int64_t>(1, (elements + 4 * p.head_dim - 1) / (4 * p.head_dim));
  const int64_t visits = p.batch * p.heads * row_visits(p, block);
  const int64_t row = visits * p.head_dim * dtype_bytes(p.dtype);  // one tensor's rows, every visit
  const int64_t statistic = visits * int64_t{sizeof(float)};
  const int64_t kv = 2 * kv_bytes(p);
  Traffic t;
  if (has_forward(p)) {
    t += Traffic{kv, 0};  // K, V once
    t += Traffic{row + row + 2 * statistic,
                 row + 2 * statistic};  // Q and O in, O out; row maximum and sum both ways
  }
  if (has_backward(p)) {
    t += Traffic{kv, kv};                              // K, V in; dK, dV out
    t += Traffic{3 * row + row + 2 * statistic, row};  // Q, O, dO and dQ in, dQ out; row maximum and sum in
  }
  return t;
}

}  // namespace attnprof
