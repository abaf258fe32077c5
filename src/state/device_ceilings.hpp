// The ceilings of a device, from the user's cache folder or measured now.
#pragma once

#include <filesystem>
#include <functional>
#include <string>

#include "core/cached_file.hpp"
#include "core/device.hpp"
#include "state/ceilings_text.hpp"

namespace attnprof {

/// Says one line to the user; empty: nothing is said.
using Tell = std::function<void(const std::string&)>;

/// Measures; the device's own function, or a test's.
using MeasureCeilings = std::function<CeilingList(Device&, CeilingScope)>;
CeilingList measure_device_ceilings(Device& device, CeilingScope scope);

struct CeilingRequest {
  CeilingScope scope = CeilingScope::full;
  bool refresh = false;      ///< measure even when the cache has them
  bool cached_only = false;  ///< never measure: an empty list when the cache has none
  std::filesystem::path folder = default_cache_folder();
  std::string hostname;
  std::string tool_version;
  Tell warn{};  ///< hears what is wrong with a cache file
};

/// A cached list serves when it was measured with the same device, driver, CUDA, power limit, threads and
/// version, and covers the scope. Otherwise measures, and keeps what was measured completely. What is wrong
/// with a cache file (damaged, not writable) goes to request.warn; it never stops anything.
/// Why it measures is said through `announce` just before, unless that is empty.
CeilingReport device_ceilings(Device& device, const CeilingRequest& request, const Tell& announce = {},
                              const MeasureCeilings& measure = measure_device_ceilings);

/// Measures what a sweep needs once more, after a row has gone above `known`: a machine that was busy then
/// gave ceilings that are too low. The best of both is kept.
CeilingReport better_ceilings(Device& device, const CeilingRequest& request, const CeilingReport& known,
                              const MeasureCeilings& measure = measure_device_ceilings);

/// Where the ceilings of this device are kept: one file each.
std::filesystem::path ceilings_file(const std::filesystem::path& folder, const CeilingIdentity& identity);

}  // namespace attnprof
