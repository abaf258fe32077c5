// What `attnprof tune` chooses for: shapes, each with the tiles that can run it.
#pragma once

#include <vector>

#include "cli/tune_report.hpp"
#include "core/tuned.hpp"
#include "measure/plan.hpp"

namespace attnprof {

/// The shapes in the order of the axes, each with its default first and the candidates that can run.
std::vector<TunedShape> shapes_of(const std::vector<PlannedCase>& cases, const DeviceInfo& device,
                                  const std::vector<TunedEntry>& table);

/// The row of the tuned file that is to hold for a case.
TunedKey key_of(const Case& c, const DeviceInfo& device, bool any_dtype);

/// Throws UsageError for two shapes that one row of the file would stand for: which of them it holds would be
/// chance.
void require_distinct_keys(const std::vector<TunedShape>& shapes, const DeviceInfo& device, bool any_dtype);

}  // namespace attnprof
