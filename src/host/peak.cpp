#include "host/peak.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <memory>
#include <vector>

#include "core/error.hpp"
#include "host/host_device.hpp"
#include "host/peak_loops.hpp"

namespace attnprof {
namespace {

// A ceiling is what the machine can do, not what its neighbours leave: many short trials, of which the best
// counts.
constexpr double kSpentSeconds = 0.12;
constexpr int kMinTrials = 5;
constexpr int64_t kFmaRounds = 500'000;  ///< about 1 ms
constexpr int64_t kExpRounds = 50'000;
constexpr int64_t kMiB = int64_t{1} << 20;
/// Work is dealt out in slices, so that a thread that another process holds up does not hold up the others.
constexpr int64_t kSlices = 4;
constexpr int64_t kMovedBytes = 32 * kMiB;  ///< in one trial: a few milliseconds

/// `work` is called with the number of the trial.
template <class Work>
double best_seconds(Work work) {
  const auto begin = std::chrono::steady_clock::now();
  const auto seconds_since = [](auto start) {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  };
  double best = 1e30;
  for (int trial = 0; trial < kMinTrials || seconds_since(begin) < kSpentSeconds; ++trial) {
    const auto start = std::chrono::steady_clock::now();
    work(trial);
    best = std::min(best, seconds_since(start));
  }
  return best;
}

/// Vector operations per second of `chain`, over the first `threads` threads.
double chain_rate(ThreadPool& pool, int threads, int64_t rounds, float (*chain)(int64_t)) {
  const int64_t slices = threads == 1 ? 1 : threads * kSlices;
  const int64_t rounds_of_slice = threads == 1 ? rounds : rounds / kSlices;
  std::vector<float> sinks(static_cast<size_t>(slices));
  const double seconds = best_seconds([&](int) {
    pool.parallel_for(
        slices, [&](int64_t slice, int) { sinks[static_cast<size_t>(slice)] = chain(rounds_of_slice); });
  });
  // Reading the results keeps the compiler from dropping the work.
  volatile float sink = 0;
  for (const float x : sinks) sink = sink + x;
  return static_cast<double>(slices * rounds_of_slice * kPeakChains * peak_lanes()) / seconds;
}

enum class MemoryUse { read, write, copy };

/// Goes over `bytes` of the arrays; 1e9 bytes per second.
double memory_gbps(ThreadPool& pool, MemoryUse use, char* to, const char* from, int64_t bytes) {
  // Small enough that every thread has some of the smallest array, which all threads' caches then share.
  const int64_t share = bytes / (4 * pool.size()) / 1024 * 1024;
  const int64_t chunk = std::clamp<int64_t>(share, 1024, kMiB);
  const int64_t chunks = bytes / chunk;
  std::vector<uint64_t> seen(static_cast<size_t>(pool.size()) * 8);  // a cache line each
  // A small array is gone over several times in one trial; of a large one, a trial takes the stretch after
  // the last.
  const int64_t chunks_of_trial = kMovedBytes / chunk;
  const double seconds = best_seconds([&](int trial) {
    pool.parallel_for(chunks_of_trial, [&](int64_t index, int thread) {
      const int64_t at = (trial * chunks_of_trial + index) % chunks * chunk;
      switch (use) {
        case MemoryUse::read:
          seen[static_cast<size_t>(thread) * 8] ^= peak_read(from + at, chunk);
          break;
        case MemoryUse::write:
          std::memset(to + at, static_cast<int>(index & 127), static_cast<size_t>(chunk));
          break;
        case MemoryUse::copy:
          std::memcpy(to + at, from + at, static_cast<size_t>(chunk));
          break;
      }
    });
  });
  volatile uint64_t sink = 0;
  for (const uint64_t x : seen) sink = sink ^ x;
  const double moved = static_cast<double>(chunks_of_trial * chunk) * (use == MemoryUse::copy ? 2 : 1);
  return moved / seconds * 1e-9;
}

class Measurement {
 public:
  Measurement(HostDevice& host, CeilingScope scope) : host_(host) { list_.scope = scope; }

  CeilingList run() {
    const bool full = list_.scope == CeilingScope::full;
    const int threads = host_.pool().size();
    try {
      memory(full);
    } catch (const Error& error) {
      list_.message = fmt::format("memory: {}", error.what());
    }
    const std::string with = fmt::format("on {} thread{}", threads, threads == 1 ? "" : "s");
    add("fp32_fma", measure_fma_flops_per_s(host_) * 1e-12, "TFLOP/s",
        "multiply-adds in registers, each counting 2, " + with);
    if (full) {
      add("fp32_fma_one_thread", measure_fma_flops_per_s(host_, 1) * 1e-12, "TFLOP/s", "one thread alone");
    }
    add("exp", chain_rate(host_.pool(), threads, kExpRounds, peak_exp_chains) * 1e-9, "Gexp/s",
        "the SIMD exp2 of the host softmax, in registers, " + with);
    launches(with);
    return std::move(list_);
  }

 private:
  void add(const char* name, double value, const char* unit, const std::string& how,
           std::optional<int64_t> bytes = std::nullopt) {
    list_.add({name, bytes, value, unit, how});
  }

  void memory(bool full) {
    int64_t large = 64 * kMiB;
    while (large < 4 * host_.info().last_level_cache_bytes && large < 512 * kMiB) large *= 2;
    const auto from_buffer = host_.allocate(large);
    const auto to_buffer = host_.allocate(large);
    char* const to = static_cast<char*>(to_buffer->data());
    const char* const from = static_cast<const char*>(from_buffer->data());
    const auto rate = [&](MemoryUse use, int64_t bytes) {
      return memory_gbps(host_.pool(), use, to, from, bytes);
    };
    const std::string size = fmt::format("{} MiB, all threads", large / kMiB);
    double copy = rate(MemoryUse::copy, large);
    if (!full) return add("copy", copy, "GB/s", size + "; read plus written");
    double read = rate(MemoryUse::read, large), write = rate(MemoryUse::write, large);
    struct BySize {
      int64_t bytes;
      double read, write, copy;
    };
    std::vector<BySize> by_size;
    for (const int64_t bytes : ceiling_sizes(large)) {
      by_size.push_back(
          {bytes, rate(MemoryUse::read, bytes), rate(MemoryUse::write, bytes), rate(MemoryUse::copy, bytes)});
    }
    // The largest size is what the rates without a size are of: two chances to find the cores at rest.
    BySize& largest = by_size.back();
    copy = largest.copy = std::max(copy, largest.copy);
    read = largest.read = std::max(read, largest.read);
    write = largest.write = std::max(write, largest.write);
    add("copy", copy, "GB/s", size + "; read plus written");
    add("read", read, "GB/s", size);
    add("write", write, "GB/s", size);
    const std::string how = "gone over again and again, all threads";
    for (const BySize& at : by_size) {
      add("read_by_size", at.read, "GB/s", how, at.bytes);
      add("write_by_size", at.write, "GB/s", how, at.bytes);
      add("copy_by_size", at.copy, "GB/s", how + "; read plus written", at.bytes);
    }
  }

  void launches(const std::string& with) {
    constexpr int kLoops = 200;
    ThreadPool& pool = host_.pool();
    const double seconds = best_seconds([&](int) {
      for (int i = 0; i < kLoops; ++i) pool.parallel_for(pool.size(), [](int64_t, int) {});
    });
    add("launch_interval", seconds / kLoops * 1e6, "us", "an empty loop over the thread pool, " + with);
  }

  HostDevice& host_;
  CeilingList list_;
};

}  // namespace

double measure_fma_flops_per_s(Device& device, int threads) {
  ThreadPool& pool = as_host(device).pool();
  const int used = threads > 0 ? std::min(threads, pool.size()) : pool.size();
  return 2 * chain_rate(pool, used, kFmaRounds, peak_fma_chains);
}

CeilingList measure_host_ceilings(Device& device, CeilingScope scope) {
  return Measurement(as_host(device), scope).run();
}

}  // namespace attnprof
