// Which tile suits which problem on which device, as measured: the rows that `attnprof tune` writes, and the
// choice between them. Implementations' own rules (Implementation::resolve) take over where no row fits.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/device.hpp"
#include "core/problem.hpp"

namespace attnprof {

/// What a row holds for. Optional fields that are absent hold for any value.
struct TunedKey {
  std::string impl;  ///< registry name
  DeviceKind device = DeviceKind::gpu;
  int compute_capability = 0;  ///< 90 for 9.0; 0 on the CPU
  std::string device_name;     ///< "" for any; on the CPU the model is all that tells machines apart
  std::optional<DType> dtype;
  int64_t head_dim = 0;  ///< up to this one, and above half of it: what suits 128 columns says nothing of 32
  std::optional<bool> causal;
  std::optional<int64_t> window;  ///< 0: no window; W: windows of W keys and more
  int64_t seqlen_kv = 0;          ///< from this one on; 0: from the shortest

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

/// "9.0" for 90; "" for 0.
std::string compute_capability_text(int compute_capability);

bool fits(const TunedKey& key, std::string_view impl, const Problem& p, const DeviceInfo& device);

/// The row for a problem: of those that fit the nearest in head_dim, then in window, then in seqlen_kv; of
/// equals the user's, then the one that names most of causal, dtype and device_name. Null when none fits.
const TunedEntry* find_tuned(const std::vector<TunedEntry>& table, std::string_view impl, const Problem& p,
                             const DeviceInfo& device);

/// `asked` with its 0 fields taken from `entry`: the tile when none was asked for, stages and warps when the
/// tile is the entry's.
KernelConfig with_tuned(const KernelConfig& asked, const TunedEntry& entry);

}  // namespace attnprof
