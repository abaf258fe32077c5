// The softmax between the two matrix products of materialising attention: scores in, probabilities out, both
// in HBM.
//
// Algorithm: safe softmax (Milakov & Gimelshein 2018, section 2) over the visible columns of each row; the
// row is read once and kept in registers, so HBM sees each score once and each probability once. Rows longer
// than kThreads * kVectors * 16 bytes do not fit and are read twice (kResident = false): first for maximum
// and sum together (algorithm 3, per thread), then for the probabilities.
//
// Masks: core/mask.hpp. Vectors without a visible column are not read; zeros are written for every column
// that is not visible, padding included.
//
// Shapes: scores, probabilities [rows, pitch] in fp32, fp16 or bf16, 16-byte accesses throughout; lse [rows].
//
// Precision: fp32 inside: p = 2^((s - m) log2(e)) / sum, subtracted before scaling, so any finite scores are
// fine.
//
// Schedule: kThreads threads a row (a warp, or a block), several 16-byte loads each in flight at once.
#include "baselines/naive/softmax_params.cuh"
#include "core/mask.hpp"
#include "kernels/device/ptx.cuh"

namespace attnprof {

struct Fp32 {};

/// 16 bytes of a row as floats, and back.
template <class Element>
struct Vector {
  static constexpr int kElements = 8;
  __device__ __forceinline__ static void unpack(const uint4& bits, float (&x)[kElements]) {
    unpack_2<Element>(bits.x, x[0], x[1]);
    unpack_2<Element>(bits.y, x[2], x[3]);
    unpack_2<Element>(bits.z, x[4], x[5]);
    unpack_2<Element>(bits.w, x[6], x[7]);
  }
  __device__ __forceinline__ static uint4 pack(const float (&x)[kElements]) {
    return {pack_2<Element>(x[0], x[1]), pack_2<Element>(x[2], x[3]), pack_2<Element>(x[4], x[5]),
            pack_2<Element>(x[6], x[7])};
  }
};

template <>
struct Vector<Fp32> {
  static constexpr int kElements = 4;
  __device__ __forceinline__ static void unpack(const uint4& bits, float (&x)[kElements]) {
    x[0] = __uint_as_float(bits.x), x[1] = __uint_as_float(bits.y);
    x[2] = __uint_as_float(bits.z), x[3] = __uint_as_float(bits.w);
  }
  __device__ __forceinline__ static uint4 pack(const float (&x)[kElements]) {
    return {__float_as_uint(x[0]), __float_as_uint(x[1]), __float_as_uint(x[2]), __float_as_uint(x[3])};
  }
};

template <class Config>
struct SoftmaxRow {
  using V = Vector<typename Config::Element>;
  static constexpr float kLog2E = 1.44269504088896f;
  static constexpr float kLn2 = 0.693147180559945f;

  const SoftmaxParams& params;
  const uint4* scores;
  uint4* probabilities;
  long long row;
  Keys<int> seen;  ///< columns
  int vectors;     ///< in a row, padding included
  int lane;        ///< of the threads that share the row

  __device__ __forceinline__ SoftmaxRow(const SoftmaxParams& p, long long r) : params(p), row(r) {
    const Mask<int> mask{params.seqlen_q, params.seqlen_kv, Config::kCausal, Config::kWindow, params.window};
    seen = attnprof::visible(mask, static_cast<int>(row % params.seqlen_q));
    vectors = params.pitch / V::kElements;
    scores = static_cast<const uint4*>(params.scores) + row * vectors;
    probabilities = static_cast<uint4*>(params.probabilities) + row * vectors;
    lane = threadIdx.x % Config::kThreads;
  }

  __device__ __forceinline__ bool visible(int vector) const {
    return (vector + 1) * V::kElements > seen.begin && vector * V::kElements < seen.end;
  }

  /// The elements of a loaded vector, -inf where they are not visible.
  __device__ __forceinline__ void unpack(const uint4& bits, int vector, float (&x)[V::kElements]) const {
    V::unpack(bits, x);
    const int first = vector * V::kElements;
    if (first >= seen.begin && first + V::kElements <= seen.end) return;
#pragma unroll
    for (int i = 0; i < V::kElements; ++i)
      if (first + i < seen.begin || first + i >= seen.end) x[i] = __uint_as_float(0xff800000u);
  }

  template <bool kMaximum>
  __device__ __forceinline__ static float combine(float a, float b) {
    return kMaximum ? fmaxf(a, b) : a + b;
  }

  /// Maximum or sum over the threads of the row; all of them get it.
  template <bool kMaximum>
  __device__ __forceinline__ float reduce(float x) const {
#pragma unroll
    for (int step = 16; step > 0; step /= 2) x = combine<kMaximum>(x, __shfl_xor_sync(0xffffffffu, x, step));
    if constexpr (Config::kThreads > 32) {
      constexpr int kWarps = Config::kThreads / 32;
      __shared__ float partial[kWarps];
      if (lane % 32 == 0) partial[lane / 32] = x;
      __syncthreads();
      x = partial[0];
#pragma unroll
      for (int w = 1; w < kWarps; ++w) x = combine<kMaximum>(x, partial[w]);
      __syncthreads();  // before the array is used again
    }
    return x;
  }

  __device__ __forceinline__ static float exponential(float x, float m) {
    return exp2_approx((x - m) * kLog2E);
  }

  __device__ __forceinline__ void store_lse(float m, float sum) const {
    if (lane == 0) params.lse[row] = seen.begin < seen.end ? m + logf(sum) : __uint_as_float(0xff800000u);
  }

  __device__ __forceinline__ void store_vector(const uint4& bits, int vector, float m, float inverse) const {
    if (!visible(vector)) {
      probabilities[vector] = uint4{0, 0, 0, 0};
      return;
    }
    float x[V::kElements];
    unpack(bits, vector, x);
#pragma unroll
    for (int i = 0; i < V::kElements; ++i) x[i] = exponential(x[i], m) * inverse;
    probabilities[vector] = V::pack(x);
  }

  /// The row stays in registers between its one read and its one write.
  __device__ __forceinline__ void run_resident() const {
    uint4 bits[Config::kVectors];
#pragma unroll
    for (int i = 0; i < Config::kVectors; ++i) {
      const int vector = i * Config::kThreads + lane;
      if (visible(vector)) bits[i] = scores[vector];  // columns end within the pitch, so the vector does too
    }
    float m = __uint_as_float(0xff800000u);
#pragma unroll
    for (int i = 0; i < Config::kVectors; ++i) {
      const int vector = i * Config::kThreads + lane;
      if (!visible(vector)) continue;
      float x[V::kElements];
      unpack(bits[i], vector, x);
#pragma unroll
      for (int e = 0; e < V::kElements; ++e) m = fmaxf(m, x[e]);
    }
    m = reduce<true>(m);
    float sum = 0.0f;
#pragma unroll
    for (int i = 0; i < Config::kVectors; ++i) {
      const int vector = i * Config::kThreads + lane;
      if (!visible(vector)) continue;
      float x[V::kElements];
      unpack(bits[i], vector, x);
#pragma unroll
      for (int e = 0; e < V::kElements; ++e) sum += exponential(x[e], m);
    }
    sum = reduce<false>(sum);
    store_lse(m, sum);
#pragma unroll
    for (int i = 0; i < Config::kVectors; ++i) {
      const int vector = i * Config::kThreads + lane;
      if (vector < vectors) store_vector(bits[i], vector, m, 1.0f / sum);
    }
  }

  /// A row of any length, read twice.
  __device__ __forceinline__ void run_streaming() const {
    float m = __uint_as_float(0xff800000u), sum = 0.0f;
    for (int vector = lane; vector < vectors; vector += Config::kThreads) {
      if (!visible(vector)) continue;
      float x[V::kElements];
      unpack(scores[vector], vector, x);
      float larger = m;
#pragma unroll
      for (int e = 0; e < V::kElements; ++e) larger = fmaxf(larger, x[e]);
      sum *= exponential(m, larger);
      m = larger;
#pragma unroll
      for (int e = 0; e < V::kElements; ++e) sum += exponential(x[e], m);
    }
    const float row_m = reduce<true>(m);
    const float row_sum = reduce<false>(sum == 0.0f ? 0.0f : sum * exponential(m, row_m));
    store_lse(row_m, row_sum);
    for (int vector = lane; vector < vectors; vector += Config::kThreads) {
      store_vector(visible(vector) ? scores[vector] : uint4{0, 0, 0, 0}, vector, row_m, 1.0f / row_sum);
    }
  }
};

/// What the host compiled this file for; every ATTNPROF_ macro comes from naive.cpp.
struct Config {
#if ATTNPROF_DTYPE_BITS == 32
  using Element = Fp32;
#elif ATTNPROF_BF16
  using Element = Bf16;
#else
  using Element = Fp16;
#endif
  static constexpr int kThreads = ATTNPROF_THREADS;  ///< that share a row
  static constexpr int kRowsPerBlock = ATTNPROF_ROWS_PER_BLOCK;
  static constexpr int kVectors = ATTNPROF_VECTORS;  ///< 16-byte vectors a thread keeps
  static constexpr bool kResident = ATTNPROF_RESIDENT;
  static constexpr bool kCausal = ATTNPROF_CAUSAL;
  static constexpr bool kWindow = ATTNPROF_WINDOW;
  static_assert(kThreads % 32 == 0 && kThreads >= 32 && kThreads <= 1024,
                "threads of a row: 32 to 1024, whole warps");
  static_assert(kThreads == 32 || kRowsPerBlock == 1, "several rows a block only with one warp a row");
  static_assert(kVectors >= 1 && kVectors <= 8, "vectors a thread: 1 to 8, more would not fit in registers");
};

}  // namespace attnprof

extern "C" __global__ void __launch_bounds__(attnprof::Config::kThreads* attnprof::Config::kRowsPerBlock)
    softmax_rows(const __grid_constant__ attnprof::SoftmaxParams params) {
  using attnprof::Config;
  const long long row =
      blockIdx.x * static_cast<long long>(Config::kRowsPerBlock) + threadIdx.x / Config::kThreads;
  if (row >= params.rows) return;  // whole warps: one row each where a block has several
  const attnprof::SoftmaxRow<Config> softmax(params, row);
  if constexpr (Config::kResident)
    softmax.run_resident();
  else
    softmax.run_streaming();
}
