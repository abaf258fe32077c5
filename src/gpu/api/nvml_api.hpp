// What NVML knows about a board: driver version, ECC, power limit, clocks, throttling. Declared here by hand,
// because toolkits and wheels often come without nvml.h; the names and numbers are NVML's stable ABI.
#pragma once

#include <optional>
#include <string>

namespace attnprof {

/// One board's handle; every query answers "unknown" when NVML or the board does not.
class NvmlDevice {
 public:
  NvmlDevice() = default;
  /// `uuid` as NVML prints it: "GPU-..." (or "MIG-...": then only the driver version is known).
  explicit NvmlDevice(const std::string& uuid);

  std::optional<bool> ecc() const;
  std::optional<double> power_limit_w() const;
  std::optional<int> sm_clock_mhz() const;
  /// Names joined by '|', "" when none or unknown; idle and application-clock settings are no throttling.
  std::string throttle_reasons() const;

 private:
  void* device_ = nullptr;
};

/// "580.159.04", or "" without NVML.
std::string nvml_driver_version();

/// The names of the bits of NVML's clocks-event-reasons mask that slow a kernel down.
std::string throttle_names(unsigned long long mask);

}  // namespace attnprof
