// The CPU as a device: memory, threads and a steady clock.
#pragma once

#include <memory>
#include <vector>

#include "core/device.hpp"
#include "core/tensors.hpp"
#include "host/load.hpp"
#include "host/thread_pool.hpp"

namespace attnprof {

class HostDevice : public Device {
 public:
  /// `threads` 0: as many as the process may use (affinity, cgroup quota).
  explicit HostDevice(int threads = 0);

  const DeviceInfo& info() const override { return info_; }
  /// Nine tenths of what the kernel calls available: that is an estimate, and the rest of the machine needs
  /// memory too. A case that took all of it would be measured swapping.
  int64_t free_bytes() override;
  /// Pages are touched before it returns: memory that was claimed is memory that is there, and no measurement
  /// pays for page faults. Throws OutOfMemory, before it touches anything, when free_bytes() does not
  /// suffice.
  std::unique_ptr<Buffer> allocate(int64_t bytes) override;
  void upload(void* device_dst, const void* host_src, int64_t bytes) override;
  void download(void* host_dst, const void* device_src, int64_t bytes) override;
  void fill_bytes(void* device_dst, unsigned char value, int64_t bytes) override;
  void fill_normal(void* device_dst, DType dtype, int64_t count, uint64_t seed, uint32_t stream) override;
  void run(Prepared& work) override;
  /// Hot: a launch shorter than 100 times the clock's resolution is repeated inside one sample, which is then
  /// their mean. Cold: one launch per sample, whatever its length, since a repetition would find the data in
  /// the cache.
  std::vector<double> sample_us(Prepared& work, const Sampling& sampling, int count) override;
  double timer_resolution_us() const override { return timer_resolution_us_; }
  ClockReading clocks() override { return {.sm_mhz = {}, .throttle_reasons = {}, .busy = load_.busy()}; }

  ThreadPool& pool() { return pool_; }

 private:
  void evict_caches();

  ThreadPool pool_;
  DeviceInfo info_;
  double timer_resolution_us_;
  LoadWatch load_;
  std::unique_ptr<Buffer> eviction_;  ///< allocated on the first cold sample
};

/// The implementations of this device kind are handed a Device that is a HostDevice. Throws CaseError
/// otherwise.
HostDevice& as_host(Device& device);

/// Throws CaseError naming the first tensor that is missing or does not stand on a multiple of its element
/// size. Those of `omits` are not asked for.
void require_host_tensors(const Case& planned, const Tensors& tensors,
                          const std::vector<std::string_view>& omits = {});

/// Query rows per task, at most `most`, so that the tasks of all heads keep `threads` threads busy to the end
/// and are of nearly equal size. A multiple of 12, which every product kernel's row count divides.
int64_t balanced_rows(const Problem& p, int64_t most, int threads);

/// Opens the CPU with `threads` threads (0: as many as the process may use).
std::unique_ptr<Device> open_host(int threads = 0);

}  // namespace attnprof
