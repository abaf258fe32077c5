// Masking and the online softmax of one warpgroup's 64 x tile_n scores, in registers.
// A thread holds two rows (h = 0, 1), shared with the three other lanes of its quad: element 4b + 2h + e of
// `s` is column 8b + 2 (lane % 4) + e.
#pragma once

#include "kernels/flash3/schedule.cuh"

namespace attnprof {

constexpr int kScores = kTileN / 2;     // fp32 scores a thread holds
constexpr int kOutputs = kHeadDim / 2;  // fp32 outputs a thread holds

__device__ __forceinline__ float negative_infinity() {
  return __int_as_float(0xff800000);
}

/// Running maximum (unscaled), the shift of the exponent (maximum times scale_log2), and this thread's share
/// of the sum.
struct SoftmaxState {
  float maximum[2] = {negative_infinity(), negative_infinity()};
  float shift[2] = {negative_infinity(), negative_infinity()};
  float sum[2] = {0.0f, 0.0f};
};

/// How many of a thread's columns (8b and 8b + 1 for b = 0, 1, ...) lie below `limit`.
__device__ __forceinline__ int columns_below(int limit) {
  return limit <= 0 ? 0 : 2 * (limit / 8) + smaller(limit % 8, 2);
}

/// The lowest `count` bits, for any count.
__device__ __forceinline__ uint32 low_bits(int count) {
  return count >= 32 ? 0xFFFFFFFF : count <= 0 ? 0u : (1u << count) - 1;
}

/// Sets scores outside [begin, end) of their row to -inf. Bounds are relative to the thread's first column. A
/// bit a score: testing constant bits of a word is cheaper than comparing column numbers.
__device__ __forceinline__ void mask_scores(float (&s)[kScores], const Keys<int> (&rows)[2],
                                            int first_column) {
#pragma unroll
  for (int h = 0; h < 2; ++h) {
    const int end = columns_below(rows[h].end - first_column);
    const int begin = kWindow ? columns_below(rows[h].begin - first_column) : 0;
#pragma unroll
    for (int word = 0; word < (kScores / 2 + 31) / 32; ++word) {
      const uint32 visible = low_bits(end - 32 * word) & ~(kWindow ? low_bits(begin - 32 * word) : 0u);
#pragma unroll
      for (int bit = 0; bit < smaller(32, kScores / 2 - 32 * word); ++bit) {
        const int i = 32 * word + bit;
        if (!(visible & (1u << bit))) s[4 * (i / 2) + 2 * h + i % 2] = negative_infinity();
      }
    }
  }
}

__device__ __forceinline__ float quad_max(float x) {
  x = fmaxf(x, __shfl_xor_sync(0xFFFFFFFF, x, 1));
  return fmaxf(x, __shfl_xor_sync(0xFFFFFFFF, x, 2));
}

__device__ __forceinline__ float quad_sum(float x) {
  x += __shfl_xor_sync(0xFFFFFFFF, x, 1);
  return x + __shfl_xor_sync(0xFFFFFFFF, x, 2);
}

__device__ __forceinline__ float row_max(const float (&s)[kScores], int h) {
  float even = s[2 * h], odd = s[2 * h + 1];  // two chains: latency of the maximum is longer than its issue
#pragma unroll
  for (int b = 1; b < kScores / 4; ++b) {
    even = fmaxf(even, s[4 * b + 2 * h]);
    odd = fmaxf(odd, s[4 * b + 2 * h + 1]);
  }
  return quad_max(fmaxf(even, odd));
}

/// Turns scores into unnormalised probabilities and folds them into `state`. Returns in `alpha` what the
/// rows' earlier sums and outputs must be multiplied by; true when that is not 1 for some row of the warp.
///
/// 2^(s c - m c) takes one FFMA and one MUFU, but m c is rounded: beyond 2^16 the error could overflow, so
/// such rows (any warp that holds one) subtract first and are exact at the maximum.
__device__ __forceinline__ bool softmax_step(float (&s)[kScores], SoftmaxState& state, float (&alpha)[2],
                                             float scale_log2) {
  constexpr float kExactAbove = 65536.0f;
  float base[2];
#pragma unroll
  for (int h = 0; h < 2; ++h) {
    const float maximum = fmaxf(state.maximum[h], row_max(s, h));
    const float shift = maximum * scale_log2;
    const float previous = state.shift[h];
    if (kLazyRescale == 0.0f || shift - previous > kLazyRescale) {
      state.maximum[h] = maximum;
      state.shift[h] = shift;
    }
    base[h] = state.maximum[h] == negative_infinity()
                  ? 0.0f
                  : state.shift[h];  // a row that has seen nothing: 2^-inf
    alpha[h] = exp2_approx(previous - base[h]);
    if (kLazyRescale != 0.0f && previous == state.shift[h]) alpha[h] = 1.0f;
  }
  if (__any_sync(0xFFFFFFFF, fabsf(base[0]) > kExactAbove || fabsf(base[1]) > kExactAbove)) {
#pragma unroll
    for (int i = 0; i < kScores; ++i) {
      const int h = i / 2 % 2;
      s[i] -= base[h] == 0.0f ? 0.0f : state.maximum[h];
    }
    base[0] = base[1] = 0.0f;
  }
#pragma unroll
  for (int h = 0; h < 2; ++h) {
    float even = 0.0f, odd = 0.0f;
#pragma unroll
    for (int b = 0; b < kScores / 4; ++b) {
      float& p0 = s[4 * b + 2 * h];
      float& p1 = s[4 * b + 2 * h + 1];
      p0 = exp2_approx(__fmaf_rn(p0, scale_log2, -base[h]));
      p1 = exp2_approx(__fmaf_rn(p1, scale_log2, -base[h]));
      even += p0;
      odd += p1;
    }
    state.sum[h] = state.sum[h] * alpha[h] + (even + odd);
  }
  return kLazyRescale == 0.0f || __any_sync(0xFFFFFFFF, alpha[0] != 1.0f || alpha[1] != 1.0f);
}

/// Probabilities as the A operand of P V: the accumulators of two adjacent 8-column blocks, packed in pairs,
/// are one 64 x 16 fragment.
__device__ __forceinline__ void pack_probabilities(uint32 (&fragments)[kPvSteps][4],
                                                   const float (&s)[kScores]) {
#pragma unroll
  for (int step = 0; step < kPvSteps; ++step) {
#pragma unroll
    for (int i = 0; i < 4; ++i)
      fragments[step][i] = pack_2<Element>(s[8 * step + 2 * i], s[8 * step + 2 * i + 1]);
  }
}

__device__ __forceinline__ void rescale(float (&o)[kOutputs], const float (&alpha)[2]) {
#pragma unroll
  for (int i = 0; i < kOutputs; ++i) o[i] *= alpha[i / 2 % 2];
}

}  // namespace attnprof
