// Rows about the single kernels (host: passes) of a case that launches several.
#pragma once

#include <vector>

#include "core/counter_source.hpp"
#include "core/device.hpp"
#include "core/record.hpp"
#include "measure/runner.hpp"

namespace attnprof {

/// One record per step of `work`, in order; none for an implementation of a single kernel, nor for a case
/// that is not ok. Identity, conditions and verification are those of `whole`. GPU: time from activity
/// records of several launches, bytes and FLOPs from a range around each step; without `counters` nothing can
/// be said, and nothing is. Host: time and counted bytes of each pass within whole launches. A step that
/// could not be measured is a row that says so; `whole` is never changed.
std::vector<Record> kernel_records(const Record& whole, const PlannedRow& row, Device& device,
                                   CounterSource* counters, Prepared& work, const RunOptions& options);

}  // namespace attnprof
