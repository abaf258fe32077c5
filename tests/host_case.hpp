// One attention problem in host memory, run by a host implementation and held against float64: for the tests
// of naive and fused on the CPU.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "baselines/naive_host/naive_host.hpp"
#include "core/fill.hpp"
#include "core/theory.hpp"
#include "core/verify.hpp"
#include "host/host_device.hpp"
#include "kernels/fused_host/fused_host.hpp"

namespace attnprof::host_test {

struct Errors {
  double rel = 0;  ///< ||o - ref|| / ||ref|| over the rows checked; NaN when an output is not finite
  double max_abs = 0;
  double lse_abs = 0;  ///< infinity when one of the two is infinite or NaN and the other differs
};

/// Problem of one length and width; the rest by designated assignment.
inline Problem problem(DType dtype, int64_t seqlen, int64_t head_dim) {
  Problem p;
  p.dtype = dtype;
  p.seqlen_q = p.seqlen_kv = seqlen;
  p.head_dim = head_dim;
  return p;
}

/// One device for all tests: starting threads for each of some hundred cases would take longer than the
/// cases.
inline Device& device() {
  static const std::unique_ptr<Device> host = open_host(2);
  return *host;
}

/// Tensors of a problem. `offset` elements of slack stand before each, to move the base off its alignment.
class HostCase {
 public:
  explicit HostCase(const Problem& p, int64_t offset = 0) : p_(p), offset_(offset) {
    const int64_t slack = offset * dtype_bytes(p.dtype);
    q_.resize(static_cast<size_t>(q_bytes(p) + slack));
    k_.resize(static_cast<size_t>(kv_bytes(p) + slack));
    v_.resize(static_cast<size_t>(kv_bytes(p) + slack));
    o_.resize(static_cast<size_t>(o_bytes(p) + slack));
    lse_.resize(static_cast<size_t>(p.batch * p.heads * p.seqlen_q));
    fill_host(q(), p.dtype, q_bytes(p) / dtype_bytes(p.dtype), Fill::normal, p.seed, kStreamQ);
    fill_host(k(), p.dtype, kv_bytes(p) / dtype_bytes(p.dtype), Fill::normal, p.seed, kStreamK);
    fill_host(v(), p.dtype, kv_bytes(p) / dtype_bytes(p.dtype), Fill::normal, p.seed, kStreamV);
  }

  void* q() { return at(q_); }
  void* k() { return at(k_); }
  void* v() { return at(v_); }
  const void* o() { return at(o_); }
  const std::vector<float>& lse() const { return lse_; }
  /// Bytes of O, to compare bit for bit.
  const std::vector<char>& output() const { return o_; }

  /// Element = value(head over the batch, row, column).
  using Value = std::function<double(int64_t head, int64_t row, int64_t column)>;
  void set_q(const Value& value) { set(q(), p_.batch * p_.heads, p_.seqlen_q, value); }
  void set_k(const Value& value) { set(k(), p_.batch * p_.kv_heads, p_.seqlen_kv, value); }
  void set_v(const Value& value) { set(v(), p_.batch * p_.kv_heads, p_.seqlen_kv, value); }

  /// Runs once from NaN-filled outputs, so that what nobody writes cannot pass. Returns the bytes counted.
  Traffic run(const Implementation& impl, KernelConfig config = {}, Device& on = device()) {
    std::fill(o_.begin(), o_.end(), static_cast<char>(0xFF));
    std::fill(lse_.begin(), lse_.end(), std::numeric_limits<float>::quiet_NaN());
    Case planned{p_, std::string(impl.name), config};
    planned.config = impl.resolved(p_, config, on.info());
    std::vector<char> workspace(static_cast<size_t>(impl.workspace(planned, on.info())));
    const Tensors tensors{{{"q", q()}, {"k", k()}, {"v", v()}, {"o", at(o_)}, {"lse", lse_.data()}},
                          workspace.empty() ? nullptr : workspace.data()};
    const auto work = prepare_case(impl, planned, tensors, on);
    on.run(*work);
    checks_lse_ = impl.omits.empty();
    return *work->counted();
  }

  double output_at(int64_t head, int64_t row, int64_t column) {
    return load_element(o(), p_.dtype, (head * p_.seqlen_q + row) * p_.head_dim + column);
  }

  /// Against float64 on at most about `max_rows` rows spread over all, the last one included.
  Errors errors(int64_t max_rows = 512) {
    const int64_t rows = p_.batch * p_.heads * p_.seqlen_q;
    const int64_t step = std::max<int64_t>(1, rows / max_rows);
    double diff2 = 0, ref2 = 0;
    Errors e;
    for (int64_t row = rows - 1; row >= 0; row -= step) check_row(row, diff2, ref2, e);
    e.rel = ref2 > 0 ? std::sqrt(diff2 / ref2) : std::sqrt(diff2);
    return e;
  }

 private:
  void* at(std::vector<char>& bytes) { return bytes.data() + offset_ * dtype_bytes(p_.dtype); }

  void set(void* array, int64_t heads, int64_t rows, const Value& value) {
    int64_t index = 0;
    for (int64_t head = 0; head < heads; ++head) {
      for (int64_t row = 0; row < rows; ++row) {
        for (int64_t column = 0; column < p_.head_dim; ++column) {
          store_element(array, p_.dtype, index++, static_cast<float>(value(head, row, column)));
        }
      }
    }
  }

  void check_row(int64_t flat_row, double& diff2, double& ref2, Errors& e) {
    const int64_t head = flat_row / p_.seqlen_q;
    const int64_t kv_head = kv_head_of(p_, head);
    const int64_t size = dtype_bytes(p_.dtype);
    const int64_t kv_offset = kv_head * p_.seqlen_kv * p_.head_dim * size;
    reference_.resize(static_cast<size_t>(p_.head_dim));
    const double lse = reference_row(p_, flat_row % p_.seqlen_q,
                                     static_cast<const char*>(q()) + flat_row * p_.head_dim * size,
                                     static_cast<const char*>(k()) + kv_offset,
                                     static_cast<const char*>(v()) + kv_offset, reference_.data());
    for (int64_t c = 0; c < p_.head_dim; ++c) {
      const double expected = reference_[static_cast<size_t>(c)];
      const double diff = load_element(o(), p_.dtype, flat_row * p_.head_dim + c) - expected;
      diff2 += diff * diff;
      ref2 += expected * expected;
      e.max_abs = std::isnan(diff) ? diff : std::max(e.max_abs, std::abs(diff));
    }
    if (!checks_lse_) return;
    const double got = lse_[static_cast<size_t>(flat_row)];
    if (std::isfinite(got) && std::isfinite(lse)) {
      e.lse_abs = std::max(e.lse_abs, std::abs(got - lse));
    } else if (!(got == lse)) {
      e.lse_abs = std::numeric_limits<double>::infinity();
    }
  }

  Problem p_;
  int64_t offset_;
  std::vector<char> q_, k_, v_, o_;
  std::vector<float> lse_;
  std::vector<double> reference_;
  bool checks_lse_ = true;
};

/// True when `impl` is right on normal data: O within the tolerance of its dtype, LSE within fp32 rounding of
/// the scores.
inline bool is_right(const Problem& p, const Implementation& impl, KernelConfig config = {},
                     int64_t offset = 0) {
  HostCase c(p, offset);
  c.run(impl, config);
  const Errors e = c.errors();
  return e.rel <= tolerance(p, impl.materializes) && e.lse_abs <= 1e-5;
}

inline std::vector<Implementation> both() {
  return {naive_host(), fused_host()};
}

}  // namespace attnprof::host_test
