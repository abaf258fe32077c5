// One use of the range profiler on one context.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "gpu/counters/cupti_host.hpp"
#include "gpu/device/gpu_device.hpp"

namespace attnprof {

/// The protocol, in order: construct (initialise, enable, configure), collect() (start, ranges, stop, until
/// all passes are in; decode), read the image, destroy (disable). Counters are held only for the life of the
/// object, and are given back after any error. Throws CuptiError.
class CuptiSession {
 public:
  /// `ranges` named ranges are counted in every pass.
  CuptiSession(GpuDevice& gpu, const CounterSchedule& schedule, size_t ranges);
  ~CuptiSession();
  CuptiSession(const CuptiSession&) = delete;
  CuptiSession& operator=(const CuptiSession&) = delete;

  /// Calls `replay` once for every pass; it encloses what is to be counted in range() calls. Returns the
  /// passes.
  int collect(const std::function<void()>& replay);
  /// Counts `work`, which is enqueued and waited for, as the next range of this pass.
  void range(const char* name, const std::function<void()>& work);
  const std::vector<uint8_t>& counter_image() const { return image_; }

 private:
  void configure(const CounterSchedule& schedule, size_t ranges);

  const CuptiApi& api_;
  GpuDevice& gpu_;
  std::vector<uint8_t> config_;
  std::vector<uint8_t> image_;
  CUpti_RangeProfiler_Object* profiler_ = nullptr;
  bool started_ = false;
};

/// What CUPTI calls the chip of `gpu`: "GH100".
std::string chip_of(GpuDevice& gpu);
/// Which counters this device may use right now. Throws CuptiError.
std::vector<uint8_t> counter_availability(GpuDevice& gpu);

}  // namespace attnprof
