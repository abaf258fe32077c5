// One attention problem in GPU memory, run by a GPU implementation: for the tests of the kernels.
#pragma once

#include <algorithm>
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

  explicit GpuCase(const Problem& p) : p_(p), gpu_(*device()), specs_(tensors_of(p)) {
    for (const TensorSpec& s : specs_) {
      buffers_.push_back(gpu_.allocate(s.bytes()));
      tensors_.places.emplace_back(s.name, buffers_.back()->data());
      if (!s.output) gpu_.fill_normal(buffers_.back()->data(), s.dtype, s.elements(), p.seed, s.stream);
    }
  }

  void set_q(const Value& value) { set("q", value); }
  void set_k(const Value& value) { set("k", value); }
  void set_v(const Value& value) { set("v", value); }

  /// The reason when the implementation refuses; else runs once, from NaN-filled outputs, so that what nobody
  /// writes cannot pass. `counters`: a second run, under hardware counters.
  Unsupported run(const Implementation& impl, const KernelConfig& config = {}, Counters* counters = nullptr) {
    const Case planned{p_, impl.name, impl.resolved(p_, config, gpu_.info())};
    if (Unsupported reason = refusal(impl, planned, gpu_.info())) return reason;
    forget_outputs();
    const int64_t workspace_bytes = impl.workspace(planned, gpu_.info());
    const std::unique_ptr<Buffer> workspace = workspace_bytes > 0 ? gpu_.allocate(workspace_bytes) : nullptr;
    tensors_.workspace = workspace ? workspace->data() : nullptr;
    const std::unique_ptr<Prepared> work = prepare_case(impl, planned, tensors_, gpu_);
    forget_outputs();  // preparing may have run parts of it
    gpu_.run(*work);
    resources_ = work->resources();
    own_workspace_bytes_ = work->own_workspace_bytes();
    library_ = work->library();
    if (counters != nullptr) *counters = open_counters(gpu_)->measure(*work, {});
    return std::nullopt;
  }

  VerifyResult verify(bool materialized, int64_t max_rows = 48) {
    const ReadTensor read = [this](std::string_view name, void* dst, int64_t offset, int64_t count) {
      const int64_t bytes = dtype_bytes(spec(name).dtype);
      gpu_.download(dst, static_cast<char*>(tensors_.at(name)) + offset * bytes, count * bytes);
    };
    VerifyOptions options;
    options.max_rows = max_rows;
    options.materialized = materialized;
    return attnprof::verify(p_, read, options);
  }

  float output(int64_t head, int64_t row, int64_t column) {
    const int64_t index = (head * p_.seqlen_q + row) * p_.head_dim + column;
    char element[4];
    gpu_.download(element, static_cast<char*>(tensors_.at("o")) + index * dtype_bytes(p_.dtype),
                  dtype_bytes(p_.dtype));
    return load_element(element, p_.dtype, 0);
  }
  float lse(int64_t row_of_all) {
    float x;
    gpu_.download(&x, tensors_.lse() + row_of_all, 4);
    return x;
  }
  std::vector<char> output_bytes() {
    std::vector<char> bytes(static_cast<size_t>(spec("o").bytes()));
    gpu_.download(bytes.data(), tensors_.at("o"), spec("o").bytes());
    return bytes;
  }
  const std::optional<KernelResources>& resources() const { return resources_; }
  int64_t own_workspace_bytes() const { return own_workspace_bytes_; }
  const std::string& library() const { return library_; }

 private:
  const TensorSpec& spec(std::string_view name) const {
    return *std::find_if(specs_.begin(), specs_.end(), [&](const TensorSpec& s) { return s.name == name; });
  }
  void forget_outputs() {
    for (const TensorSpec& s : specs_)
      if (s.output) gpu_.fill_bytes(tensors_.at(s.name), 0xFF, s.bytes());
  }
  void set(std::string_view name, const Value& value) {
    const TensorSpec& s = spec(name);
    std::vector<char> host(static_cast<size_t>(s.bytes()));
    int64_t index = 0;
    for (int64_t head = 0; head < s.sizes[0] * s.sizes[1]; ++head)
      for (int64_t row = 0; row < s.sizes[2]; ++row)
        for (int64_t column = 0; column < s.sizes[3]; ++column)
          store_element(host.data(), s.dtype, index++, static_cast<float>(value(head, row, column)));
    gpu_.upload(tensors_.at(name), host.data(), static_cast<int64_t>(host.size()));
  }

  Problem p_;
  Device& gpu_;
  std::vector<TensorSpec> specs_;
  std::vector<std::unique_ptr<Buffer>> buffers_;
  Tensors tensors_;
  std::optional<KernelResources> resources_;
  int64_t own_workspace_bytes_ = 0;
  std::string library_;
};

}  // namespace attnprof::gpu_test
