// Where tuned tiles come from: the files shipped inside the binary, and the user's.
#pragma once

#include <string>
#include <vector>

#include "core/tuned.hpp"
#include "measure/plan.hpp"

namespace attnprof {

/// $XDG_CONFIG_HOME/attnprof/tuned.csv, by default under ~/.config; "" when neither variable is set.
std::string default_tuned_file();

/// Rows of one file. Throws UsageError naming file, line and column.
std::vector<TunedEntry> read_tuned_file(const std::string& path);

/// The rows of the user's file, and the shipped ones. The file is the one that `option` (--tuned), else
/// ATTNPROF_TUNED, else default_tuned_file() names; with `none` there are no rows at all.
std::vector<TunedEntry> load_tuned(const std::string& option);

/// "tiles of 3 of 8 rows come from FILE": of `rows`, which plan() made of `cases` and `tuned`, those that the
/// user's file gave another configuration than they would have without it. "" without any.
std::string users_tiles_note(const std::vector<PlannedRow>& rows, const std::vector<PlannedCase>& cases,
                             const DeviceInfo& device, std::vector<TunedEntry> tuned);

}  // namespace attnprof
