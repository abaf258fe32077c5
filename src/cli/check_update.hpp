// check --update: new rows take the place of a baseline.
#pragma once

#include <string>
#include <vector>

#include "gate/gate.hpp"

namespace attnprof {

struct BaselineUpdate {
  std::vector<std::string> baselines, news;  ///< each baseline is replaced by its new file, in order
  std::string anchor;                        ///< "" for none
};

/// Replaces each baseline by its new file, all of them or none, and makes folders that are not there.
/// `baselines`: those that exist. Returns the exit code, which does not depend on what changed, but for
/// --anchor. Throws UsageError.
int update_baselines(const BaselineUpdate& update, const std::vector<RowFile>& baselines,
                     const std::vector<RowFile>& news, const GateOptions& options);

/// "12 cases, median +1.5%, worst +2.2%".
std::string drift_text(const GateReport& report);

}  // namespace attnprof
