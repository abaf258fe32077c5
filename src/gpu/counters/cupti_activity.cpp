#include "gpu/counters/cupti_activity.hpp"

#include <algorithm>
#include <cstdlib>
#include <mutex>

#include "gpu/api/cupti_api.hpp"
#include "gpu/counters/cupti_error.hpp"

namespace attnprof {
namespace {

constexpr size_t kBufferBytes = size_t{1} << 20;

/// CUPTI calls back without a context argument, from a thread of its own: what it delivers lands here.
struct Mailbox {
  std::mutex mutex;
  std::vector<KernelRecord> kernels;
};
Mailbox& mailbox() {
  static Mailbox box;
  return box;
}

void CUPTIAPI give_buffer(uint8_t** buffer, size_t* bytes, size_t* max_records) {
  *buffer = static_cast<uint8_t*>(std::aligned_alloc(8, kBufferBytes));
  *bytes = *buffer ? kBufferBytes : 0;
  *max_records = 0;  // as many as fit
}

void CUPTIAPI take_buffer(CUcontext, uint32_t, uint8_t* buffer, size_t, size_t valid_bytes) {
  {
    const std::lock_guard lock(mailbox().mutex);
    CUpti_Activity* record = nullptr;
    while (valid_bytes > 0 &&
           cupti_api()->activity_get_next_record(buffer, valid_bytes, &record) == CUPTI_SUCCESS) {
      if (record->kind != CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL) continue;
      // Later versions of the record only append to this one, which CUDA 12.6 has.
      const auto* kernel = reinterpret_cast<const CUpti_ActivityKernel9*>(record);
      mailbox().kernels.push_back({kernel->name ? kernel->name : "", static_cast<int64_t>(kernel->start),
                                   static_cast<int64_t>(kernel->end)});
    }
  }
  std::free(buffer);
}

/// Records are on while this lives.
class Recording {
 public:
  explicit Recording(const CuptiApi& api) : api_(api) {
    static const CUptiResult registered = api.activity_register_callbacks(give_buffer, take_buffer);
    check_cupti(registered, "asking for activity records");
    {
      const std::lock_guard lock(mailbox().mutex);
      mailbox().kernels.clear();
    }
    check_cupti(api.activity_enable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL), "enabling kernel records");
  }
  ~Recording() { api_.activity_disable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL); }
  Recording(const Recording&) = delete;
  Recording& operator=(const Recording&) = delete;

  std::vector<KernelRecord> take() {
    check_cupti(api_.activity_flush_all(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED), "collecting kernel records");
    const std::lock_guard lock(mailbox().mutex);
    return std::move(mailbox().kernels);
  }

 private:
  const CuptiApi& api_;
};

}  // namespace

namespace {

const CuptiApi& require_cupti() {
  const CuptiApi* api = cupti_api();
  if (!api) throw CuptiError("missing", cupti_missing());
  return *api;
}

/// Kernels that `work` launches, in order of start, enqueued behind one that keeps the device busy.
template <class Work>
std::vector<KernelRecord> record(GpuDevice& gpu, Recording& recording, CacheMode cache, Work work) {
  recording.take();
  gpu.hold_us(300);
  if (cache == CacheMode::cold) gpu.flush_l2();
  work();
  gpu.synchronize("running the case under kernel records");
  std::vector<KernelRecord> kernels = recording.take();
  std::sort(kernels.begin(), kernels.end(),
            [](const auto& a, const auto& b) { return a.start_ns < b.start_ns; });
  // Ours come first in the stream, so they are dropped from the front: a case may use the same kernels
  // itself.
  const size_t ours = cache == CacheMode::cold ? 2 : 1;
  kernels.erase(kernels.begin(), kernels.begin() + static_cast<int64_t>(std::min(ours, kernels.size())));
  return kernels;
}

}  // namespace

std::vector<KernelRecord> record_kernels(GpuDevice& gpu, Prepared& work, CacheMode cache) {
  Recording recording(require_cupti());
  // The first launch under records pays for their setup; it also warms the cache for the hot mode.
  work.launch();
  gpu.synchronize("running the case once");
  return record(gpu, recording, cache, [&] { work.launch(); });
}

std::vector<StepTimes> record_steps(GpuDevice& gpu, Prepared& work, size_t steps, CacheMode cache,
                                    int samples) {
  Recording recording(require_cupti());
  work.launch();
  gpu.synchronize("running the case once");
  std::vector<StepTimes> times(steps);
  std::vector<int> counts;
  for (size_t step = 0; step < steps; ++step) {
    const auto kernels = record(gpu, recording, CacheMode::hot, [&] { work.launch_step(step); });
    counts.push_back(static_cast<int>(kernels.size()));
    times[step].launches = counts.back();
  }
  for (int sample = 0; sample < samples; ++sample) {
    const auto kernels = record(gpu, recording, cache, [&] {
      for (size_t step = 0; step < steps; ++step) work.launch_step(step);
    });
    const std::vector<double> us = split_by_counts(kernels, counts);
    if (us.empty()) return {};
    for (size_t step = 0; step < steps; ++step) times[step].samples_us.push_back(us[step]);
  }
  return times;
}

std::vector<double> split_by_counts(const std::vector<KernelRecord>& kernels,
                                    const std::vector<int>& counts) {
  std::vector<double> sums;
  size_t next = 0;
  for (const int count : counts) {
    double us = 0;
    for (int i = 0; i < count; ++i, ++next) {
      if (next >= kernels.size()) return {};
      us += static_cast<double>(kernels[next].end_ns - kernels[next].start_ns) / 1000.0;
    }
    sums.push_back(us);
  }
  if (next != kernels.size()) return {};
  return sums;
}

std::optional<KernelTimes> summarise_kernels(const std::vector<KernelRecord>& kernels) {
  if (kernels.empty()) return std::nullopt;
  KernelTimes times;
  times.launches = static_cast<int>(kernels.size());
  int64_t covered_to = kernels.front().start_ns;
  for (const KernelRecord& kernel : kernels) {
    times.kernels_us += static_cast<double>(kernel.end_ns - kernel.start_ns) / 1000.0;
    if (kernel.start_ns > covered_to)
      times.gaps_us += static_cast<double>(kernel.start_ns - covered_to) / 1000.0;
    covered_to = std::max(covered_to, kernel.end_ns);
  }
  return times;
}

}  // namespace attnprof
