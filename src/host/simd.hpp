// The vector building blocks of the host implementations: exp2, conversion, packing, and the register-blocked
// product. Included once per instruction set, between Highway's foreach_target loop and the code that uses it
// (the include guard is toggled per target, as Highway asks of such files).
#include <hwy/highway.h>

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "core/fill.hpp"
#include "core/problem.hpp"

#if defined(ATTNPROF_KERNELS_SIMD_HOST_HPP_) == defined(HWY_TARGET_TOGGLE)
#ifdef ATTNPROF_KERNELS_SIMD_HOST_HPP_
#undef ATTNPROF_KERNELS_SIMD_HOST_HPP_
#else
#define ATTNPROF_KERNELS_SIMD_HOST_HPP_
#endif

HWY_BEFORE_NAMESPACE();
namespace attnprof {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using FloatTag = hn::ScalableTag<float>;
using FloatVec = hn::Vec<FloatTag>;

// The product kernel computes kRows x (2 vectors) of C in registers: 12 accumulators, 2 vectors of B and one
// broadcast of A fill the 16 registers of SSE and AVX2 (and cover latency x units = 8 to 10 accumulators);
// AVX-512 and NEON have 32.
#if HWY_TARGET <= HWY_AVX3 || HWY_ARCH_ARM_A64
constexpr int kRows = 12;
#else
constexpr int kRows = 6;
#endif

/// Columns of one packed panel: two vectors.
inline int64_t panel_width() {
  return 2 * static_cast<int64_t>(hn::Lanes(FloatTag()));
}

inline int64_t round_up(int64_t value, int64_t multiple) {
  return (value + multiple - 1) / multiple * multiple;
}

/// 2^x for x <= 127 (softmax needs x <= 0 only). Relative error below 1.2e-7, exact at integers; 0 below
/// -126, where the result would be subnormal, and for -inf; NaN stays NaN. x = n + f with n integer and |f|
/// <= 1/2: a polynomial of degree 6 (minimax for relative error with p(0) = 1, by Remez exchange: 2.6e-9
/// before rounding) gives 2^f, and adding n to the exponent field the rest.
inline FloatVec exp2_vec(FloatVec x) {
  const FloatTag d;
  const hn::RebindToSigned<FloatTag> di;
  const auto magic =
      hn::Set(d, 12582912.0f);  // 1.5 * 2^23: adding it rounds to an integer, kept in the low bits
  const auto shifted = hn::Add(x, magic);
  const auto f = hn::Sub(x, hn::Sub(shifted, magic));
  auto p = hn::Set(d, 1.55946775e-4f);
  p = hn::MulAdd(p, f, hn::Set(d, 1.34066439e-3f));
  p = hn::MulAdd(p, f, hn::Set(d, 9.61769293e-3f));
  p = hn::MulAdd(p, f, hn::Set(d, 5.55031055e-2f));
  p = hn::MulAdd(p, f, hn::Set(d, 2.40226528e-1f));
  p = hn::MulAdd(p, f, hn::Set(d, 6.93147215e-1f));
  p = hn::MulAdd(p, f, hn::Set(d, 1.0f));
  const auto scaled = hn::Add(hn::BitCast(di, p), hn::ShiftLeft<23>(hn::BitCast(di, shifted)));
  // "Is below", not "is not at least": a NaN must come through.
  return hn::IfThenZeroElse(hn::Lt(x, hn::Set(d, -126.0f)), hn::BitCast(d, scaled));
}

inline float exp2_scalar(float x) {
  return hn::GetLane(exp2_vec(hn::Set(FloatTag(), x)));
}

// ---- conversion
// -------------------------------------------------------------------------------------------------------

/// Loads Lanes(d) elements stored as `T` at `p` (no alignment needed) as fp32.
template <DType T, class D>
hn::Vec<D> load_as_float(D d, const void* array, int64_t at) {
  if constexpr (T == DType::fp32) {
    return hn::LoadU(d, static_cast<const float*>(array) + at);
  } else if constexpr (T == DType::bf16) {
    const hn::Rebind<uint16_t, D> d16;
    const hn::Rebind<uint32_t, D> d32;
    const auto bits = hn::LoadU(d16, static_cast<const uint16_t*>(array) + at);
    return hn::BitCast(d, hn::ShiftLeft<16>(hn::PromoteTo(d32, bits)));
  } else {
    const hn::Rebind<hwy::float16_t, D> d16;
    return hn::PromoteTo(d, hn::LoadU(d16, static_cast<const hwy::float16_t*>(array) + at));
  }
}

/// Stores Lanes(d) values as `T`, rounded to nearest even; NaN stays NaN.
template <DType T, class D>
void store_from_float(D d, hn::Vec<D> v, void* array, int64_t at) {
  if constexpr (T == DType::fp32) {
    hn::StoreU(v, d, static_cast<float*>(array) + at);
  } else if constexpr (T == DType::bf16) {
    const hn::Rebind<uint16_t, D> d16;
    const hn::RebindToUnsigned<D> d32;
    const hn::RebindToSigned<D> di32;
    const auto bits = hn::BitCast(d32, v);
    const auto odd = hn::And(hn::ShiftRight<16>(bits), hn::Set(d32, 1));
    const auto rounded = hn::Add(bits, hn::Add(odd, hn::Set(d32, 0x7fff)));
    const auto nan = hn::Or(bits, hn::Set(d32, 0x400000));  // quiet; rounding could carry it into infinity
    const auto chosen = hn::IfThenElse(hn::RebindMask(d32, hn::IsNaN(v)), nan, rounded);
    hn::StoreU(hn::DemoteTo(d16, hn::BitCast(di32, hn::ShiftRight<16>(chosen))), d16,
               static_cast<uint16_t*>(array) + at);
  } else {
#if HWY_TARGET <= HWY_AVX2 || HWY_ARCH_ARM_A64
    const hn::Rebind<hwy::float16_t, D> d16;
    hn::StoreU(hn::DemoteTo(d16, v), d16, static_cast<hwy::float16_t*>(array) + at);
#else
    // Without the instruction Highway truncates; convert one by one.
    HWY_ALIGN float lanes[hn::MaxLanes(d)];
    hn::Store(v, d, lanes);
    for (size_t i = 0; i < hn::Lanes(d); ++i)
      store_element(array, DType::fp16, at + static_cast<int64_t>(i), lanes[i]);
#endif
  }
}

/// dst[i] = factor * src[at + i], i < count.
template <DType T>
void load_row(const void* src, int64_t at, int64_t count, float factor, float* HWY_RESTRICT dst) {
  const FloatTag d;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  const auto scale = hn::Set(d, factor);
  int64_t i = 0;
  for (; i + lanes <= count; i += lanes)
    hn::StoreU(hn::Mul(load_as_float<T>(d, src, at + i), scale), d, dst + i);
  for (; i < count; ++i) dst[i] = load_element(src, T, at + i) * factor;
}

/// dst[at + i] = src[i], i < count.
template <DType T>
void store_row(const float* HWY_RESTRICT src, int64_t count, void* dst, int64_t at) {
  const FloatTag d;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  int64_t i = 0;
  for (; i + lanes <= count; i += lanes) store_from_float<T>(d, hn::LoadU(d, src + i), dst, at + i);
  for (; i < count; ++i) store_element(dst, T, at + i, src[i]);
}

// ---- packing: fp32 panels [panel][k][panel_width()], zero beyond the last column
// ----------------------------------------

#if HWY_TARGET != HWY_SCALAR
/// panel[(k + i) * width + r] = rows[r][k + i] for r, i < 4: four rows at a time, transposed in registers.
template <DType T>
void transpose_4x4(const void* src, int64_t at, int64_t stride, float* HWY_RESTRICT panel, int64_t width) {
  const hn::Full128<float> d;
  const hn::Full128<uint64_t> d64;
  const auto r0 = load_as_float<T>(d, src, at);
  const auto r1 = load_as_float<T>(d, src, at + stride);
  const auto r2 = load_as_float<T>(d, src, at + 2 * stride);
  const auto r3 = load_as_float<T>(d, src, at + 3 * stride);
  const auto low01 = hn::BitCast(d64, hn::InterleaveLower(d, r0, r1));   // 00 10 01 11
  const auto high01 = hn::BitCast(d64, hn::InterleaveUpper(d, r0, r1));  // 02 12 03 13
  const auto low23 = hn::BitCast(d64, hn::InterleaveLower(d, r2, r3));
  const auto high23 = hn::BitCast(d64, hn::InterleaveUpper(d, r2, r3));
  hn::StoreU(hn::BitCast(d, hn::InterleaveLower(d64, low01, low23)), d, panel);
  hn::StoreU(hn::BitCast(d, hn::InterleaveUpper(d64, low01, low23)), d, panel + width);
  hn::StoreU(hn::BitCast(d, hn::InterleaveLower(d64, high01, high23)), d, panel + 2 * width);
  hn::StoreU(hn::BitCast(d, hn::InterleaveUpper(d64, high01, high23)), d, panel + 3 * width);
}
#endif

/// Packs the transpose of `rows` rows of `depth` elements each, starting at element `at`: B[k][n] =
/// src[n][k].
template <DType T>
void pack_transposed(const void* src, int64_t at, int64_t rows, int64_t depth, float* HWY_RESTRICT panels) {
  const int64_t width = panel_width();
  for (int64_t n0 = 0; n0 < rows; n0 += width, panels += depth * width) {
    int64_t n = 0;
    const int64_t count = std::min(width, rows - n0);
#if HWY_TARGET != HWY_SCALAR
    for (; n + 4 <= count; n += 4) {
      const int64_t row_at = at + (n0 + n) * depth;
      int64_t k = 0;
      for (; k + 4 <= depth; k += 4) transpose_4x4<T>(src, row_at + k, depth, panels + k * width + n, width);
      for (; k < depth; ++k) {
        for (int64_t r = 0; r < 4; ++r)
          panels[k * width + n + r] = load_element(src, T, row_at + r * depth + k);
      }
    }
#endif
    for (; n < count; ++n) {
      for (int64_t k = 0; k < depth; ++k)
        panels[k * width + n] = load_element(src, T, at + (n0 + n) * depth + k);
    }
    for (; n < width; ++n) {
      for (int64_t k = 0; k < depth; ++k) panels[k * width + n] = 0.0f;
    }
  }
}

/// Packs `rows` rows of `columns` elements each as they stand: B[k][n] = src[k][n].
template <DType T>
void pack_rows(const void* src, int64_t at, int64_t rows, int64_t columns, float* HWY_RESTRICT panels) {
  const int64_t width = panel_width();
  for (int64_t n0 = 0; n0 < columns; n0 += width, panels += rows * width) {
    const int64_t count = std::min(width, columns - n0);
    for (int64_t k = 0; k < rows; ++k) {
      load_row<T>(src, at + k * columns + n0, count, 1.0f, panels + k * width);
      for (int64_t n = count; n < width; ++n) panels[k * width + n] = 0.0f;
    }
  }
}

/// Whether none of `count` floats is NaN or infinite. `count` is a multiple of the lanes.
inline bool all_finite(const float* values, int64_t count) {
  const FloatTag d;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  // 0 times anything finite is 0, times anything else NaN. Four sums: one would wait for each addition.
  FloatVec sum0 = hn::Zero(d), sum1 = sum0, sum2 = sum0, sum3 = sum0;
  const auto add = [&](FloatVec sum, int64_t at) {
    return hn::MulAdd(hn::LoadU(d, values + at), hn::Zero(d), sum);
  };
  int64_t i = 0;
  for (; i + 4 * lanes <= count; i += 4 * lanes) {
    sum0 = add(sum0, i);
    sum1 = add(sum1, i + lanes);
    sum2 = add(sum2, i + 2 * lanes);
    sum3 = add(sum3, i + 3 * lanes);
  }
  for (; i < count; i += lanes) sum0 = add(sum0, i);
  return hn::GetLane(hn::SumOfLanes(d, hn::Add(hn::Add(sum0, sum1), hn::Add(sum2, sum3)))) == 0.0f;
}

// ---- product
// ------------------------------------------------------------------------------------------------------------

/// One block of C: R rows x V vectors. C = A B, or with `keep`, C[r] = keep[r] * C[r] + A B. A is row-major
/// (stride lda), B one packed panel of `depth` rows, C row-major (stride ldc).
template <int R, int V>
HWY_INLINE void product_block(const float* HWY_RESTRICT a, int64_t lda, const float* HWY_RESTRICT b,
                              int64_t depth, float* HWY_RESTRICT c, int64_t ldc, const float* keep) {
  const FloatTag d;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  FloatVec sum[R][V];
  for (int r = 0; r < R; ++r) {
    for (int v = 0; v < V; ++v) {
      sum[r][v] = hn::Zero(d);
    }
  }
  for (int64_t k = 0; k < depth; ++k) {
    FloatVec row[V];
    for (int v = 0; v < V; ++v) row[v] = hn::LoadU(d, b + v * lanes);
    b += 2 * lanes;
    for (int r = 0; r < R; ++r) {
      const auto factor = hn::Set(d, a[r * lda + k]);
      for (int v = 0; v < V; ++v) sum[r][v] = hn::MulAdd(factor, row[v], sum[r][v]);
    }
  }
  for (int r = 0; r < R; ++r) {
    for (int v = 0; v < V; ++v) {
      float* const out = c + r * ldc + v * lanes;
      // What was there is added last: sums of one tile each, then their sum, lose less than one long chain.
      if (keep) sum[r][v] = hn::MulAdd(hn::Set(d, keep[r]), hn::LoadU(d, out), sum[r][v]);
      hn::StoreU(sum[r][v], d, out);
    }
  }
}

/// product_block for a number of rows known only at run time, 1 <= rows <= R.
template <int R, int V>
HWY_INLINE void product_rows(int64_t rows, const float* a, int64_t lda, const float* b, int64_t depth,
                             float* c, int64_t ldc, const float* keep) {
  if constexpr (R == 1) {
    product_block<1, V>(a, lda, b, depth, c, ldc, keep);
  } else {
    if (rows == R) {
      product_block<R, V>(a, lda, b, depth, c, ldc, keep);
    } else {
      product_rows<R - 1, V>(rows, a, lda, b, depth, c, ldc, keep);
    }
  }
}

/// C (rows x columns) = A B, or keep * C + A B, B packed in panels of `panel_depth` rows each, of which
/// `depth` rows starting at `b` are used. Writes whole vectors: ldc must leave room up to the next multiple
/// of panel_width().
inline void product(int64_t rows, int64_t columns, int64_t depth, const float* a, int64_t lda, const float* b,
                    int64_t panel_depth, float* c, int64_t ldc, const float* keep) {
  const int64_t width = panel_width();
  for (int64_t n = 0; n < columns; n += width) {
    const float* const panel = b + n * panel_depth;
    const bool narrow = columns - n <= width / 2;
    for (int64_t r = 0; r < rows; r += kRows) {
      const int64_t count = std::min<int64_t>(kRows, rows - r);
      const float* const block_keep = keep ? keep + r : nullptr;
      if (narrow) {
        product_rows<kRows, 1>(count, a + r * lda, lda, panel, depth, c + r * ldc + n, ldc, block_keep);
      } else {
        product_rows<kRows, 2>(count, a + r * lda, lda, panel, depth, c + r * ldc + n, ldc, block_keep);
      }
    }
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace attnprof
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
