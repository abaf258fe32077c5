// The passes of the naive host baseline. Compiled once per instruction set by Highway, which picks one at run
// time.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "baselines/naive_host/passes.cpp"
#include <hwy/foreach_target.h>
// must come after foreach_target.h
#include <hwy/highway.h>

#include <algorithm>
#include <limits>
#include <numbers>

#include "baselines/naive_host/passes.hpp"
#include "host/simd.hpp"

HWY_BEFORE_NAMESPACE();
namespace attnprof {
namespace HWY_NAMESPACE {

/// Rows whose scores are in flight between the product and memory; a multiple of the product kernel's rows.
constexpr int64_t kGroup = 24;

/// Pieces of the scratch of one thread, each padded to whole panels. The softmax pass uses it as one row of
/// scores.
struct Scratch {
  Scratch(const Problem& p, float* base) : d_stride(round_up(p.head_dim, panel_width())) {
    panels = base;
    rows = panels + kNaiveBlockKeys * d_stride;
    group = rows + kNaiveBlockRows * d_stride;
    ones = group + kGroup * kNaiveBlockKeys;
  }
  int64_t d_stride;
  float* panels;  ///< packed K or V: kNaiveBlockKeys keys
  float* rows;    ///< Q (first pass) or the accumulated O (last pass): [kNaiveBlockRows][d_stride]
  float* group;   ///< S or P on their way: [kGroup][kNaiveBlockKeys]
  float* ones;    ///< [kGroup]
};

struct Block {
  Block(const NaiveLaunch& launch, int64_t head_index, int64_t block)
      : head(head_index),
        kv_head(kv_head_of(launch.problem, head)),
        first_row(block * launch.block_rows),
        rows(std::min(launch.block_rows, launch.problem.seqlen_q - first_row)) {}
  int64_t head, kv_head, first_row, rows;
  /// K and V of a head are charged when its first block of rows packs them; the blocks after it find them on
  /// chip. That errs in favour of the baseline, like a library product with ideal blocking.
  bool charges_keys() const { return first_row == 0; }
};

template <DType T>
void scores(const NaiveLaunch& launch, const Block& b, const Scratch& scratch, Traffic& traffic) {
  const Problem& p = launch.problem;
  const int64_t d = p.head_dim;
  // Scaled before it is rounded to the dtype, as a product with a factor does: 65536 / 8 fits fp16, 65536
  // does not.
  load_row<T>(launch.tensors.at("q"), (b.head * p.seqlen_q + b.first_row) * d, b.rows * d,
              static_cast<float>(softmax_scale(p)), scratch.rows);
  traffic.read_bytes += b.rows * d * dtype_bytes(T);
  for (int64_t key = 0; key < p.seqlen_kv; key += kNaiveBlockKeys) {
    const int64_t keys = std::min(kNaiveBlockKeys, p.seqlen_kv - key);
    pack_transposed<T>(launch.tensors.at("k"), (b.kv_head * p.seqlen_kv + key) * d, keys, d, scratch.panels);
    if (b.charges_keys()) traffic.read_bytes += keys * d * dtype_bytes(T);
    for (int64_t row = 0; row < b.rows; row += kGroup) {
      const int64_t count = std::min(kGroup, b.rows - row);
      product(count, keys, d, scratch.rows + row * d, d, scratch.panels, d, scratch.group, kNaiveBlockKeys,
              nullptr);
      for (int64_t r = 0; r < count; ++r) {
        const int64_t at = (b.head * p.seqlen_q + b.first_row + row + r) * p.seqlen_kv + key;
        store_row<T>(scratch.group + r * kNaiveBlockKeys, keys, launch.s, at);
      }
      traffic.write_bytes += count * keys * dtype_bytes(T);
    }
  }
}

/// P[row] = softmax over the visible keys, 0 elsewhere; all 0 for a row that sees none.
template <DType T>
void softmax_row(const NaiveLaunch& launch, int64_t head, int64_t row, float* HWY_RESTRICT s,
                 Traffic& traffic) {
  const FloatTag d;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  const Problem& p = launch.problem;
  const int64_t at = (head * p.seqlen_q + row) * p.seqlen_kv;
  const KeyRange seen = visible_keys(p, row);
  const int64_t count = seen.size();
  const int64_t padded = round_up(count, lanes);
  load_row<T>(launch.s, at + seen.begin, count, 1.0f, s);
  traffic.read_bytes += count * dtype_bytes(T);
  std::fill(s + count, s + padded, -std::numeric_limits<float>::infinity());
  auto max = hn::Set(d, -std::numeric_limits<float>::infinity());
  for (int64_t j = 0; j < padded; j += lanes) max = hn::Max(max, hn::Load(d, s + j));
  max = hn::MaxOfLanes(d, max);
  const auto log2e = hn::Set(d, std::numbers::log2e_v<float>);
  auto sum = hn::Zero(d);
  for (int64_t j = 0; j < padded; j += lanes) {
    const auto e = exp2_vec(hn::Mul(hn::Sub(hn::Load(d, s + j), max), log2e));
    hn::Store(e, d, s + j);
    sum = hn::Add(sum, e);
  }
  const auto inverse = hn::Div(hn::Set(d, 1.0f), hn::SumOfLanes(d, sum));
  for (int64_t j = 0; j < padded; j += lanes) hn::Store(hn::Mul(hn::Load(d, s + j), inverse), d, s + j);
  char* const out = static_cast<char*>(launch.p) + at * dtype_bytes(T);
  std::memset(out, 0, static_cast<size_t>(seen.begin * dtype_bytes(T)));
  store_row<T>(s, count, launch.p, at + seen.begin);
  std::memset(out + seen.end * dtype_bytes(T), 0,
              static_cast<size_t>((p.seqlen_kv - seen.end) * dtype_bytes(T)));
  traffic.write_bytes += p.seqlen_kv * dtype_bytes(T);
}

/// Whether every row of the block sees every one of the keys. Both ends of the visible range grow with the
/// row.
bool sees_all(const Problem& p, const Block& b, int64_t key, int64_t keys) {
  const KeyRange first = visible_keys(p, b.first_row), last = visible_keys(p, b.first_row + b.rows - 1);
  return first.size() > 0 && first.end >= key + keys && last.begin <= key;
}

/// O[row] += P V over those of the keys that the row sees: the zeros of P for the others times NaN would be
/// NaN, and what is masked must not get there.
void add_visible(const Problem& p, const Block& b, const Scratch& scratch, int64_t row, int64_t group_row,
                 int64_t key, int64_t keys) {
  const KeyRange seen = visible_keys(p, b.first_row + row);
  const int64_t lo = std::clamp<int64_t>(seen.begin - key, 0, keys);
  const int64_t hi = std::clamp<int64_t>(seen.end - key, lo, keys);
  product(1, p.head_dim, hi - lo, scratch.group + group_row * kNaiveBlockKeys + lo, kNaiveBlockKeys,
          scratch.panels + lo * panel_width(), keys, scratch.rows + row * scratch.d_stride, scratch.d_stride,
          scratch.ones);
}

/// Rows of O = P V in scratch.rows. `careful`: masked values stay out of it.
template <DType T>
void multiply(const NaiveLaunch& launch, const Block& b, const Scratch& scratch, bool careful,
              Traffic& traffic) {
  const Problem& p = launch.problem;
  const int64_t d = p.head_dim;
  std::fill_n(scratch.ones, kGroup, 1.0f);
  std::fill_n(scratch.rows, b.rows * scratch.d_stride, 0.0f);
  for (int64_t key = 0; key < p.seqlen_kv; key += kNaiveBlockKeys) {
    const int64_t keys = std::min(kNaiveBlockKeys, p.seqlen_kv - key);
    pack_rows<T>(launch.tensors.at("v"), (b.kv_head * p.seqlen_kv + key) * d, keys, d, scratch.panels);
    if (b.charges_keys()) traffic.read_bytes += keys * d * dtype_bytes(T);
    for (int64_t row = 0; row < b.rows; row += kGroup) {
      const int64_t count = std::min(kGroup, b.rows - row);
      for (int64_t r = 0; r < count; ++r) {
        const int64_t at = (b.head * p.seqlen_q + b.first_row + row + r) * p.seqlen_kv + key;
        load_row<T>(launch.p, at, keys, 1.0f, scratch.group + r * kNaiveBlockKeys);
      }
      traffic.read_bytes += count * keys * dtype_bytes(T);
      if (careful && !sees_all(p, b, key, keys)) {
        for (int64_t r = 0; r < count; ++r) add_visible(p, b, scratch, row + r, r, key, keys);
        continue;
      }
      product(count, d, keys, scratch.group, kNaiveBlockKeys, scratch.panels, keys,
              scratch.rows + row * scratch.d_stride, scratch.d_stride, scratch.ones);
    }
  }
}

/// Values are rarely NaN or infinite, so only a result that is not finite is computed again, with care; its
/// bytes are counted once.
template <DType T>
void output(const NaiveLaunch& launch, const Block& b, const Scratch& scratch, Traffic& traffic) {
  const Problem& p = launch.problem;
  const int64_t d = p.head_dim;
  multiply<T>(launch, b, scratch, false, traffic);
  if (!all_finite(scratch.rows, b.rows * scratch.d_stride)) {
    Traffic again;
    multiply<T>(launch, b, scratch, true, again);
  }
  for (int64_t row = 0; row < b.rows; ++row) {
    store_row<T>(scratch.rows + row * scratch.d_stride, d, launch.tensors.at("o"),
                 (b.head * p.seqlen_q + b.first_row + row) * d);
  }
  traffic.write_bytes += b.rows * d * dtype_bytes(T);
}

/// Calls body.operator()<T>() for the dtype at hand.
template <class Body>
void with_dtype(DType dtype, Body body) {
  switch (dtype) {
    case DType::fp32:
      return body.template operator()<DType::fp32>();
    case DType::bf16:
      return body.template operator()<DType::bf16>();
    case DType::fp16:
      return body.template operator()<DType::fp16>();
  }
}

void scores_block(const NaiveLaunch& launch, int64_t head, int64_t block, float* scratch, Traffic& traffic) {
  with_dtype(launch.problem.dtype, [&]<DType T>() {
    scores<T>(launch, Block(launch, head, block), Scratch(launch.problem, scratch), traffic);
  });
}

void softmax_block(const NaiveLaunch& launch, int64_t head, int64_t block, float* scratch, Traffic& traffic) {
  const int64_t begin = block * kNaiveSoftmaxRows;
  const int64_t end = std::min(begin + kNaiveSoftmaxRows, launch.problem.seqlen_q);
  with_dtype(launch.problem.dtype, [&]<DType T>() {
    for (int64_t row = begin; row < end; ++row) softmax_row<T>(launch, head, row, scratch, traffic);
  });
}

void output_block(const NaiveLaunch& launch, int64_t head, int64_t block, float* scratch, Traffic& traffic) {
  with_dtype(launch.problem.dtype, [&]<DType T>() {
    output<T>(launch, Block(launch, head, block), Scratch(launch.problem, scratch), traffic);
  });
}

int64_t scratch_floats(const Problem& p) {
  const Scratch scratch(p, nullptr);
  const int64_t products =
      (kNaiveBlockKeys + kNaiveBlockRows) * scratch.d_stride + kGroup * kNaiveBlockKeys + kGroup;
  return round_up(std::max(products, round_up(p.seqlen_kv, panel_width())), 64);
}

}  // namespace HWY_NAMESPACE
}  // namespace attnprof
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace attnprof {

HWY_EXPORT(scratch_floats);
HWY_EXPORT(scores_block);
HWY_EXPORT(softmax_block);
HWY_EXPORT(output_block);

int64_t naive_scratch_floats(const Problem& p) {
  return HWY_DYNAMIC_DISPATCH(scratch_floats)(p);
}

void naive_scores(const NaiveLaunch& launch, int64_t head, int64_t block, float* scratch, Traffic& traffic) {
  HWY_DYNAMIC_DISPATCH(scores_block)(launch, head, block, scratch, traffic);
}

void naive_softmax(const NaiveLaunch& launch, int64_t head, int64_t block, float* scratch, Traffic& traffic) {
  HWY_DYNAMIC_DISPATCH(softmax_block)(launch, head, block, scratch, traffic);
}

void naive_output(const NaiveLaunch& launch, int64_t head, int64_t block, float* scratch, Traffic& traffic) {
  HWY_DYNAMIC_DISPATCH(output_block)(launch, head, block, scratch, traffic);
}

}  // namespace attnprof
#endif  // HWY_ONCE
