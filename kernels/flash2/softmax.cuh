// The online softmax of one warp's rows, in the registers that mma.sync leaves the scores in.
#pragma once

#include "kernels/device/ptx.cuh"

namespace attnprof {

__device__ __forceinline__ float negative_infinity() {
  return __uint_as_float(0xff800000u);
}

/// Running state of kRowBlocks * 2 rows per thread: of block b, row g = lane / 4 is [2b], row g + 8 is [2b +
/// 1]. The four lanes of a quad share a row; `sum` is this lane's part and is reduced only once, at the end.
///
/// Probabilities are p = 2^(s c - m c) with c = scale log2(e): one FFMA and one MUFU each. `m` need not be
/// the maximum, only close to it, since whatever it is cancels between the products and the sum. So it moves
/// only when a row outgrows it by a factor 2^kSlack, which after the first tiles is rare, and then costs the
/// multiplication of the accumulators (Milakov & Gimelshein 2018, algorithm 3, made lazy). p <= 2^kSlack =
/// 256 is far from the end of fp16.
template <int kRowBlocks>
struct OnlineSoftmax {
  static constexpr int kRows = 2 * kRowBlocks;
  static constexpr float kSlack = 8.0f;
  /// Above this |m c|, s c and m c are rounded apart too coarsely to be subtracted inside an FFMA: at 1.4e11
  /// the two differ by up to 8192 where s = m, so 2^(...) would be infinite or zero. Below it by at most
  /// 2^-13.
  static constexpr float kHuge = 4096.0f;

  float m[kRows];
  float sum[kRows];

  __device__ __forceinline__ void reset() {
#pragma unroll
    for (int r = 0; r < kRows; ++r) {
      m[r] = negative_infinity();
      sum[r] = 0.0f;
    }
  }

  /// Largest score of each row in this warp's part of the tile.
  template <int kScoreBlocks>
  __device__ __forceinline__ static void find_largest(float (&largest)[kRows],
                                                      const float (&scores)[kRowBlocks][kScoreBlocks][4]) {
#pragma unroll
    for (int r = 0; r < kRows; ++r) {
      largest[r] = negative_infinity();
#pragma unroll
      for (int n = 0; n < kScoreBlocks; ++n) {
        const float(&s)[4] = scores[r / 2][n];
        largest[r] = fmaxf(largest[r], fmaxf(s[r % 2 * 2], s[r % 2 * 2 + 1]));
      }
      largest[r] = fmaxf(largest[r], __shfl_xor_sync(0xffffffffu, largest[r], 2));
      largest[r] = fmaxf(largest[r], __shfl_xor_sync(0xffffffffu, largest[r], 1));
    }
  }

  /// Takes a tile's largest scores into `m`; rescales `sum` and `output` where it moved. All lanes of the
  /// warp together.
  template <int kOutputBlocks>
  __device__ __forceinline__ void raise_maximum(float (&largest)[kRows],
                                                float (&output)[kRowBlocks][kOutputBlocks][4], float c) {
    bool outgrown = false;
#pragma unroll
    for (int r = 0; r < kRows; ++r) {
      largest[r] = fmaxf(largest[r], m[r]);
      outgrown |= (largest[r] - m[r]) * c > kSlack;  // first tile: infinite; no key seen yet: NaN, false
    }
    if (!__any_sync(0xffffffffu, outgrown)) return;
#pragma unroll
    for (int r = 0; r < kRows; ++r) {
      const float factor = largest[r] == negative_infinity() ? 1.0f : exp2_approx((m[r] - largest[r]) * c);
      m[r] = largest[r];
      sum[r] *= factor;
#pragma unroll
      for (int n = 0; n < kOutputBlocks; ++n) {
        output[r / 2][n][r % 2 * 2] *= factor;
        output[r / 2][n][r % 2 * 2 + 1] *= factor;
      }
    }
  }

  /// The subtrahends m c of the exponents. `kMayBeEmpty`: rows may have seen no key so far (scores all -inf).
  template <bool kMayBeEmpty, int kScoreBlocks>
  __device__ __forceinline__ void exponent_offsets(float (&offset)[kRows],
                                                   float (&scores)[kRowBlocks][kScoreBlocks][4],
                                                   float c) const {
    bool huge = false;
#pragma unroll
    for (int r = 0; r < kRows; ++r) {
      offset[r] = kMayBeEmpty && m[r] == negative_infinity() ? 0.0f : m[r] * c;
      huge |= fabsf(offset[r]) > kHuge;
    }
    if (!__any_sync(0xffffffffu, huge)) return;
#pragma unroll
    for (int r = 0; r < kRows; ++r) {  // subtract before scaling: exact for scores near m
      if (fabsf(offset[r]) <= kHuge) continue;
      offset[r] = 0.0f;
#pragma unroll
      for (int n = 0; n < kScoreBlocks; ++n) {
        scores[r / 2][n][r % 2 * 2] -= m[r];
        scores[r / 2][n][r % 2 * 2 + 1] -= m[r];
      }
    }
  }

  /// Probabilities of 16 keys (score blocks 2k and 2k + 1) as A fragments of the second product: accumulator
  /// fragments, packed pairwise, are exactly that. Adds them to `sum` unrounded.
  template <class Element, int kScoreBlocks>
  __device__ __forceinline__ void exponentiate(unsigned (&p)[kRowBlocks][4],
                                               const float (&scores)[kRowBlocks][kScoreBlocks][4], int k,
                                               const float (&offset)[kRows], float c) {
#pragma unroll
    for (int b = 0; b < kRowBlocks; ++b) {
#pragma unroll
      for (int i = 0; i < 4;
           ++i) {  // i: row g or g + 8 in the low bit, left or right eight keys in the high one
        const int r = 2 * b + i % 2;
        const float(&s)[4] = scores[b][2 * k + i / 2];
        const float p0 = exp2_approx(fmaf(s[i % 2 * 2], c, -offset[r]));
        const float p1 = exp2_approx(fmaf(s[i % 2 * 2 + 1], c, -offset[r]));
        sum[r] += p0 + p1;
        p[b][i] = pack_2<Element>(p0, p1);
      }
    }
  }

  /// Completes this warp's sums over the quad.
  __device__ __forceinline__ void reduce_sums() {
#pragma unroll
    for (int r = 0; r < kRows; ++r) {
      sum[r] += __shfl_xor_sync(0xffffffffu, sum[r], 2);
      sum[r] += __shfl_xor_sync(0xffffffffu, sum[r], 1);
    }
  }

  /// Row r's output times `factor[r]` is the result, and `lse[r]` its log-sum-exp (natural); a row that saw
  /// no key gets 0 and -inf.
  __device__ __forceinline__ void finish(float (&factor)[kRows], float (&lse)[kRows], float c) const {
    constexpr float kLn2 = 0.693147180559945f;
#pragma unroll
    for (int r = 0; r < kRows; ++r) {
      const bool empty = sum[r] == 0.0f;
      factor[r] = empty ? 0.0f : 1.0f / sum[r];
      lse[r] = empty ? negative_infinity() : m[r] * (c * kLn2) + logf(sum[r]);
    }
  }
};

}  // namespace attnprof
