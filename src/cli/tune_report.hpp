// What `attnprof tune` prints.
#pragma once

#include <string>
#include <vector>

#include "core/tuned.hpp"
#include "measure/tuner.hpp"
#include "rows/table.hpp"

namespace attnprof {

/// One shape, tuned or not.
struct TunedShape {
  std::vector<PlannedRow> rows;  ///< its candidates, the default first
  TuneOutcome outcome;
};

/// A line per shape: default and best tile with their times, the speed-up and its interval, what was found.
std::string tune_table(const std::vector<TunedShape>& shapes, const TableStyle& style);

/// The rows that hold on `device`, and where each comes from.
std::string tuned_table(const std::vector<TunedEntry>& table, const DeviceInfo& device,
                        const TableStyle& style);

}  // namespace attnprof
