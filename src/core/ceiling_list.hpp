// Ceilings of a device as a list: what is measured, cached, printed and exported.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/device.hpp"
#include "core/device_ceilings.hpp"

namespace attnprof {

/// One measured rate or time.
struct CeilingValue {
  std::string name;              ///< stable: "copy", "matrix_bf16", "read_by_size", ...
  std::optional<int64_t> bytes;  ///< size of the array, where the value belongs to one
  double value = 0;              ///< positive
  std::string unit;              ///< "GB/s", "TFLOP/s", "Gexp/s", "us"
  std::string how;               ///< what was run to get it
  bool operator==(const CeilingValue&) const = default;
};

/// rows: what the rows of a sweep are held against, about a second; full: memory rates by size, and the rest.
enum class CeilingScope { rows, full };

struct CeilingList {
  CeilingScope scope = CeilingScope::rows;
  std::vector<CeilingValue> values;
  std::string message;  ///< what could not be measured, and why; "" when nothing

  /// A value that is not a positive number is no ceiling: it becomes a part of `message`.
  void add(CeilingValue value);
  /// Value of `name` among those that belong to no size.
  std::optional<double> find(std::string_view name) const;
};

/// What no quiet machine of `threads` threads (1: a GPU, too) would have measured, in words; "" when nothing:
/// all threads slower than one, a size twice or half as fast as both its neighbours, a launch that takes
/// longer than anybody's.
std::string implausible(const CeilingList& list, int threads);

/// What both lists have, at its best of the two, and what only one has: a ceiling is never lower than what
/// the device has been seen to do. Scope and message are those of `known`.
CeilingList best_of(const CeilingList& known, const CeilingList& again);

/// The same sizes on every device: powers of two from 1 MiB to `largest`.
std::vector<int64_t> ceiling_sizes(int64_t largest_bytes);

/// Of a device of `kind`: on the host, products of every dtype run on the fp32 units.
DeviceCeilings rates_of(const CeilingList& list, DeviceKind kind);

/// Where and with what they were measured: ceilings of another identity say nothing about this device.
struct CeilingIdentity {
  DeviceKind kind = DeviceKind::host;
  std::string device_name;
  std::string device_uuid;  ///< empty on the host
  std::string driver;       ///< GPU only
  std::string cuda;         ///< GPU only
  std::optional<double> power_limit_w;
  int threads = 0;       ///< host only; 0 on a GPU
  std::string hostname;  ///< of the host; empty for a GPU, which its UUID names
  std::string tool_version;
  bool operator==(const CeilingIdentity&) const = default;
};
CeilingIdentity ceiling_identity(const DeviceInfo& device, const std::string& hostname,
                                 const std::string& tool_version);

/// The first difference in words, "driver 570 then, 580 now"; "" when there is none.
std::string difference(const CeilingIdentity& then, const CeilingIdentity& now);

}  // namespace attnprof
