// A device with scripted time and a memory budget, and implementations whose behaviour is known: the driver
// is tested without hardware and without a clock.
#pragma once

#include <cstdlib>
#include <cstring>
#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "core/device.hpp"
#include "core/error.hpp"
#include "core/fill.hpp"
#include "core/implementation.hpp"
#include "core/theory.hpp"
#include "core/verify.hpp"
#include "measure/plan.hpp"

namespace attnprof::fake {

class FakeBuffer : public Buffer {
 public:
  FakeBuffer(int64_t bytes, int64_t& used) : bytes_(static_cast<size_t>(bytes)), used_(used) {
    used_ += bytes;
  }
  ~FakeBuffer() override { used_ -= static_cast<int64_t>(bytes_.size()); }
  void* data() override { return bytes_.data(); }
  int64_t size_bytes() const override { return static_cast<int64_t>(bytes_.size()); }

 private:
  std::vector<char> bytes_;
  int64_t& used_;
};

class FakeDevice : public Device {
 public:
  FakeDevice() {
    info_.name = "Fake";
    info_.memory_bytes = 1 << 30;
  }
  const DeviceInfo& info() const override { return info_; }
  int64_t free_bytes() override { return claimed_free_bytes - used_; }
  std::unique_ptr<Buffer> allocate(int64_t bytes) override {
    if (bytes > capacity_bytes - used_) throw OutOfMemory(bytes, capacity_bytes - used_);
    return std::make_unique<FakeBuffer>(bytes, used_);
  }
  void upload(void* dst, const void* src, int64_t bytes) override {
    std::memcpy(dst, src, static_cast<size_t>(bytes));
  }
  void download(void* dst, const void* src, int64_t bytes) override {
    std::memcpy(dst, src, static_cast<size_t>(bytes));
  }
  void fill_bytes(void* dst, unsigned char value, int64_t bytes) override {
    std::memset(dst, value, static_cast<size_t>(bytes));
  }
  void fill_normal(void* dst, DType dtype, int64_t count, uint64_t seed, uint32_t stream) override {
    fill_host(dst, dtype, count, Fill::normal, seed, stream);
  }
  ClockReading clocks() override { return next_clocks ? next_clocks(clock_readings_++) : ClockReading{}; }
  void run(Prepared& work) override { work.launch(); }
  std::vector<double> sample_us(Prepared& work, const Sampling& sampling, int count) override {
    order.push_back(&work);
    caches.push_back(sampling.cache);
    rests_us.push_back(sampling.rest_us);
    std::vector<double> samples;
    for (int i = 0; i < count; ++i) {
      work.launch();
      samples.push_back(next_sample_us(samples_taken++));
    }
    return samples;
  }
  double timer_resolution_us() const override { return 0.001; }

  int64_t capacity_bytes = 1 << 28;              ///< what the allocator really has
  int64_t claimed_free_bytes = 1 << 28;          ///< what free_bytes() says
  std::function<ClockReading(int)> next_clocks;  ///< of the i-th look
  std::function<double(int)> next_sample_us = [](int) { return 100.0; };
  int samples_taken = 0;
  std::vector<Prepared*> order;
  std::vector<CacheMode> caches;
  std::vector<double> rests_us;

 private:
  DeviceInfo info_;
  int64_t used_ = 0;
  int clock_readings_ = 0;
};

/// Runs a function as a case.
class FakeWork : public Prepared {
 public:
  explicit FakeWork(std::function<void()> body) : body_(std::move(body)) {}
  void launch() override { body_(); }

 private:
  std::function<void()> body_;
};

/// Exact attention, through the float64 reference.
inline void compute(const Problem& p, const Tensors& t) {
  std::vector<double> row(static_cast<size_t>(p.head_dim));
  const int64_t size = dtype_bytes(p.dtype);
  for (int64_t head = 0; head < p.batch * p.heads; ++head) {
    const int64_t kv_head = kv_head_of(p, head);
    const int64_t kv_offset = kv_head * p.seqlen_kv * p.head_dim * size;
    for (int64_t i = 0; i < p.seqlen_q; ++i) {
      const int64_t at = (head * p.seqlen_q + i) * p.head_dim;
      const double lse = reference_row(p, i, static_cast<const char*>(t.at("q")) + at * size,
                                       static_cast<const char*>(t.at("k")) + kv_offset,
                                       static_cast<const char*>(t.at("v")) + kv_offset, row.data());
      for (int64_t c = 0; c < p.head_dim; ++c) {
        store_element(t.at("o"), p.dtype, at + c, static_cast<float>(row[static_cast<size_t>(c)]));
      }
      t.lse()[head * p.seqlen_q + i] = static_cast<float>(lse);
    }
  }
}

/// Takes every feature, has one step, and keeps the configuration that it is given.
inline Implementation make(std::string_view name,
                           std::unique_ptr<Prepared> (*prepare)(const Case&, const Tensors&, Device&)) {
  return {.name = std::string(name),
          .summary = "test double",
          .takes = {"fp32", "fp16", "bf16", "causal", "window", "gqa", "dropout"},
          .resolve = [](const Problem&, const KernelConfig& c, const DeviceInfo&) { return c; },
          .steps = [](const Case& c, const DeviceInfo&) -> std::vector<ModelledStep> {
            return {{"all", {compulsory_traffic(c.problem), algorithmic_flops(c.problem), 0}}};
          },
          .prepare = prepare};
}

/// Right in every element.
inline Implementation right() {
  return make("right", [](const Case& c, const Tensors& t, Device&) -> std::unique_ptr<Prepared> {
    return std::make_unique<FakeWork>([p = c.problem, t] { compute(p, t); });
  });
}
/// Right but for one element in the middle, which is off by one half.
inline Implementation wrong() {
  return make("wrong", [](const Case& c, const Tensors& t, Device&) -> std::unique_ptr<Prepared> {
    return std::make_unique<FakeWork>([p = c.problem, t] {
      compute(p, t);
      const int64_t at = p.batch * p.heads * p.seqlen_q * p.head_dim / 2;
      store_element(t.at("o"), p.dtype, at, load_element(t.at("o"), p.dtype, at) + 0.5f);
    });
  });
}
/// A launch that does nothing: the output stays as the runner left it.
inline Implementation lazy() {
  return make("lazy", [](const Case&, const Tensors&, Device&) -> std::unique_ptr<Prepared> {
    return std::make_unique<FakeWork>([] {});
  });
}
/// Fails at launch.
inline Implementation broken() {
  return make("broken", [](const Case&, const Tensors&, Device&) -> std::unique_ptr<Prepared> {
    return std::make_unique<FakeWork>(
        [] { throw CaseError("launch refused: grid 1x70000 exceeds 1x65535"); });
  });
}

/// A problem that takes no time.
inline Problem small() {
  Problem p;
  p.dtype = DType::fp32;
  p.heads = p.kv_heads = 2;
  p.seqlen_q = p.seqlen_kv = 8;
  p.head_dim = 4;
  return p;
}
inline PlannedRow planned_row(const Implementation& impl, const Problem& p = small(),
                              int64_t workspace_bytes = 0) {
  PlannedRow row;
  row.planned.problem = p;
  row.planned.impl = impl.name;
  row.impl = &impl;
  row.workspace_bytes = workspace_bytes;
  row.memory_bytes = compulsory_traffic(p).total() + workspace_bytes;
  row.model = impl.model(row.planned, {});
  return row;
}

}  // namespace attnprof::fake
