// What is computed: one exact-attention problem, independent of who computes it and how.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "core/mask.hpp"

namespace attnprof {

enum class Pass { fwd, bwd, fwd_bwd };
enum class DType { fp32, fp16, bf16 };

/// What the inputs hold. `normal` is the default everywhere: zeros draw less power and run faster.
/// See `core/fill.hpp` for the exact values.
enum class Fill { normal, zeros };

/// Which direction the numbers flow, how large they are, and which query-key pairs count.
///
/// Tensor layout, stated once for the whole project: every tensor is contiguous "BHSD",
///   Q, O : [batch, heads,    seqlen_q,  head_dim]
///   K, V : [batch, kv_heads, seqlen_kv, head_dim]
///   LSE  : [batch, heads,    seqlen_q]            (fp32, natural logarithm)
/// so the `heads / kv_heads` query heads that share one KV head are adjacent (GQA), and query head h reads
/// KV head h / (heads / kv_heads).
struct Problem {
  Pass pass = Pass::fwd;
  DType dtype = DType::bf16;
  int64_t batch = 1;
  int64_t heads = 1;     ///< query heads
  int64_t kv_heads = 1;  ///< key/value heads; divides `heads`
  int64_t seqlen_q = 0;
  int64_t seqlen_kv = 0;
  int64_t head_dim = 0;
  bool causal = false;  ///< bottom-right aligned: query i sees keys j <= i + seqlen_kv - seqlen_q
  int64_t window = 0;   ///< 0: none; W: |i + seqlen_kv - seqlen_q - j| < W (with causal: the last W keys)
  double scale = 0.0;   ///< factor on QK^T before softmax; 0 means 1/sqrt(head_dim)
  Fill fill = Fill::normal;
  uint64_t seed = 1;
  double dropout = 0.0;  ///< share of the probabilities that is zeroed

  bool operator==(const Problem&) const = default;
};

/// How a tiled implementation cuts the problem. 0 means "the implementation's default for this problem".
struct KernelConfig {
  int tile_m = 0;  ///< query rows per tile
  int tile_n = 0;  ///< keys per tile
  int stages = 0;  ///< K/V tiles in flight
  int warps = 0;   ///< warps (GPU) that share one tile

  bool operator==(const KernelConfig&) const = default;
};

/// One planned row of a sweep.
struct Case {
  Problem problem;
  std::string impl;  ///< registry name, alias resolved
  KernelConfig config;
};

/// Half-open range of keys [begin, end) that query row `i` sees; empty when begin >= end (then end == begin).
/// From core/mask.hpp, as every mask of the project.
struct KeyRange {
  int64_t begin = 0;
  int64_t end = 0;
  int64_t size() const { return end - begin; }
};
KeyRange visible_keys(const Problem& p, int64_t i);
Mask<int64_t> mask_of(const Problem& p);

/// KV head, counted over batch * kv_heads, that query head `head`, counted over batch * heads, reads.
int64_t kv_head_of(const Problem& p, int64_t head);

/// The effective softmax scale: `p.scale`, or 1/sqrt(head_dim) when that is 0.
double softmax_scale(const Problem& p);

int64_t dtype_bytes(DType t);  ///< 4 or 2

std::string_view to_string(Pass p);   // "fwd", "bwd", "fwd+bwd"
std::string_view to_string(DType t);  // "fp32", "fp16", "bf16"
std::string_view to_string(Fill f);   // "normal", "zeros"

/// One line for messages: "bf16 b2 h16 s1k d64 causal" (problem_label in core/axis.hpp).
std::string describe(const Problem& p);

/// Throws UsageError naming the field and the rule it breaks: sizes below 1, kv_heads that do not divide
/// heads, negative window, a scale that is negative, not finite or above 1e30 (scores would overflow fp32),
/// or counts that 63 bits could not hold exactly, whoever computes it: more than 2^57 elements in a tensor,
/// bytes in a score matrix, or multiply-adds in one product.
void validate(const Problem& p);

}  // namespace attnprof
