// From typed combinations to rows: aliases and default tiles resolved, impossible ones given their reason,
// work and memory predicted. Nothing is allocated or compiled yet.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "core/axes.hpp"
#include "core/implementation.hpp"
#include "core/record.hpp"
#include "core/tuned.hpp"

namespace attnprof {

/// One row of the CSV-to-be.
struct PlannedRow {
  Case planned;                          ///< resolved
  const Implementation* impl = nullptr;  ///< never null after plan()
  Status status = Status::ok;            ///< ok: to be measured; skipped or unsupported: `reason` says why
  std::string reason;
  ModelledWork model;
  int64_t workspace_bytes = 0;
  int64_t memory_bytes = 0;  ///< operands, results and workspace together
  int64_t plan_row = 0;      ///< place in the plan, from 1; kept when rows are left out later
};

/// Looks a name up for a device and a pass: `find_implementation` of implementations.hpp, or a test's own.
/// Where the name has no implementation of that pass, one of another pass, which refusal() then names.
using FindImplementation = std::function<const Implementation&(std::string_view, const DeviceInfo&, Pass)>;

/// Keeps the order. Combinations that resolve to the same row (a tile axis over an untiled implementation,
/// "fused" beside its own name) appear once. What was not asked for (tile, stages, warps) comes from `tuned`,
/// and from the implementation's own rule where no row fits or the row's tile is refused. Throws UsageError
/// for an unknown implementation.
std::vector<PlannedRow> plan(const std::vector<PlannedCase>& cases, const DeviceInfo& device,
                             const FindImplementation& find, const std::vector<TunedEntry>& tuned = {});

/// The configuration that `impl` runs `p` with, as plan() chooses it.
KernelConfig choose_config(const Implementation& impl, const Problem& p, const KernelConfig& asked,
                           const DeviceInfo& device, const std::vector<TunedEntry>& tuned);

/// Splits rows into runs of one problem each, in order: [begin, end) index pairs. Those are measured
/// interleaved.
std::vector<std::pair<size_t, size_t>> group_by_problem(const std::vector<PlannedRow>& rows);

/// Bytes that rows of one problem, measured together, hold at once: operands and the largest workspace once,
/// results for each. Rows that do not fit `free_bytes` alone are left out.
int64_t together_bytes(const PlannedRow* begin, const PlannedRow* end, int64_t free_bytes);

/// The record, stamped now, of a row that is not measured (or not yet): identity, model and reason, no
/// measurement.
Record blank_record(const PlannedRow& row, const DeviceInfo& device, const RunConditions& conditions);

/// The command that measures exactly this row.
std::string reproduce_command(const Record& record);

}  // namespace attnprof
