// Compiled once per instruction set by Highway, which picks the best one at run time.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "host/peak.cpp"
#include <hwy/foreach_target.h>
// must come after foreach_target.h
#include <hwy/highway.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <vector>

#include "host/host_device.hpp"
#include "host/peak.hpp"

HWY_BEFORE_NAMESPACE();
namespace attnprof {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// Runs `rounds` rounds of twelve independent multiply-adds: more than latency (4 or 5) times units (2) asks
/// for, and with two operands within the sixteen registers of AVX2. Returns a value that depends on all of
/// them.
float fma_chains(int64_t rounds) {
  const hn::ScalableTag<float> d;
  const auto b = hn::Set(d, 0.999f);
  const auto c = hn::Set(d, 0.001f);  // x = 0.999 x + 0.001 tends to 1: no overflow, no subnormals
  auto x0 = hn::Set(d, 0.0f), x1 = hn::Set(d, 0.1f), x2 = hn::Set(d, 0.2f), x3 = hn::Set(d, 0.3f);
  auto x4 = hn::Set(d, 0.4f), x5 = hn::Set(d, 0.5f), x6 = hn::Set(d, 0.6f), x7 = hn::Set(d, 0.7f);
  auto x8 = hn::Set(d, 0.8f), x9 = hn::Set(d, 0.9f), x10 = hn::Set(d, 1.1f), x11 = hn::Set(d, 1.2f);
  for (int64_t i = 0; i < rounds; ++i) {
    x0 = hn::MulAdd(x0, b, c), x1 = hn::MulAdd(x1, b, c), x2 = hn::MulAdd(x2, b, c),
    x3 = hn::MulAdd(x3, b, c);
    x4 = hn::MulAdd(x4, b, c), x5 = hn::MulAdd(x5, b, c), x6 = hn::MulAdd(x6, b, c),
    x7 = hn::MulAdd(x7, b, c);
    x8 = hn::MulAdd(x8, b, c), x9 = hn::MulAdd(x9, b, c), x10 = hn::MulAdd(x10, b, c),
    x11 = hn::MulAdd(x11, b, c);
  }
  const auto sum = hn::Add(
      hn::Add(hn::Add(x0, x1), hn::Add(x2, x3)),
      hn::Add(hn::Add(hn::Add(x4, x5), hn::Add(x6, x7)), hn::Add(hn::Add(x8, x9), hn::Add(x10, x11))));
  return hn::GetLane(hn::SumOfLanes(d, sum));
}

int64_t flops_per_round() {
  return static_cast<int64_t>(12 * 2 * hn::Lanes(hn::ScalableTag<float>()));
}

}  // namespace HWY_NAMESPACE
}  // namespace attnprof
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace attnprof {
namespace {

HWY_EXPORT(fma_chains);
HWY_EXPORT(flops_per_round);

constexpr int kTrials = 5;              ///< the best one counts: others were disturbed
constexpr int64_t kRounds = 4'000'000;  ///< about 8 ms

template <class Work>
double best_seconds(Work work) {
  double best = 1e30;
  for (int trial = 0; trial < kTrials; ++trial) {
    const auto start = std::chrono::steady_clock::now();
    work();
    best = std::min(best, std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  }
  return best;
}

double measure_copy_bytes_per_s(HostDevice& host) {
  constexpr int64_t kChunk = int64_t{1} << 20;
  const int64_t bytes =
      std::clamp<int64_t>(4 * host.info().last_level_cache_bytes, int64_t{64} << 20, int64_t{512} << 20);
  const auto from = host.allocate(bytes);
  const auto to = host.allocate(bytes);
  const double seconds = best_seconds([&] {
    host.pool().parallel_for(bytes / kChunk, [&](int64_t chunk, int) {
      std::memcpy(static_cast<char*>(to->data()) + chunk * kChunk,
                  static_cast<const char*>(from->data()) + chunk * kChunk, static_cast<size_t>(kChunk));
    });
  });
  return 2.0 * static_cast<double>(bytes / kChunk * kChunk) / seconds;
}

}  // namespace

double measure_fma_flops_per_s(Device& device, int threads) {
  ThreadPool& pool = as_host(device).pool();
  const int used = threads > 0 ? std::min(threads, pool.size()) : pool.size();
  // Work is dealt out in slices, so that a thread that another process holds up does not hold up the
  // measurement.
  constexpr int64_t kSlices = 16;
  std::vector<float> sinks(static_cast<size_t>(used * kSlices));
  const double seconds = best_seconds([&] {
    pool.parallel_for(used == 1 ? 1 : used * kSlices, [&](int64_t slice, int) {
      sinks[static_cast<size_t>(slice)] =
          HWY_DYNAMIC_DISPATCH(fma_chains)(used == 1 ? kRounds : kRounds / kSlices);
    });
  });
  // Reading the results keeps the compiler from dropping the work.
  volatile float sink = 0;
  for (const float x : sinks) sink = sink + x;
  const double rounds = static_cast<double>(used * kRounds);
  return rounds * static_cast<double>(HWY_DYNAMIC_DISPATCH(flops_per_round)()) / seconds;
}

HostPeak measure_host_peak(Device& device) {
  HostPeak peak;
  peak.one_thread_flops_per_s = measure_fma_flops_per_s(device, 1);
  peak.fma_flops_per_s = measure_fma_flops_per_s(device);
  peak.copy_bytes_per_s = measure_copy_bytes_per_s(as_host(device));
  return peak;
}

}  // namespace attnprof
#endif  // HWY_ONCE
