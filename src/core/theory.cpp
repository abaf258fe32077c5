#include "core/theory.hpp"

#include <algorithm>

#include "core/error.hpp"

namespace attnprof {

namespace {

/// Sum of clamp(i + shift, 0, limit) over i in [0, rows).
int64_t sum_of_clamped(int64_t rows, int64_t shift, int64_t limit) {
  const int64_t rising = std::clamp<int64_t>(-shift, 0, rows);  // rows before it contribute 0
  const int64_t flat =
      std::clamp<int64_t>(limit - shift, rising, rows);  // rows from it on contribute `limit`
  const int64_t n = flat - rising;
  const int64_t first = rising + shift;
  return n * first + n * (n - 1) / 2 + (rows - flat) * limit;
}

int64_t element_bytes(const Problem& p, int64_t heads, int64_t seqlen, int64_t width) {
  return p.batch * heads * seqlen * width * dtype_bytes(p.dtype);
}

/// Multiply-adds per visible pair and column: one for each matrix product of the pass.
int64_t products(Pass pass) {
  constexpr int64_t kForward = 2;   // S = Q K^T, O = P V
  constexpr int64_t kBackward = 5;  // S again, dV = P^T dO, dP = dO V^T, dQ = dS K, dK = dS^T Q
  switch (pass) {
    case Pass::fwd:
      return kForward;
    case Pass::bwd:
      return kBackward;
    case Pass::fwd_bwd:
      return kForward + kBackward;
  }
  return 0;
}

}  // namespace

int64_t visible_pairs(const Problem& p) {
  // Row i sees [clamp(i + b), clamp(i + e)) with b < e (core/mask.hpp), and clamping keeps their order: the
  // sum over rows is the difference of two sums that have closed forms. A mask that is not there is a window
  // that no distance reaches.
  Mask<int64_t> mask = mask_of(p);
  if (!mask.windowed) mask.window = p.seqlen_q + p.seqlen_kv;
  return sum_of_clamped(p.seqlen_q, unclipped_end<int64_t>(mask, 0), p.seqlen_kv) -
         sum_of_clamped(p.seqlen_q, unclipped_begin<int64_t>(mask, 0), p.seqlen_kv);
}

int64_t algorithmic_flops(const Problem& p) {
  return 2 * products(p.pass) * p.batch * p.heads * p.head_dim * visible_pairs(p);
}

Traffic compulsory_traffic(const Problem& p) {
  if (p.pass == Pass::fwd_bwd) {
    // dO comes from what follows the forward pass, so the two cannot be fused: each reads and writes its own.
    Problem part = p;
    part.pass = Pass::fwd;
    Traffic sum = compulsory_traffic(part);
    part.pass = Pass::bwd;
    sum += compulsory_traffic(part);
    return sum;
  }
  Traffic traffic;
  for (const TensorSpec& tensor : tensors_of(p))
    (tensor.output ? traffic.write_bytes : traffic.read_bytes) += tensor.bytes();
  return traffic;
}

int64_t q_bytes(const Problem& p) {
  return element_bytes(p, p.heads, p.seqlen_q, p.head_dim);
}
int64_t kv_bytes(const Problem& p) {
  return element_bytes(p, p.kv_heads, p.seqlen_kv, p.head_dim);
}
int64_t o_bytes(const Problem& p) {
  return q_bytes(p);
}
int64_t lse_bytes(const Problem& p) {
  return p.batch * p.heads * p.seqlen_q * int64_t{sizeof(float)};
}
int64_t score_matrix_bytes(const Problem& p) {
  return element_bytes(p, p.heads, p.seqlen_q, p.seqlen_kv);
}
int64_t score_slots(const Problem& p) {
  return p.seqlen_q * p.seqlen_kv;
}

int64_t executed_pairs(const Problem& p, int tile_m, int tile_n) {
  if (tile_m < 1 || tile_n < 1) {
    throw UsageError("executed_pairs: tile sides must be at least 1, not " + std::to_string(tile_m) + "x" +
                     std::to_string(tile_n));
  }
  int64_t tiles = 0;
  for (int64_t row = 0; row < p.seqlen_q; row += tile_m) {
    // Both ends of the visible range grow with the row and neighbouring ranges overlap or touch, so the keys
    // that the rows of this tile see together are one range.
    const KeyRange first = visible_keys(p, row);
    const KeyRange last = visible_keys(p, std::min(row + tile_m, p.seqlen_q) - 1);
    if (last.size() == 0) continue;
    tiles += (last.end + tile_n - 1) / tile_n - first.begin / tile_n;
  }
  return tiles * tile_m * tile_n;
}

}  // namespace attnprof
