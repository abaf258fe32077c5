// The reference, and the derivation of every tolerance in the project.
//
// Where a computation in dtype t (unit roundoff u) rounds, beyond fp32 arithmetic (u32 = 2^-24):
//   O  the result is stored in t:                         relative error <= u of each element;
//   P  the probabilities enter the second product in t:   relative error <= u of each p_j;
//   S  only when materialized, the scores are stored in t: an absolute error <= u |s_j|, hence a relative one
//   of
//      u |s_j| in p_j and again in the row sum.
//
// Hard bound on one element (element_bound): all of them at their worst and of one sign,
//   |o - ref| <= u |o| + u M + [2 u max|s| M] + fp32 terms,   M = sum_j p_j |v_j|.
//
// Statistical bound on the norm over many elements (tolerance): roundings are independent. A rounding error
// is uniform, so its root mean square relative to the value is about 0.42 u (1/sqrt(3) of u, averaged over a
// binade). For inputs of zero mean, O is itself a sum with random signs, sqrt(sum p_j^2 v_j^2), and the error
// that P's rounding leaves is 0.42 u times the same root: the ratio is 0.42 u at any length. S contributes
// 0.42 u s_eff, with s_eff the root mean square of s under the weights p^2. For scores ~ N(0, sigma^2), sigma
// = scale sqrt(head_dim), the weights e^{2s} move the mean to 2 sigma^2: s_eff^2 = sigma^2 + 4 sigma^4, but
// never above the largest of N scores, sigma sqrt(2 ln N). The norms concentrate (thousands of elements), so
// three times this estimate is both safe and sharp; tests hold simulated kernels against it from both sides.
#include "core/reference.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "core/fill.hpp"
#include "core/verify.hpp"

namespace attnprof {
namespace {

constexpr double kU32 = 0x1p-24;
constexpr double kRmsOfRounding = 0.42;
constexpr double kSafety = 3.0;

double dot(const float* a, const float* b, int64_t n) {
  double sums[4] = {0, 0, 0, 0};  // independent chains; the order is fixed, so the result is too
  int64_t c = 0;
  for (; c + 4 <= n; c += 4) {
    for (int k = 0; k < 4; ++k) sums[k] += static_cast<double>(a[c + k]) * static_cast<double>(b[c + k]);
  }
  for (; c < n; ++c) sums[0] += static_cast<double>(a[c]) * static_cast<double>(b[c]);
  return (sums[0] + sums[1]) + (sums[2] + sums[3]);
}

/// Relative error of fp32 arithmetic itself: dot products of head_dim terms, sums of seqlen_kv terms (random
/// walk), and an exponential whose argument carries the rounding of a score of this size.
double fp32_error(const Problem& p, double score) {
  const double terms =
      std::sqrt(static_cast<double>(p.head_dim)) + std::sqrt(static_cast<double>(p.seqlen_kv));
  return kU32 * (8 + terms + 4 * score);
}

}  // namespace

double unit_roundoff(DType t) {
  switch (t) {
    case DType::bf16:
      return 0x1p-8;
    case DType::fp16:
      return 0x1p-11;
    case DType::fp32:
      break;
  }
  return kU32;
}

ReferenceRow reference_row(const Problem& p, int64_t i, const float* q, const float* k, const float* v,
                           double* out, double* magnitude) {
  std::fill(out, out + p.head_dim, 0.0);
  std::fill(magnitude, magnitude + p.head_dim, 0.0);
  const KeyRange keys = visible_keys(p, i);
  ReferenceRow row;
  row.lse = -std::numeric_limits<double>::infinity();
  if (keys.size() <= 0) return row;

  std::vector<double> weights(static_cast<size_t>(keys.size()));
  const double scale = softmax_scale(p);
  double largest = -std::numeric_limits<double>::infinity();
  for (int64_t j = keys.begin; j < keys.end; ++j) {
    const double s = scale * dot(q, k + j * p.head_dim, p.head_dim);
    weights[static_cast<size_t>(j - keys.begin)] = s;
    // Written so that a NaN score stays: max() would lose it.
    if (!(s <= largest)) largest = s;
    row.max_abs_score = std::max(row.max_abs_score, std::abs(s));
  }
  double sum = 0;
  for (double& w : weights) {
    w = std::exp(w - largest);
    sum += w;
  }
  for (int64_t j = keys.begin; j < keys.end; ++j) {
    const double w = weights[static_cast<size_t>(j - keys.begin)] / sum;
    const float* value = v + j * p.head_dim;
    for (int64_t c = 0; c < p.head_dim; ++c) {
      const double term = w * static_cast<double>(value[c]);
      out[c] += term;
      magnitude[c] += std::abs(term);
    }
  }
  row.lse = largest + std::log(sum);
  return row;
}

double reference_row(const Problem& p, int64_t i, const void* q_row, const void* k, const void* v,
                     double* out) {
  const auto widened = [&p](const void* stored, int64_t count) {
    std::vector<float> wide(static_cast<size_t>(count));
    for (int64_t e = 0; e < count; ++e) wide[static_cast<size_t>(e)] = load_element(stored, p.dtype, e);
    return wide;
  };
  const std::vector<float> q = widened(q_row, p.head_dim);
  const std::vector<float> keys = widened(k, p.seqlen_kv * p.head_dim);
  const std::vector<float> values = widened(v, p.seqlen_kv * p.head_dim);
  std::vector<double> magnitude(static_cast<size_t>(p.head_dim));
  return reference_row(p, i, q.data(), keys.data(), values.data(), out, magnitude.data()).lse;
}

double element_bound(const Problem& p, bool materialized, const ReferenceRow& row, double out,
                     double magnitude) {
  const double u = unit_roundoff(p.dtype);
  // fp32 rounds P and O as part of its arithmetic; counting them again does no harm at this size. Numbers
  // below the normal range have an absolute spacing: fp16 stores O and P in steps of 2^-24 there.
  const double subnormal = p.dtype == DType::fp16 ? 0x1p-24 * (1 + static_cast<double>(p.seqlen_kv)) : 0.0;
  const double of_scores = materialized ? 2 * u * row.max_abs_score : 0.0;
  return u * std::abs(out) + (u + of_scores + 4 * fp32_error(p, row.max_abs_score)) * magnitude + subnormal;
}

double lse_bound(const Problem& p, bool materialized, const ReferenceRow& row) {
  const double u = materialized ? unit_roundoff(p.dtype) : 0.0;
  return (u + kU32) * (row.max_abs_score + std::abs(row.lse)) + 4 * fp32_error(p, row.max_abs_score);
}

double tolerance(const Problem& p, bool materialized) {
  const double sigma = std::abs(softmax_scale(p)) * std::sqrt(static_cast<double>(p.head_dim));
  const double longest = sigma * std::sqrt(2 * std::log(std::max(2.0, static_cast<double>(p.seqlen_kv))));
  const double s_eff = std::min(std::sqrt(sigma * sigma + 4 * sigma * sigma * sigma * sigma), longest);
  const double fp32 = fp32_error(p, longest);
  if (p.dtype == DType::fp32) return kSafety * fp32;
  const double of_scores = materialized ? s_eff * s_eff : 0.0;
  return kSafety * (kRmsOfRounding * unit_roundoff(p.dtype) * std::sqrt(2 + of_scores) + fp32);
}

std::optional<std::string> unverifiable(const Problem& p, bool materialized) {
  constexpr double kHalf = 0.5;  // all zeros are off by 1
  const double bound = tolerance(p, materialized);
  if (bound < kHalf) return std::nullopt;
  return fmt::format(
      "cannot be verified: at scale {:.4g} the scores are so large that their rounding alone may move the "
      "result by {:.3g} of it; a smaller --scale can be checked",
      softmax_scale(p), bound);
}

}  // namespace attnprof
