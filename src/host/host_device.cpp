#include "host/host_device.hpp"

#include <fmt/format.h>
#include <sys/mman.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <thread>

#include "core/error.hpp"
#include "core/fill.hpp"
#include "core/implementation.hpp"
#include "host/system.hpp"

namespace attnprof {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int64_t kAlignment = 256;
constexpr int64_t kHugePage = int64_t{2} << 20;
constexpr int64_t kPage = 4096;
/// Work handed to one thread at a time when memory is swept.
constexpr int64_t kSweepChunk = int64_t{1} << 20;
/// Bound on what one eviction costs, for last-level caches of many hundred MiB.
constexpr int64_t kMaxEvictionBytes = int64_t{1} << 30;
/// A sample this many times the clock's resolution is exact to 1%.
constexpr double kResolutionsPerSample = 100.0;
constexpr int64_t kMaxLaunchesPerSample = int64_t{1} << 20;

int64_t round_up(int64_t value, int64_t multiple) {
  return (value + multiple - 1) / multiple * multiple;
}

class HostBuffer : public Buffer {
 public:
  explicit HostBuffer(int64_t bytes) : bytes_(bytes) {
    // Large buffers start on a huge page: with 4 KiB pages a pass over gigabytes is bound by the TLB.
    const int64_t alignment = bytes >= kHugePage ? kHugePage : kAlignment;
    const auto size = static_cast<size_t>(round_up(std::max<int64_t>(bytes, 1), alignment));
    data_ = std::aligned_alloc(static_cast<size_t>(alignment), size);
    if (data_ != nullptr && alignment == kHugePage)
      madvise(data_, size, MADV_HUGEPAGE);  // a wish; refusal is fine
  }
  ~HostBuffer() override { std::free(data_); }
  HostBuffer(const HostBuffer&) = delete;
  HostBuffer& operator=(const HostBuffer&) = delete;
  void* data() override { return data_; }
  int64_t size_bytes() const override { return bytes_; }

 private:
  int64_t bytes_;
  void* data_ = nullptr;
};

/// The case itself would have fitted.
class EvictionRefused : public OutOfMemory {
 public:
  explicit EvictionRefused(const OutOfMemory& refused)
      : OutOfMemory(refused),
        text_(fmt::format("cold cache: {}; --cache hot needs no memory to evict caches", refused.what())) {}
  const char* what() const noexcept override { return text_.c_str(); }

 private:
  std::string text_;
};

double elapsed_us(Clock::time_point start) {
  return std::chrono::duration<double, std::micro>(Clock::now() - start).count();
}

/// Smallest step seen between two readings that differ.
double measure_timer_resolution_us() {
  double smallest = 1e3;
  for (int i = 0; i < 200; ++i) {
    const Clock::time_point start = Clock::now();
    double step = 0;
    while (step <= 0) step = elapsed_us(start);
    smallest = std::min(smallest, step);
  }
  return smallest;
}

}  // namespace

HostDevice::HostDevice(int threads)
    : pool_(threads > 0 ? threads : usable_threads()), timer_resolution_us_(measure_timer_resolution_us()) {
  const CacheSizes caches = cache_sizes();
  info_.kind = DeviceKind::host;
  info_.name = cpu_model();
  info_.multiprocessors = pool_.size();
  info_.last_level_cache_bytes = caches.last_level_bytes;
  info_.smem_per_block_bytes = caches.per_core_bytes;
  info_.memory_bytes = memory_total_bytes();
}

int64_t HostDevice::free_bytes() {
  return memory_available_bytes() / 10 * 9;
}

std::unique_ptr<Buffer> HostDevice::allocate(int64_t bytes) {
  // Linux promises more than it has and kills who takes it up on that, so ask before.
  const int64_t available = free_bytes();
  if (bytes < 0 || bytes > available) throw OutOfMemory(bytes, available);
  auto buffer = std::make_unique<HostBuffer>(bytes);
  if (buffer->data() == nullptr) throw OutOfMemory(bytes, available);
  char* const data = static_cast<char*>(buffer->data());
  pool_.parallel_for((bytes + kHugePage - 1) / kHugePage, [&](int64_t chunk, int) {
    const int64_t end = std::min(bytes, (chunk + 1) * kHugePage);
    for (int64_t at = chunk * kHugePage; at < end; at += kPage) data[at] = 0;
  });
  return buffer;
}

void HostDevice::upload(void* device_dst, const void* host_src, int64_t bytes) {
  std::memcpy(device_dst, host_src, static_cast<size_t>(bytes));
}

void HostDevice::download(void* host_dst, const void* device_src, int64_t bytes) {
  std::memcpy(host_dst, device_src, static_cast<size_t>(bytes));
}

void HostDevice::fill_bytes(void* device_dst, unsigned char value, int64_t bytes) {
  pool_.parallel_for((bytes + kSweepChunk - 1) / kSweepChunk, [&](int64_t chunk, int) {
    const int64_t begin = chunk * kSweepChunk;
    std::memset(static_cast<char*>(device_dst) + begin, value,
                static_cast<size_t>(std::min(kSweepChunk, bytes - begin)));
  });
}

void HostDevice::fill_normal(void* device_dst, DType dtype, int64_t count, uint64_t seed, uint32_t stream) {
  fill_host(device_dst, dtype, count, Fill::normal, seed, stream);
}

void HostDevice::run(Prepared& work) {
  work.launch();
}

std::vector<double> HostDevice::sample_us(Prepared& work, const Sampling& sampling, int count) {
  int64_t launches = 1;
  const auto one_sample_us = [&] {
    if (sampling.rest_us > 0)
      std::this_thread::sleep_for(std::chrono::duration<double, std::micro>(sampling.rest_us));
    if (sampling.cache == CacheMode::cold) evict_caches();
    const Clock::time_point start = Clock::now();
    for (int64_t i = 0; i < launches; ++i) work.launch();
    return elapsed_us(start);
  };
  std::vector<double> samples_us;
  const auto take_sample = [&](double us) { samples_us.push_back(us / static_cast<double>(launches)); };
  if (sampling.cache == CacheMode::hot) {
    // Two in a row must be long enough: one alone may be long because something else had the core.
    const double enough_us = kResolutionsPerSample * timer_resolution_us_;
    while (static_cast<int>(samples_us.size()) < std::min(2, count)) {
      const double us = one_sample_us();
      if (us < enough_us && launches < kMaxLaunchesPerSample) {
        launches *= 2;
        samples_us.clear();
      } else {
        take_sample(us);
      }
    }
  }
  while (static_cast<int>(samples_us.size()) < count) take_sample(one_sample_us());
  return samples_us;
}

void HostDevice::evict_caches() {
  if (!eviction_) {
    // Twice the last level: caches whose replacement is not strictly "least recently used" keep old lines for
    // longer.
    const int64_t wanted = 2 * info_.last_level_cache_bytes + pool_.size() * info_.smem_per_block_bytes;
    try {
      eviction_ = allocate(round_up(std::min(wanted, kMaxEvictionBytes), kSweepChunk));
    } catch (const OutOfMemory& refused) {
      throw EvictionRefused(refused);
    }
  }
  char* const data = static_cast<char*>(eviction_->data());
  // Written, not only read: the lines of the measured data are then pushed out of exclusive levels as well.
  pool_.parallel_for(eviction_->size_bytes() / kSweepChunk, [&](int64_t chunk, int) {
    char* const begin = data + chunk * kSweepChunk;
    for (int64_t at = 0; at < kSweepChunk; at += 64) begin[at] = static_cast<char>(begin[at] + 1);
  });
}

HostDevice& as_host(Device& device) {
  auto* host = dynamic_cast<HostDevice*>(&device);
  if (host == nullptr) throw CaseError("this implementation runs on the CPU, not on " + device.info().name);
  return *host;
}

void require_host_tensors(const Case& planned, const Tensors& tensors,
                          const std::vector<std::string_view>& omits) {
  for (const TensorSpec& tensor : tensors_of(planned.problem)) {
    if (std::find(omits.begin(), omits.end(), tensor.name) != omits.end()) continue;
    const auto address = reinterpret_cast<uintptr_t>(tensors.at(tensor.name));
    if (address == 0) throw CaseError(fmt::format("{}: {} is missing", planned.impl, tensor.name));
    if (const int64_t size = dtype_bytes(tensor.dtype); address % static_cast<uintptr_t>(size) != 0) {
      throw CaseError(fmt::format("{}: {} at {:#x} is not aligned to {} bytes", planned.impl, tensor.name,
                                  address, size));
    }
  }
}

int64_t balanced_rows(const Problem& p, int64_t most, int threads) {
  constexpr int64_t kTasksPerThread = 4;
  constexpr int64_t kGranule = 12;
  const int64_t heads = p.batch * p.heads;
  const int64_t wanted_per_head = (kTasksPerThread * threads + heads - 1) / heads;
  const int64_t needed_per_head = (p.seqlen_q + most - 1) / most;
  const int64_t tasks = std::max(needed_per_head, std::min(wanted_per_head, p.seqlen_q / (2 * kGranule)));
  const int64_t rows = (p.seqlen_q + tasks - 1) / tasks;
  return std::min(most, round_up(rows, kGranule));
}

std::unique_ptr<Device> open_host(int threads) {
  return std::make_unique<HostDevice>(threads);
}

}  // namespace attnprof
