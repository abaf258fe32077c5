#include "core/verify.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <exception>
#include <map>
#include <mutex>
#include <optional>
#include <random>
#include <set>
#include <system_error>
#include <thread>

#include "core/fill.hpp"
#include "core/reference.hpp"
#include "core/tensors.hpp"

namespace attnprof {
namespace {

/// A sampled row: which head of batch * heads, and which query.
struct SampledRow {
  int64_t head;
  int64_t query;
  bool operator<(const SampledRow& o) const { return head != o.head ? head < o.head : query < o.query; }
};

std::string place(const Problem& p, int64_t element) {
  const int64_t row = element / p.head_dim;
  const int64_t head = row / p.seqlen_q;
  return fmt::format("[batch {}, head {}, query {}, column {}]", head / p.heads, head % p.heads,
                     row % p.seqlen_q, element % p.head_dim);
}

bool finite_bits(const void* data, DType t, int64_t index) {
  switch (t) {
    case DType::fp32:
      return std::isfinite(static_cast<const float*>(data)[index]);
    case DType::fp16:
      return (static_cast<const uint16_t*>(data)[index] & 0x7C00) != 0x7C00;
    case DType::bf16:
      return (static_cast<const uint16_t*>(data)[index] & 0x7F80) != 0x7F80;
  }
  return false;
}

/// First element of O that is NaN or infinite.
std::optional<int64_t> first_not_finite(const Problem& p, const ReadTensor& read) {
  constexpr int64_t kChunk = 1 << 22;
  const int64_t count = p.batch * p.heads * p.seqlen_q * p.head_dim;
  std::vector<char> chunk(static_cast<size_t>(std::min(kChunk, count) * dtype_bytes(p.dtype)));
  for (int64_t offset = 0; offset < count; offset += kChunk) {
    const int64_t n = std::min(kChunk, count - offset);
    read("o", chunk.data(), offset, n);
    bool clean = true;
    for (int64_t i = 0; i < n; ++i) clean = clean & finite_bits(chunk.data(), p.dtype, i);
    if (clean) continue;
    for (int64_t i = 0; i < n; ++i) {
      if (!finite_bits(chunk.data(), p.dtype, i)) return offset + i;
    }
  }
  return std::nullopt;
}

/// Every row when there are few; else random ones of at most eight heads, plus those where masks begin and
/// end.
std::set<SampledRow> sample_rows(const Problem& p, const VerifyOptions& options) {
  constexpr int64_t kMaxHeads = 8;
  const int64_t heads = p.batch * p.heads;
  const double flops_per_row = 4.0 * static_cast<double>(p.head_dim) * static_cast<double>(p.seqlen_kv);
  const int64_t affordable = std::max<int64_t>(8, static_cast<int64_t>(options.max_flops / flops_per_row));
  std::set<SampledRow> rows;
  if (heads * p.seqlen_q <= std::min(4 * options.max_rows, affordable)) {
    for (int64_t h = 0; h < heads; ++h) {
      for (int64_t i = 0; i < p.seqlen_q; ++i) rows.insert({h, i});
    }
    return rows;
  }
  std::mt19937_64 random(options.seed);  // its sequence is fixed by the standard; the distributions' are not
  const auto below = [&random](int64_t n) {
    return static_cast<int64_t>(random() % static_cast<uint64_t>(n));
  };
  std::vector<int64_t> chosen{0, heads - 1};
  while (static_cast<int64_t>(chosen.size()) < std::min(kMaxHeads, heads)) chosen.push_back(below(heads));
  const int64_t wanted = std::min(options.max_rows, affordable);
  const int64_t first_visible =
      p.causal ? std::clamp<int64_t>(p.seqlen_q - p.seqlen_kv, 0, p.seqlen_q - 1) : 0;
  for (const int64_t head : {int64_t{0}, heads - 1}) {
    for (const int64_t query :
         {int64_t{0}, first_visible, std::max<int64_t>(0, first_visible - 1), p.seqlen_q - 1}) {
      rows.insert({head, query});
    }
  }
  for (int64_t tries = 0; static_cast<int64_t>(rows.size()) < wanted && tries < 4 * wanted; ++tries) {
    rows.insert({chosen[static_cast<size_t>(tries) % chosen.size()], below(p.seqlen_q)});
  }
  return rows;
}

/// Reads `count` elements and widens them to float, which is exact.
std::vector<float> read_wide(const ReadTensor& read, std::string_view tensor, DType t, int64_t offset,
                             int64_t count) {
  std::vector<char> stored(static_cast<size_t>(count * dtype_bytes(t)));
  read(tensor, stored.data(), offset, count);
  std::vector<float> wide(static_cast<size_t>(count));
  for (int64_t i = 0; i < count; ++i) wide[static_cast<size_t>(i)] = load_element(stored.data(), t, i);
  return wide;
}

/// What is compared for one row. Filled by threads, judged in order afterwards.
struct Checked {
  SampledRow row{};
  std::vector<float> q, o;
  float lse = 0;
  ReferenceRow reference;
  std::vector<double> ref, magnitude;
};

void compute_references(const Problem& p, std::vector<Checked>& rows, const float* k, const float* v) {
  std::atomic<size_t> next{0};
  const auto work = [&] {
    for (size_t r = next++; r < rows.size(); r = next++) {
      Checked& c = rows[r];
      c.ref.resize(static_cast<size_t>(p.head_dim));
      c.magnitude.resize(c.ref.size());
      c.reference = reference_row(p, c.row.query, c.q.data(), k, v, c.ref.data(), c.magnitude.data());
    }
  };
  // An exception that leaves a thread ends the process.
  std::exception_ptr error;
  std::mutex error_mutex;
  const auto guarded = [&] {
    try {
      work();
    } catch (...) {
      next = rows.size();
      const std::lock_guard lock(error_mutex);
      if (!error) error = std::current_exception();
    }
  };
  const double flops = 4.0 * static_cast<double>(p.head_dim * p.seqlen_kv) * static_cast<double>(rows.size());
  const size_t threads =
      flops < 1e7 ? 1 : std::clamp<size_t>(std::thread::hardware_concurrency(), 1, rows.size());
  std::vector<std::thread> helpers;
  helpers.reserve(threads);
  try {
    for (size_t t = 1; t < threads; ++t) helpers.emplace_back(guarded);
  } catch (const std::system_error&) {
    // Fewer do as well: what a thread that could not be started would have done, the others do.
  }
  guarded();
  for (std::thread& t : helpers) t.join();
  if (error) std::rethrow_exception(error);
}

/// Running judgement over rows.
struct Judge {
  const Problem& p;
  bool materialized;
  bool with_lse;
  double error2 = 0, reference2 = 0, max_abs_err = 0;
  std::string complaint;  ///< the first one; one about NaN or infinity comes before all others
  bool about_finite = false;

  void fail(std::string message) {
    if (complaint.empty()) complaint = std::move(message);
  }
  void fail_not_finite(std::string message) {
    if (!about_finite) complaint = std::move(message);
    about_finite = true;
  }
  void judge(const Checked& c) {
    const int64_t base = (c.row.head * p.seqlen_q + c.row.query) * p.head_dim;
    for (int64_t col = 0; col < p.head_dim; ++col) {
      judge_element(c, static_cast<double>(c.o[static_cast<size_t>(col)]), static_cast<size_t>(col),
                    base + col);
    }
    if (with_lse) judge_lse(c, base);
  }
  void judge_element(const Checked& c, double o, size_t col, int64_t element) {
    const double ref = c.ref[col];
    if (!std::isfinite(ref) || !std::isfinite(o)) return fail_not_finite(not_finite(o, ref, element));
    const double error = std::abs(o - ref);
    error2 += error * error;
    reference2 += ref * ref;
    max_abs_err = std::max(max_abs_err, error);
    const double bound = element_bound(p, materialized, c.reference, ref, c.magnitude[col]);
    if (!(error <= bound)) {
      fail(fmt::format("wrong at {}: {:.6g} instead of {:.6g}, off by {:.3g}, allowed {:.3g}",
                       place(p, element), o, ref, error, bound));
    }
  }
  void judge_lse(const Checked& c, int64_t base) {
    const double ref = c.reference.lse, lse = static_cast<double>(c.lse);
    if (ref == lse) return;  // -inf for a row that sees no key
    const double bound = std::isfinite(ref) ? lse_bound(p, materialized, c.reference) : 0.0;
    if (!(std::abs(lse - ref) <= bound)) {
      fail(fmt::format("log-sum-exp wrong at {}: {:.6g} instead of {:.6g}, allowed {:.3g}", place(p, base),
                       lse, ref, bound));
    }
  }
  std::string not_finite(double o, double ref, int64_t element) const {
    if (!std::isfinite(o) && !std::isfinite(ref)) {
      return fmt::format(
          "not comparable at {}: both result ({}) and reference ({}) are not finite: the inputs hold NaN or "
          "infinity",
          place(p, element), o, ref);
    }
    if (!std::isfinite(o)) {
      return fmt::format("result is {} at {}, reference is {:.6g} (a row that no kernel wrote reads as nan)",
                         o, place(p, element), ref);
    }
    return fmt::format("reference is {} at {}, result is {:.6g}: the inputs hold NaN or infinity", ref,
                       place(p, element), o);
  }
};

/// Outputs of the pass that the implementation writes and no reference below is for; "" when there are none.
std::string unreferenced(const Problem& p, const VerifyOptions& options) {
  for (const TensorSpec& tensor : tensors_of(p)) {
    const bool omitted =
        std::find(options.omits.begin(), options.omits.end(), tensor.name) != options.omits.end();
    if (tensor.output && !omitted && tensor.name != "o" && tensor.name != "lse")
      return std::string(tensor.name);
  }
  return "";
}

}  // namespace

VerifyResult verify(const Problem& p, const ReadTensor& read, const VerifyOptions& options) {
  VerifyResult result;
  result.tolerance = tolerance(p, options.materialized);
  std::set<SampledRow> rows = sample_rows(p, options);
  const std::optional<int64_t> bad = first_not_finite(p, read);
  if (bad) rows.insert({*bad / p.head_dim / p.seqlen_q, *bad / p.head_dim % p.seqlen_q});

  const bool with_lse = std::find(options.omits.begin(), options.omits.end(), "lse") == options.omits.end();
  std::map<int64_t, std::vector<Checked>> by_kv_head;
  for (const SampledRow& row : rows) {
    Checked c;
    c.row = row;
    const int64_t flat = row.head * p.seqlen_q + row.query;
    c.q = read_wide(read, "q", p.dtype, flat * p.head_dim, p.head_dim);
    c.o = read_wide(read, "o", p.dtype, flat * p.head_dim, p.head_dim);
    if (with_lse) read("lse", &c.lse, flat, 1);
    by_kv_head[kv_head_of(p, row.head)].push_back(std::move(c));
  }
  Judge judge{.p = p, .materialized = options.materialized, .with_lse = with_lse, .complaint = {}};
  for (auto& [kv_head, checked] : by_kv_head) {
    const int64_t count = p.seqlen_kv * p.head_dim;
    const std::vector<float> k = read_wide(read, "k", p.dtype, kv_head * count, count);
    const std::vector<float> v = read_wide(read, "v", p.dtype, kv_head * count, count);
    compute_references(p, checked, k.data(), v.data());
    for (const Checked& c : checked) judge.judge(c);
  }
  result.rows_checked = static_cast<int64_t>(rows.size());
  result.max_abs_err = judge.max_abs_err;
  // All of ref can be zero (zero fill, rows that see nothing): then the result must be zero too.
  result.rel_err = judge.error2 == 0 ? 0 : std::sqrt(judge.error2 / judge.reference2);
  if (judge.complaint.empty() && !(result.rel_err <= result.tolerance)) {
    judge.complaint = fmt::format("relative error {:.3g} over {} rows is above {:.3g}", result.rel_err,
                                  result.rows_checked, result.tolerance);
  }
  if (const std::string tensor = unreferenced(p, options); judge.complaint.empty() && !tensor.empty())
    judge.complaint = fmt::format("there is no reference for {}: it was not checked", tensor);
  if (judge.complaint.empty()) judge.complaint = unverifiable(p, options.materialized).value_or("");
  result.message = judge.complaint;
  result.passed = judge.complaint.empty();
  return result;
}

}  // namespace attnprof
