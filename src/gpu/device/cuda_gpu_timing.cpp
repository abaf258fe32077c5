// The part of CudaGpu that runs and times prepared work.
#include <algorithm>
#include <chrono>

#include "core/error.hpp"
#include "gpu/device/cuda_gpu.hpp"

namespace attnprof {
namespace {

/// Samples enqueued at once: enough to hide the host, few enough to stay far from the depth of the launch
/// queue.
constexpr int kBatch = 16;
constexpr double kMaxSpinUs = 5000;

}  // namespace

void CudaGpu::run(Prepared& work) {
  require_alive();
  work.launch();
  synchronize("running the case");
}

void CudaGpu::flush_l2() {
  const CompiledKernel& read = kernel({"gpu/device/flush.cu", "read_all", {}});
  const unsigned long long count = static_cast<unsigned long long>(flush_bytes_) / 16;
  const CUdeviceptr sink = flush_buffer_;
  launch(read, {.grid_x = static_cast<unsigned>(info_.multiprocessors) * 4, .block_x = 512},
         {&flush_buffer_, &count, &sink});
}

void CudaGpu::hold_us(double us) {
  const CompiledKernel& spin = kernel({"gpu/device/flush.cu", "spin", {}});
  const long long cycles = static_cast<long long>(us * clock_mhz_);
  launch(spin, {}, {&cycles});
}

CUevent CudaGpu::event(size_t index) {
  while (events_.size() <= index) {
    CUevent created = nullptr;
    check(driver_, driver_.event_create(&created, CU_EVENT_DEFAULT), "creating an event");
    events_.push_back(created);
  }
  return events_[index];
}

// The device is held back by a spinning kernel until the host has enqueued the whole batch, so that the time
// the host takes for a launch never shows as time of the case. Cold, or with rests: each sample lies between
// an event after the flush or rest and one after the case. Else launches run back to back, and each event
// ends one sample and begins the next. One thread spins through a rest: the chip idles, but the stream stays
// busy and the clock up.
std::vector<double> CudaGpu::sample_batch_us(Prepared& work, const Sampling& sampling, int count) {
  const bool cold = sampling.cache == CacheMode::cold;
  const bool apart = cold || sampling.rest_us > 0;
  const auto record = [&](size_t index) {
    check_alive(driver_.event_record(event(index), stream_), "recording an event");
  };
  const size_t samples = static_cast<size_t>(count);
  event(2 * samples);
  hold_us(std::min(kMaxSpinUs, 20 + 1.5 * enqueue_us_ * count));
  const auto start = std::chrono::steady_clock::now();
  if (!apart) record(0);
  for (size_t i = 0; i < samples; ++i) {
    if (sampling.rest_us > 0) hold_us(sampling.rest_us);
    if (cold) flush_l2();
    if (apart) record(2 * i);
    work.launch();
    record(apart ? 2 * i + 1 : i + 1);
  }
  const std::chrono::duration<double, std::micro> enqueued = std::chrono::steady_clock::now() - start;
  enqueue_us_ = enqueued.count() / count;
  synchronize("running the case");

  std::vector<double> times_us;
  for (size_t i = 0; i < samples; ++i) {
    float ms = 0;
    check_alive(driver_.event_elapsed_time(&ms, event(apart ? 2 * i : i), event(apart ? 2 * i + 1 : i + 1)),
                "reading an event");
    times_us.push_back(ms * 1000.0);
  }
  return times_us;
}

std::vector<double> CudaGpu::sample_us(Prepared& work, const Sampling& sampling, int count) {
  require_alive();
  std::vector<double> times_us;
  while (static_cast<int>(times_us.size()) < count) {
    const int batch = std::min(kBatch, count - static_cast<int>(times_us.size()));
    const std::vector<double> more = sample_batch_us(work, sampling, batch);
    times_us.insert(times_us.end(), more.begin(), more.end());
  }
  return times_us;
}

// GPU timestamps step by 32 ns from GH100 on, and by about 1 us before.
double CudaGpu::timer_resolution_us() const {
  return info_.compute_capability >= 90 ? 0.032 : 1.0;
}

}  // namespace attnprof
