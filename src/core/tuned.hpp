// Tiles that were measured to be good, as a table: what every command takes when no tile was asked for, on
// every kind of device. The rules inside implementations (Implementation::resolve) take over where no row
// fits.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/axis.hpp"
#include "core/device.hpp"
#include "core/problem.hpp"

namespace attnprof {

/// What a row holds for.
struct TunedKey {
  std::string impl;  ///< registry name
  DeviceKind device = DeviceKind::gpu;
  int compute_capability = 0;  ///< 90 for 9.0; 0 on the CPU
  std::string device_name;     ///< "" for any; on the CPU the model is all that tells machines apart
  /// By the name of an axis, matched as Axis::tuned says. One that is not here holds for any value.
  std::map<std::string, Cell, std::less<>> axes;

  bool operator==(const TunedKey&) const = default;
};

struct TunedEntry {
  TunedKey key;
  KernelConfig config;  ///< stages and warps may be 0: the implementation's choice for that tile
  std::optional<double> time_us, default_time_us;  ///< medians of this tile and of the one it replaced
  std::optional<double> speedup;                   ///< default_time_us / time_us
  std::optional<double> speedup_lo, speedup_hi;    ///< its 95% interval
  std::string message;                             ///< what tuning found, in words
  std::string tool_version, timestamp;             ///< of the measurement; empty for rows written by hand
  std::string origin;                              ///< file that it was read from, for messages
  bool users = false;                              ///< from the user's file: goes before a shipped row
};

/// The axes that a row of the table may name, in the order of their columns.
std::vector<const Axis*> tuned_axes();

/// The key that holds for exactly this case.
TunedKey tuned_key(const Case& c, const DeviceInfo& device);

/// "9.0" for 90; "" for 0.
std::string compute_capability_text(int compute_capability);

bool fits(const TunedKey& key, std::string_view impl, const Problem& p, const DeviceInfo& device);

/// The row for a problem: of those that fit the nearest in head_dim, then in window, then in seqlen_kv
/// (Axis::tuned_rank); of equals the user's, then the one that names most. Null when none fits.
const TunedEntry* find_tuned(const std::vector<TunedEntry>& table, std::string_view impl, const Problem& p,
                             const DeviceInfo& device);

/// `asked` with its 0 fields taken from `entry`: the tile when none was asked for, stages and warps when the
/// tile is the entry's.
KernelConfig with_tuned(const KernelConfig& asked, const TunedEntry& entry);

}  // namespace attnprof
