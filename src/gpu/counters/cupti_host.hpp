// The half of CUPTI's profiler that needs no GPU: which counters a chip has, how many replays they take, and
// what a counter image says.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "gpu/api/cupti_api.hpp"

namespace attnprof {

/// Chips that CUPTI can describe: "GA100", "GH100", ... Empty when CUPTI is missing.
std::vector<std::string> cupti_chips();

/// One set of counters on one chip, scheduled into passes. Throws CuptiError, cause "metric", when the chip
/// does not have one of them; "unsupported" for a chip that CUPTI does not know; "missing" without CUPTI.
class CounterSchedule {
 public:
  /// `availability`: image of the running device (CUPTI on shared or restricted devices), or empty.
  CounterSchedule(const std::string& chip, const std::vector<std::string>& metrics,
                  std::vector<uint8_t> availability = {});

  const std::vector<std::string>& metrics() const { return metrics_; }
  const std::vector<uint8_t>& config_image() const { return config_; }
  int passes() const { return passes_; }
  /// Values of all metrics, in order, of range `range` in a decoded counter image.
  std::vector<double> evaluate(std::span<const uint8_t> counter_image, size_t range) const;

 private:
  struct EndHost {
    void operator()(CUpti_Profiler_Host_Object* host) const;
  };

  const CuptiApi* api_;
  std::vector<std::string> metrics_;
  std::vector<const char*> names_;
  std::vector<uint8_t> availability_;
  std::vector<uint8_t> config_;
  std::unique_ptr<CUpti_Profiler_Host_Object, EndHost> host_;
  int passes_ = 0;
};

/// True when `chip` has `metric`.
bool chip_has_metric(const std::string& chip, const std::string& metric);

}  // namespace attnprof
