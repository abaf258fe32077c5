// One attention problem in GPU memory, run by a GPU implementation: for the tests of the kernels.
#pragma once

#include <cstring>
#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "catch.hpp"
#include "core/error.hpp"
#include "core/fill.hpp"
#include "core/theory.hpp"
#include "core/verify.hpp"
#include "gpu/gpu.hpp"

namespace attnprof::gpu_test {

/// The first GPU, opened once; nullptr where there is none, and `why` then says so. Never closed: libraries
/// loaded after it (cuBLASLt) would be unloaded before it.
inline Device* device(std::string* why = nullptr) {
  static std::string reason;
  static Device* const gpu = []() -> Device* {
    const GpuList list = list_gpus();
    if (!list.gpus.empty()) return open_gpu(0).release();
    reason = list.why_none;
    return nullptr;
  }();
  if (why != nullptr) *why = reason;
  return gpu;
}

/// The same; says that the test is skipped, and why, where there is none.
inline Device* device_or_skip() {
  std::string why;
  Device* const gpu = device(&why);
  if (gpu == nullptr) WARN("skipped, no GPU: " << why);
  return gpu;
}

inline Problem problem(DType dtype, int64_t seqlen, int64_t head_dim) {
  Problem p;
  p.dtype = dtype;
  p.seqlen_q = p.seqlen_kv = seqlen;
  p.head_dim = head_dim;
  return p;
}

class GpuCase {
 public:
  using Value = std::function<double(int64_t head, int64_t row, int64_t column)>;

  explicit GpuCase(const Problem& p) : p_(p), gpu_(*device()) {
    q_ = gpu_.allocate(q_bytes(p));
    k_ = gpu_.allocate(kv_bytes(p));
    v_ = gpu_.allocate(kv_bytes(p));
    o_ = gpu_.allocate(o_bytes(p));
    lse_ = gpu_.allocate(lse_bytes(p));
    const int64_t bytes = dtype_bytes(p.dtype);
    gpu_.fill_normal(q_->data(), p.dtype, q_bytes(p) / bytes, p.seed, kStreamQ);
    gpu_.fill_normal(k_->data(), p.dtype, kv_bytes(p) / bytes, p.seed, kStreamK);
    gpu_.fill_normal(v_->data(), p.dtype, kv_bytes(p) / bytes, p.seed, kStreamV);
  }

  void set_q(const Value& value) { set(*q_, p_.batch * p_.heads, p_.seqlen_q, value); }
  void set_k(const Value& value) { set(*k_, p_.batch * p_.kv_heads, p_.seqlen_kv, value); }
  void set_v(const Value& value) { set(*v_, p_.batch * p_.kv_heads, p_.seqlen_kv, value); }

  /// The reason when the implementation refuses; else runs once, from NaN-filled outputs, so that what nobody
  /// writes cannot pass. `counters`: a second run, under hardware counters.
  Unsupported run(const Implementation& impl, const KernelConfig& config = {}, Counters* counters = nullptr) {
    Case planned{p_, std::string(impl.name), impl.resolve(p_, config, gpu_.info())};
    if (Unsupported reason = impl.supports(planned, gpu_.info())) return reason;
    gpu_.fill_bytes(o_->data(), 0xFF, o_bytes(p_));
    gpu_.fill_bytes(lse_->data(), 0xFF, lse_bytes(p_));
    const int64_t workspace_bytes = impl.workspace_bytes(planned, gpu_.info());
    const std::unique_ptr<Buffer> workspace = workspace_bytes > 0 ? gpu_.allocate(workspace_bytes) : nullptr;
    const Tensors tensors{.q = q_->data(),
                          .k = k_->data(),
                          .v = v_->data(),
                          .o = o_->data(),
                          .lse = static_cast<float*>(lse_->data()),
                          .workspace = workspace ? workspace->data() : nullptr};
    const std::unique_ptr<Prepared> work = impl.prepare(planned, tensors, gpu_);
    gpu_.fill_bytes(o_->data(), 0xFF, o_bytes(p_));  // prepare() may have run parts of it
    gpu_.fill_bytes(lse_->data(), 0xFF, lse_bytes(p_));
    gpu_.run(*work);
    resources_ = work->resources();
    own_workspace_bytes_ = work->own_workspace_bytes();
    library_ = work->library();
    if (counters != nullptr) *counters = open_counters(gpu_)->measure(*work, {});
    return std::nullopt;
  }

  VerifyResult verify(bool materialized, int64_t max_rows = 48) {
    TensorReader reader;
    reader.q = read_from(*q_);
    reader.k = read_from(*k_);
    reader.v = read_from(*v_);
    reader.o = read_from(*o_);
    reader.lse = [this](float* dst, int64_t offset, int64_t count) {
      gpu_.download(dst, static_cast<float*>(lse_->data()) + offset, count * 4);
    };
    VerifyOptions options;
    options.max_rows = max_rows;
    options.materialized = materialized;
    return attnprof::verify(p_, reader, options);
  }

  float output(int64_t head, int64_t row, int64_t column) {
    const int64_t index = (head * p_.seqlen_q + row) * p_.head_dim + column;
    char element[4];
    gpu_.download(element, static_cast<char*>(o_->data()) + index * dtype_bytes(p_.dtype),
                  dtype_bytes(p_.dtype));
    return load_element(element, p_.dtype, 0);
  }
  float lse(int64_t row_of_all) {
    float x;
    gpu_.download(&x, static_cast<float*>(lse_->data()) + row_of_all, 4);
    return x;
  }
  std::vector<char> output_bytes() {
    std::vector<char> bytes(static_cast<size_t>(o_bytes(p_)));
    gpu_.download(bytes.data(), o_->data(), o_bytes(p_));
    return bytes;
  }
  const std::optional<KernelResources>& resources() const { return resources_; }
  int64_t own_workspace_bytes() const { return own_workspace_bytes_; }
  const std::string& library() const { return library_; }

 private:
  std::function<void(void*, int64_t, int64_t)> read_from(Buffer& buffer) {
    return [this, &buffer](void* dst, int64_t offset, int64_t count) {
      const int64_t bytes = dtype_bytes(p_.dtype);
      gpu_.download(dst, static_cast<char*>(buffer.data()) + offset * bytes, count * bytes);
    };
  }
  void set(Buffer& buffer, int64_t heads, int64_t rows, const Value& value) {
    std::vector<char> host(static_cast<size_t>(heads * rows * p_.head_dim * dtype_bytes(p_.dtype)));
    int64_t index = 0;
    for (int64_t head = 0; head < heads; ++head)
      for (int64_t row = 0; row < rows; ++row)
        for (int64_t column = 0; column < p_.head_dim; ++column)
          store_element(host.data(), p_.dtype, index++, static_cast<float>(value(head, row, column)));
    gpu_.upload(buffer.data(), host.data(), static_cast<int64_t>(host.size()));
  }

  Problem p_;
  Device& gpu_;
  std::unique_ptr<Buffer> q_, k_, v_, o_, lse_;
  std::optional<KernelResources> resources_;
  int64_t own_workspace_bytes_ = 0;
  std::string library_;
};

}  // namespace attnprof::gpu_test
