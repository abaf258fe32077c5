// Which keys a query sees. Written once, for the host compiler and for NVRTC, so it includes nothing.
#pragma once

#ifdef __CUDACC__
#define ATTNPROF_HOST_DEVICE __host__ __device__ __forceinline__
#else
#define ATTNPROF_HOST_DEVICE inline
#endif

namespace attnprof {

/// Lengths and masks. `Int` is 64 bits wide on the host; device code, which is not given longer sequences,
/// uses int. A kernel that is compiled for its masks passes constants for the two flags, and pays for no
/// other.
template <class Int>
struct Mask {
  Int seqlen_q = 0;
  Int seqlen_kv = 0;
  bool causal = false;    ///< bottom-right aligned: query i sees keys j <= i + seqlen_kv - seqlen_q
  bool windowed = false;  ///< |i + seqlen_kv - seqlen_q - j| < window
  Int window = 0;         ///< at most seqlen_q + seqlen_kv, which no distance reaches
};

/// Half-open range of keys.
template <class Int>
struct Keys {
  Int begin = 0;
  Int end = 0;
};

/// The key at the position of query 0. Query i stands i keys further on.
template <class Int>
ATTNPROF_HOST_DEVICE constexpr Int first_diagonal(const Mask<Int>& m) {
  return m.seqlen_kv - m.seqlen_q;
}

/// First key that query i sees; may be negative, or beyond the last key.
template <class Int>
ATTNPROF_HOST_DEVICE constexpr Int unclipped_begin(const Mask<Int>& m, Int i) {
  return i + first_diagonal(m) - m.window + 1;
}
/// One past the last key that query i sees, when a mask hides later ones; may be negative, or beyond the end.
template <class Int>
ATTNPROF_HOST_DEVICE constexpr Int unclipped_end(const Mask<Int>& m, Int i) {
  return i + first_diagonal(m) + (m.causal ? 1 : m.window);
}

/// The keys that query i sees, empty when begin >= end. Both ends grow with i, and ranges of neighbouring
/// queries overlap or touch: what the queries first..last see together is
/// [visible(first).begin, visible(last).end).
template <class Int>
ATTNPROF_HOST_DEVICE constexpr Keys<Int> visible(const Mask<Int>& m, Int i) {
  Keys<Int> keys{0, m.seqlen_kv};
  if (m.causal || m.windowed) {
    const Int end = unclipped_end(m, i);
    keys.end = end < keys.end ? end : keys.end;
  }
  if (m.windowed) {
    const Int begin = unclipped_begin(m, i);
    keys.begin = begin > 0 ? begin : 0;
  }
  return keys;
}

template <class Int>
ATTNPROF_HOST_DEVICE constexpr bool sees(const Mask<Int>& m, Int i, Int key) {
  const Keys<Int> keys = visible(m, i);
  return key >= keys.begin && key < keys.end;
}

}  // namespace attnprof
