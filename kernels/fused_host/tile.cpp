// The tile loop of the fused host kernel. Compiled once per instruction set by Highway, which picks one at
// run time.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/fused_host/tile.cpp"
#include <hwy/foreach_target.h>
// must come after foreach_target.h
#include <hwy/highway.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "core/problem.hpp"
#include "host/simd.hpp"
#include "kernels/fused_host/tile.hpp"

HWY_BEFORE_NAMESPACE();
namespace attnprof {
namespace HWY_NAMESPACE {

constexpr float kMinusInfinity = -std::numeric_limits<float>::infinity();

/// The working set of one thread, and where its query tile lies.
template <DType T>
class QueryTile {
 public:
  QueryTile(const FusedLaunch& launch, int64_t head, int64_t tile, float* scratch, Traffic& traffic)
      : launch_(launch),
        p_(launch.problem),
        traffic_(traffic),
        layout_(fused_scratch(launch.tile_m, launch.tile_n, launch.problem.head_dim)),
        scratch_(scratch),
        head_(head),
        kv_head_(kv_head_of(p_, head)),
        first_row_(tile * launch.tile_m),
        rows_(std::min(launch.tile_m, p_.seqlen_q - first_row_)),
        o_stride_(round_up(p_.head_dim, panel_width())),
        s_stride_(round_up(launch.tile_n, panel_width())) {}

  /// What is masked has a probability of 0, and 0 times NaN is NaN. Values are rarely that, so only a result
  /// that is not finite is computed again, with care; its bytes are counted once.
  void run() {
    const Traffic before = traffic_;
    attend_all();
    if (!all_finite(piece(layout_.o), rows_ * o_stride_)) {
      careful_ = true;
      traffic_ = before;
      attend_all();
    }
    store_output();
  }

 private:
  float* piece(int64_t offset) const { return scratch_ + offset; }

  void attend_all() {
    load_query();
    const KeyRange keys = keys_of_rows(p_, first_row_, first_row_ + rows_);
    const int64_t tile_n = launch_.tile_n;
    for (int64_t key = keys.begin / tile_n * tile_n; key < keys.end;
         key += tile_n) {  // tiles nobody sees: skipped
      first_key_ = key;
      keys_ = std::min(tile_n, p_.seqlen_kv - key);
      load_keys_and_values();
      for (int64_t row = 0; row < rows_; row += kFusedRowGroup) {
        attend(row, std::min(kFusedRowGroup, rows_ - row));
      }
    }
  }

  void load_query() {
    const int64_t at = (head_ * p_.seqlen_q + first_row_) * p_.head_dim;
    load_row<T>(launch_.tensors.at("q"), at, rows_ * p_.head_dim, launch_.scale_log2, piece(layout_.q));
    traffic_.read_bytes += rows_ * p_.head_dim * dtype_bytes(T);
    std::fill_n(piece(layout_.o), rows_ * o_stride_, 0.0f);
    std::fill_n(piece(layout_.row_max), rows_, kMinusInfinity);
    std::fill_n(piece(layout_.row_sum), rows_, 0.0f);
  }

  void load_keys_and_values() {
    const int64_t at = (kv_head_ * p_.seqlen_kv + first_key_) * p_.head_dim;
    pack_transposed<T>(launch_.tensors.at("k"), at, keys_, p_.head_dim, piece(layout_.k));
    traffic_.read_bytes += keys_ * p_.head_dim * dtype_bytes(T);
    pack_rows<T>(launch_.tensors.at("v"), at, keys_, p_.head_dim, piece(layout_.v));
    traffic_.read_bytes += keys_ * p_.head_dim * dtype_bytes(T);
  }

  /// Whether every row of the query tile sees every key in the working set. Both ends of the visible range
  /// grow with the row.
  bool tile_is_whole() const {
    return visible_keys(p_, first_row_).end >= first_key_ + keys_ &&
           visible_keys(p_, first_row_ + rows_ - 1).begin <= first_key_ &&
           visible_keys(p_, first_row_).size() > 0;
  }

  /// Rows [row, row + count) of the tile against the keys in the working set: S = Q K^T, online softmax, O =
  /// keep O + P V.
  void attend(int64_t row, int64_t count) {
    const KeyRange seen = keys_of_rows(p_, first_row_ + row, first_row_ + row + count);
    const int64_t begin = std::max<int64_t>(0, seen.begin - first_key_) / panel_width() * panel_width();
    const int64_t end = std::min(keys_, seen.end - first_key_);
    if (end <= begin) return;
    float* const s = piece(layout_.s);
    product(count, end - begin, p_.head_dim, piece(layout_.q) + row * p_.head_dim, p_.head_dim,
            piece(layout_.k) + begin * p_.head_dim, p_.head_dim, s + begin, s_stride_, nullptr);
    for (int64_t r = 0; r < count; ++r) softmax_row(row + r, r, begin, end);
    if (careful_ && !tile_is_whole()) return add_visible(row, count);
    product(count, p_.head_dim, end - begin, s + begin, s_stride_, piece(layout_.v) + begin * panel_width(),
            keys_, piece(layout_.o) + row * o_stride_, o_stride_, piece(layout_.keep));
  }

  /// O = keep O + P V, row by row over the keys that the row sees: 0 times NaN is NaN, and what is masked
  /// must not get there.
  void add_visible(int64_t row, int64_t count) {
    for (int64_t r = 0; r < count; ++r) {
      const KeyRange seen = visible_keys(p_, first_row_ + row + r);
      const int64_t lo = std::clamp<int64_t>(seen.begin - first_key_, 0, keys_);
      const int64_t hi = std::clamp<int64_t>(seen.end - first_key_, lo, keys_);
      product(1, p_.head_dim, hi - lo, piece(layout_.s) + r * s_stride_ + lo, s_stride_,
              piece(layout_.v) + lo * panel_width(), keys_, piece(layout_.o) + (row + r) * o_stride_,
              o_stride_, piece(layout_.keep) + r);
    }
  }

  /// Online softmax (Milakov & Gimelshein 2018, algorithm 3, in base 2) over columns [begin, end) of score
  /// row `group_row`. Differences are taken from rounded scores, and no score exceeds the maximum: no
  /// exponent is positive, whatever the size of the scores.
  void softmax_row(int64_t row, int64_t group_row, int64_t begin, int64_t end) {
    const FloatTag d;
    const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
    float* const s = piece(layout_.s) + group_row * s_stride_;
    const int64_t padded_end = round_up(end, lanes);
    const KeyRange seen = visible_keys(p_, first_row_ + row);
    const int64_t lo = std::clamp(seen.begin - first_key_, begin, end);
    const int64_t hi = std::clamp(seen.end - first_key_, lo, end);
    std::fill(s + begin, s + lo, kMinusInfinity);
    std::fill(s + hi, s + padded_end, kMinusInfinity);

    float& row_max = piece(layout_.row_max)[row];
    float& row_sum = piece(layout_.row_sum)[row];
    float& keep = piece(layout_.keep)[group_row];
    auto max = hn::Set(d, row_max);
    for (int64_t j = begin; j < padded_end; j += lanes) max = hn::Max(max, hn::LoadU(d, s + j));
    max = hn::MaxOfLanes(d, max);
    const float new_max = hn::GetLane(max);
    if (new_max == kMinusInfinity) {  // nothing seen yet, or NaN only, which a maximum may pass over
      if (std::any_of(s + lo, s + hi, [](float score) { return std::isnan(score); })) {
        row_sum = std::numeric_limits<float>::quiet_NaN();  // and stays so
      }
      std::fill(s + begin, s + padded_end, 0.0f);
      keep = 1.0f;
      return;
    }
    auto sum = hn::Zero(d);
    for (int64_t j = begin; j < padded_end; j += lanes) {
      const auto probability = exp2_vec(hn::Sub(hn::LoadU(d, s + j), max));
      hn::StoreU(probability, d, s + j);
      sum = hn::Add(sum, probability);
    }
    keep = exp2_scalar(row_max - new_max);
    row_sum = row_sum * keep + hn::GetLane(hn::SumOfLanes(d, sum));
    row_max = new_max;
  }

  void store_output() {
    const FloatTag d;
    const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
    const int64_t first = head_ * p_.seqlen_q + first_row_;
    for (int64_t row = 0; row < rows_; ++row) {
      float* const o = piece(layout_.o) + row * o_stride_;
      const float sum = piece(layout_.row_sum)[row];
      if (sum != 0.0f) {  // 0: a row that sees no key; its O is zero already. NaN goes through.
        for (int64_t c = 0; c < p_.head_dim; c += lanes) {
          hn::StoreU(hn::Div(hn::LoadU(d, o + c), hn::Set(d, sum)), d, o + c);
        }
      }
      store_row<T>(o, p_.head_dim, launch_.tensors.at("o"), (first + row) * p_.head_dim);
      launch_.tensors.lse()[first + row] =
          sum == 0.0f
              ? kMinusInfinity
              : static_cast<float>((piece(layout_.row_max)[row] + std::log2(static_cast<double>(sum))) *
                                   std::numbers::ln2);
    }
    traffic_.write_bytes +=
        rows_ * p_.head_dim * dtype_bytes(T) + rows_ * static_cast<int64_t>(sizeof(float));
  }

  const FusedLaunch& launch_;
  const Problem& p_;
  Traffic& traffic_;
  const FusedScratch layout_;
  float* const scratch_;
  const int64_t head_, kv_head_;
  const int64_t first_row_, rows_;
  const int64_t o_stride_, s_stride_;
  int64_t first_key_ = 0, keys_ = 0;  ///< the K/V tile in the working set
  bool careful_ = false;              ///< masked values stay out of P V
};

void query_tile(const FusedLaunch& launch, int64_t head, int64_t tile, float* scratch, Traffic& traffic) {
  switch (launch.problem.dtype) {
    case DType::fp32:
      return QueryTile<DType::fp32>(launch, head, tile, scratch, traffic).run();
    case DType::bf16:
      return QueryTile<DType::bf16>(launch, head, tile, scratch, traffic).run();
    case DType::fp16:
      return QueryTile<DType::fp16>(launch, head, tile, scratch, traffic).run();
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace attnprof
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace attnprof {

HWY_EXPORT(query_tile);

void fused_query_tile(const FusedLaunch& launch, int64_t head, int64_t tile, float* scratch,
                      Traffic& traffic) {
  HWY_DYNAMIC_DISPATCH(query_tile)(launch, head, tile, scratch, traffic);
}

}  // namespace attnprof
#endif  // HWY_ONCE
