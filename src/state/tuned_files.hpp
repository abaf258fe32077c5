// Where tuned tiles come from: the files shipped inside the binary, and the user's.
#pragma once

#include <string>
#include <vector>

#include "core/tuned.hpp"
#include "measure/plan.hpp"

namespace attnprof {

/// $XDG_CONFIG_HOME/attnprof/tuned.csv, by default under ~/.config; "" when neither variable is set.
std::string default_tuned_file();

/// The user's file that `option` (--tuned), else ATTNPROF_TUNED, else default_tuned_file() names; "" when
/// that is `none`, or the default and not there.
std::string users_tuned_file(const std::string& option);

/// Rows of one file. Throws UsageError naming file, line and column.
std::vector<TunedEntry> read_tuned_file(const std::string& path);

/// The user's rows and the shipped ones; neither when `option` or ATTNPROF_TUNED is `none`.
std::vector<TunedEntry> load_tuned(const std::string& option);

/// plan() with the registry and the tiles of load_tuned(option).
std::vector<PlannedRow> plan_tuned(const std::vector<PlannedCase>& cases, const DeviceInfo& device,
                                   const std::string& option);

/// "tiles of 3 of 8 rows come from FILE": of `rows`, which plan_tuned() made of `cases`, those that the
/// user's file gave another configuration than they would have without it. "" without any.
std::string users_tiles_note(const std::vector<PlannedRow>& rows, const std::vector<PlannedCase>& cases,
                             const DeviceInfo& device, const std::string& option);

}  // namespace attnprof
