#include "core/problem.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/axis.hpp"
#include "core/error.hpp"

namespace attnprof {

namespace {

/// fp32 ends at 3.4e38: this leaves a factor of 1e8 for the dot product and the base of the exponential.
constexpr double kMaxScale = 1e30;

/// Throws unless the product stays within `limit`.
void check_product(std::initializer_list<int64_t> factors, int64_t limit, const char* what,
                   const Problem& p) {
  int64_t product = 1;
  for (int64_t f : factors) {
    if (f > limit / product) {
      throw UsageError(fmt::format("problem too large: {} of {} exceed 2^{:.0f}; use smaller sizes", what,
                                   describe(p), std::log2(static_cast<double>(limit))));
    }
    product *= f;
  }
}

/// Kernels compute whole tiles; of those with a fixed size the largest side is 256.
int64_t in_tiles(int64_t seqlen) {
  return (seqlen + 255) / 256 * 256;
}

}  // namespace

Mask<int64_t> mask_of(const Problem& p) {
  return {.seqlen_q = p.seqlen_q,
          .seqlen_kv = p.seqlen_kv,
          .causal = p.causal,
          .windowed = p.window > 0,
          .window = std::min(p.window, p.seqlen_q + p.seqlen_kv)};
}

KeyRange visible_keys(const Problem& p, int64_t i) {
  const Keys<int64_t> keys = visible(mask_of(p), i);
  if (keys.end <= keys.begin) return {0, 0};
  return {keys.begin, keys.end};
}

int64_t kv_head_of(const Problem& p, int64_t head) {
  return head / p.heads * p.kv_heads + head % p.heads / (p.heads / p.kv_heads);
}

double softmax_scale(const Problem& p) {
  return p.scale != 0.0 ? p.scale : 1.0 / std::sqrt(static_cast<double>(p.head_dim));
}

int64_t dtype_bytes(DType t) {
  return t == DType::fp32 ? 4 : 2;
}

std::string_view to_string(Pass p) {
  switch (p) {
    case Pass::fwd:
      return "fwd";
    case Pass::bwd:
      return "bwd";
    case Pass::fwd_bwd:
      return "fwd+bwd";
  }
  return "?";
}

std::string_view to_string(DType t) {
  switch (t) {
    case DType::fp32:
      return "fp32";
    case DType::fp16:
      return "fp16";
    case DType::bf16:
      return "bf16";
  }
  return "?";
}

std::string_view to_string(Fill f) {
  switch (f) {
    case Fill::normal:
      return "normal";
    case Fill::zeros:
      return "zeros";
  }
  return "?";
}

void validate(const Problem& p) {
  const struct {
    const char* name;
    int64_t value;
  } sizes[] = {{"batch", p.batch},       {"heads", p.heads},         {"kv_heads", p.kv_heads},
               {"seqlen_q", p.seqlen_q}, {"seqlen_kv", p.seqlen_kv}, {"head_dim", p.head_dim}};
  for (const auto& size : sizes) {
    if (size.value < 1 || size.value > std::numeric_limits<int32_t>::max()) {
      throw UsageError(fmt::format("{} must lie in 1..2147483647, not {} (heads {}, kv_heads {})", size.name,
                                   size.value, p.heads, p.kv_heads));
    }
  }
  if (p.heads % p.kv_heads != 0) {
    throw UsageError(
        fmt::format("kv_heads {} does not divide heads {}; each key/value head must serve a whole number "
                    "of query heads",
                    p.kv_heads, p.heads));
  }
  if (p.window < 0) throw UsageError(fmt::format("window must be 0 (none) or positive, not {}", p.window));
  if (!std::isfinite(p.scale) || p.scale < 0 || p.scale > kMaxScale) {
    throw UsageError(fmt::format(
        "scale must be 0 (1/sqrt(head_dim)), or positive and at most {:g}, so that scores fit fp32, not {}",
        kMaxScale, p.scale));
  }
  // What is added up for a pass stays below 64 times these: 9 tensors of 4 bytes, 18 passes over a score
  // matrix (core/paper_model.cpp), 14 FLOPs or 28 bytes per pair and column. So 63 bits hold every sum.
  constexpr int64_t kMost = int64_t{1} << 57;
  const int64_t widest = std::max(p.seqlen_q, p.seqlen_kv);
  check_product({p.batch, p.heads, widest, p.head_dim}, kMost, "the elements of one tensor", p);
  check_product({p.batch, p.heads, p.seqlen_q, p.seqlen_kv, dtype_bytes(p.dtype)}, kMost,
                "the bytes of the score matrices", p);
  check_product({p.batch, p.heads, in_tiles(p.seqlen_q), in_tiles(p.seqlen_kv), p.head_dim}, kMost,
                "the multiply-adds of one product", p);
}

}  // namespace attnprof
