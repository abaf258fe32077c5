// The options of `attnprof sweep` and `attnprof verify`.
#pragma once

#include <optional>
#include <string>

#include "cli/axis_options.hpp"
#include "cli/command.hpp"
#include "measure/runner.hpp"

namespace attnprof {

struct SweepOptions {
  AxisOptions axes;
  bool timed = true;  ///< false: `verify`
  std::string device = "auto";
  int threads = 0;
  std::string csv, json;
  bool resume = false, overwrite = false;
  std::optional<std::string> shard;  ///< as typed
  bool dry_run = false;
  bool quiet = false;
  std::string cache = "cold";
  std::string counters = "auto";
  bool require_counters = false;
  bool no_drain = false;
  bool no_ceilings = false;
  RunOptions run;

  /// Rows go to stdout, so nothing else may.
  bool writes_stdout() const { return csv == "-" || json == "-"; }
};

void setup(Command& command, SweepOptions& options);

/// Rules that concern several options. Throws UsageError.
void check(const SweepOptions& options);

}  // namespace attnprof
