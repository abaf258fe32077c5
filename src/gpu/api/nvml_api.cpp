#include "gpu/api/nvml_api.hpp"

#include <array>
#include <utility>
#include <vector>

#include "gpu/api/shared_library.hpp"

namespace attnprof {
namespace {

constexpr int kSuccess = 0;
constexpr int kClockSm = 1;

struct NvmlApi {
  SharedLibrary library{std::vector<std::string>{"libnvidia-ml.so.1"}};
  int (*init)() = nullptr;
  int (*driver_version)(char* text, unsigned length) = nullptr;
  int (*handle_by_uuid)(const char* uuid, void** device) = nullptr;
  int (*ecc_mode)(void* device, int* current, int* pending) = nullptr;
  int (*enforced_power_limit)(void* device, unsigned* milliwatts) = nullptr;
  int (*clock_info)(void* device, int type, unsigned* mhz) = nullptr;
  int (*throttle_reasons)(void* device, unsigned long long* mask) = nullptr;
  bool usable = false;

  NvmlApi() {
    usable =
        library &&
        load_symbols(library, {slot("nvmlInit_v2", init), slot("nvmlSystemGetDriverVersion", driver_version),
                               slot("nvmlDeviceGetHandleByUUID", handle_by_uuid),
                               slot("nvmlDeviceGetEccMode", ecc_mode, false),
                               slot("nvmlDeviceGetEnforcedPowerLimit", enforced_power_limit, false),
                               slot("nvmlDeviceGetClockInfo", clock_info, false),
                               slot("nvmlDeviceGetCurrentClocksThrottleReasons", throttle_reasons, false)})
            .empty() &&
        init() == kSuccess;
  }
};

const NvmlApi& nvml() {
  static const NvmlApi api;
  return api;
}

}  // namespace

NvmlDevice::NvmlDevice(const std::string& uuid) {
  if (nvml().usable && nvml().handle_by_uuid(uuid.c_str(), &device_) != kSuccess) device_ = nullptr;
}

std::optional<bool> NvmlDevice::ecc() const {
  int current = 0;
  int pending = 0;
  if (!device_ || !nvml().ecc_mode || nvml().ecc_mode(device_, &current, &pending) != kSuccess) return {};
  return current != 0;
}

std::optional<double> NvmlDevice::power_limit_w() const {
  unsigned milliwatts = 0;
  if (!device_ || !nvml().enforced_power_limit) return {};
  if (nvml().enforced_power_limit(device_, &milliwatts) != kSuccess) return {};
  return milliwatts / 1000.0;
}

std::optional<int> NvmlDevice::sm_clock_mhz() const {
  unsigned mhz = 0;
  if (!device_ || !nvml().clock_info || nvml().clock_info(device_, kClockSm, &mhz) != kSuccess) return {};
  return static_cast<int>(mhz);
}

std::string NvmlDevice::throttle_reasons() const {
  unsigned long long mask = 0;
  if (!device_ || !nvml().throttle_reasons || nvml().throttle_reasons(device_, &mask) != kSuccess) return "";
  return throttle_names(mask);
}

std::string nvml_driver_version() {
  std::array<char, 96> text{};
  if (!nvml().usable || nvml().driver_version(text.data(), text.size()) != kSuccess) return "";
  return text.data();
}

std::string throttle_names(unsigned long long mask) {
  static constexpr std::array<std::pair<unsigned long long, const char*>, 6> kReasons{{
      {0x04, "sw_power_cap"},
      {0x08, "hw_slowdown"},
      {0x10, "sync_boost"},
      {0x20, "sw_thermal"},
      {0x40, "hw_thermal"},
      {0x80, "hw_power_brake"},
  }};
  std::string names;
  for (const auto& [bit, name] : kReasons) {
    if (mask & bit) names += (names.empty() ? "" : "|") + std::string(name);
  }
  return names;
}

}  // namespace attnprof
