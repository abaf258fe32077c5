// The axis options that sweep, verify, tune and model share: as typed, then parsed into Axes.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "cli/command.hpp"
#include "core/axes.hpp"
#include "core/device.hpp"

namespace attnprof {

/// Option values as typed; empty means "not given". Lists may be given as "a,b" or as a TOML array.
struct AxisOptions {
  std::map<std::string, std::vector<std::string>, std::less<>> axes;  ///< by option of the table of axes
  std::vector<std::string> impl;
  std::string tokens, hidden, preset;
  std::string tuned;  ///< file of tuned tiles, or none
  std::string config_file;

  bool given(std::string_view option) const {
    const auto at = axes.find(option);
    return at != axes.end() && !at->second.empty();
  }
};

void setup_axis_options(Command& command, AxisOptions& options);

/// Parses every axis. What is not given follows the preset, then defaults that suit the device: on a GPU the
/// FlashAttention papers' sizing (16k tokens, heads * head_dim = 2048), on the host a size that two cores
/// finish in about a minute.
Axes parse_axes(const AxisOptions& options, DeviceKind device);

/// The planned cases of the options. Says on stderr where --hidden and --tokens are not met exactly.
std::vector<PlannedCase> planned_cases(const AxisOptions& options, DeviceKind device);

}  // namespace attnprof
