// The axis options that sweep, verify and model share: as typed, then parsed into Axes.
#pragma once

#include <string>
#include <vector>

#include "cli/command.hpp"
#include "core/axes.hpp"
#include "core/device.hpp"

namespace attnprof {

/// Option values as typed; empty means "not given". Lists may be given as "a,b" or as a TOML array.
struct AxisOptions {
  std::vector<std::string> seqlen, seqlen_kv, head_dim, heads, kv_heads, batch, causal, dtype, tile, impl,
      pass, window;
  std::vector<std::string> stages, warps;
  std::string tokens, hidden, preset;
  std::string tuned;  ///< file of tuned tiles, or none
  double scale = 0.0;
  std::string fill = "normal";
  std::string seed = "1";
  std::string config_file;
};

void setup_axis_options(Command& command, AxisOptions& options);

/// Parses every axis. What is not given follows the preset, then defaults that suit the device: on a GPU the
/// FlashAttention papers' sizing (16k tokens, heads * head_dim = 2048), on the host a size that two cores
/// finish in about a minute.
Axes parse_axes(const AxisOptions& options, DeviceKind device);

/// expand() over the axes and over the stages and warps lists.
std::vector<PlannedCase> planned_cases(const AxisOptions& options, DeviceKind device);

}  // namespace attnprof
