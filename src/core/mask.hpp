// Which keys a query sees. Written once, for the host compiler and for NVRTC, so it includes nothing.
#pragma once

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

/// The key at the position of query i.
template <class Int>
constexpr Int diagonal(const Mask<Int>& m, Int i) {
  return i + m.seqlen_kv - m.seqlen_q;
}

/// First key that query i sees when a window hides earlier ones; may be negative, or beyond the last key.
template <class Int>
constexpr Int unclipped_begin(const Mask<Int>& m, Int i) {
  return diagonal(m, i) - m.window + 1;
}
/// One past the last key that query i sees when a mask hides later ones; may be negative, or beyond the end.
template <class Int>
constexpr Int unclipped_end(const Mask<Int>& m, Int i) {
  return diagonal(m, i) + (m.causal ? 1 : m.window);
}

template <class Int>
constexpr Int visible_begin(const Mask<Int>& m, Int i) {
  if (!m.windowed) return 0;
  const Int begin = unclipped_begin(m, i);
  return begin > 0 ? begin : 0;
}
template <class Int>
constexpr Int visible_end(const Mask<Int>& m, Int i) {
  if (!m.causal && !m.windowed) return m.seqlen_kv;
  const Int end = unclipped_end(m, i);
  return end < m.seqlen_kv ? end : m.seqlen_kv;
}

/// The keys that query i sees, empty when begin >= end. Both ends grow with i, and ranges of neighbouring
/// queries overlap or touch: what the queries first..last see together is
/// [visible_begin(first), visible_end(last)).
template <class Int>
constexpr Keys<Int> visible(const Mask<Int>& m, Int i) {
  return {visible_begin(m, i), visible_end(m, i)};
}

template <class Int>
constexpr bool sees(const Mask<Int>& m, Int i, Int key) {
  const Keys<Int> keys = visible(m, i);
  return key >= keys.begin && key < keys.end;
}

}  // namespace attnprof
