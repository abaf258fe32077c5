#include "measure/plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "core/axis.hpp"
#include "core/tensors.hpp"
#include "core/utc.hpp"

namespace attnprof {
namespace {

PlannedRow plan_row(const PlannedCase& typed, const DeviceInfo& device, const FindImplementation& find,
                    const std::vector<TunedEntry>& tuned) {
  PlannedRow row;
  row.planned = typed.planned;
  row.impl = &find(typed.planned.impl, device, typed.planned.problem.pass);
  row.planned.impl = row.impl->name;
  if (!typed.invalid.empty()) {
    row.planned.config = {};  // no schedule for it: one row, however many tiles were asked for
    row.status = Status::skipped;
    row.reason = typed.invalid;
    return row;
  }
  row.planned.config = choose_config(*row.impl, row.planned.problem, row.planned.config, device, tuned);
  if (Unsupported reason = refusal(*row.impl, row.planned, device)) {
    row.status = Status::unsupported;
    row.reason = *reason;
    return row;
  }
  row.model = row.impl->model(row.planned, device);
  row.workspace_bytes = row.impl->workspace(row.planned, device);
  row.memory_bytes = tensor_bytes(row.planned.problem) + row.workspace_bytes;
  return row;
}

}  // namespace

KernelConfig choose_config(const Implementation& impl, const Problem& p, const KernelConfig& asked,
                           const DeviceInfo& device, const std::vector<TunedEntry>& tuned) {
  const std::string& name = impl.tuned_as.empty() ? impl.name : impl.tuned_as;
  const TunedEntry* entry = find_tuned(tuned, name, p, device);
  if (entry != nullptr) {
    KernelConfig wanted = with_tuned(asked, *entry);
    if (!impl.tuned_as.empty() && asked.warps == 0) wanted.warps = 0;  // a variant has warps of its own
    const KernelConfig config = impl.resolved(p, wanted, device);
    if (!refusal(impl, {p, impl.name, config}, device)) return config;
  }
  return impl.resolved(p, asked, device);
}

std::vector<PlannedRow> plan(const std::vector<PlannedCase>& cases, const DeviceInfo& device,
                             const FindImplementation& find, const std::vector<TunedEntry>& tuned) {
  std::vector<PlannedRow> rows;
  std::set<std::string> seen;
  for (const PlannedCase& typed : cases) {
    PlannedRow row = plan_row(typed, device, find, tuned);
    if (!seen.insert(identity(row.planned)).second) continue;
    row.plan_row = static_cast<int64_t>(rows.size()) + 1;
    rows.push_back(std::move(row));
  }
  return rows;
}

std::vector<std::pair<size_t, size_t>> group_by_problem(const std::vector<PlannedRow>& rows) {
  std::vector<std::pair<size_t, size_t>> groups;
  for (size_t i = 0; i < rows.size(); ++i) {
    if (i > 0 && rows[i].planned.problem == rows[i - 1].planned.problem) {
      groups.back().second = i + 1;
    } else {
      groups.emplace_back(i, i + 1);
    }
  }
  return groups;
}

int64_t together_bytes(const PlannedRow* begin, const PlannedRow* end, int64_t free_bytes) {
  const Problem& p = begin->planned.problem;
  int64_t workspace = 0, rows = 0;
  for (const PlannedRow* row = begin; row != end; ++row) {
    if (row->status != Status::ok || row->memory_bytes > free_bytes) continue;
    workspace = std::max(workspace, row->workspace_bytes);
    ++rows;
  }
  return tensor_bytes(p) - output_bytes(p) + workspace + rows * output_bytes(p);
}

Record blank_record(const PlannedRow& row, const DeviceInfo& device, const RunConditions& conditions) {
  Record record;
  record.planned = row.planned;
  record.device = device;
  record.conditions = conditions;
  record.conditions.timestamp = utc_now();
  record.status = row.status;
  record.message = row.reason;
  record.plan_row = row.plan_row;
  if (row.status == Status::ok) {
    record.model = row.model;
    record.workspace_bytes = row.workspace_bytes;
  }
  record.conditions.command = reproduce_command(record);
  return record;
}

std::string reproduce_command(const Record& record) {
  const bool host = record.device.kind == DeviceKind::host;
  std::string command = fmt::format(
      "attnprof {} --device {} --impl {}{}", record.conditions.timed ? "sweep" : "verify",
      host ? "cpu" : std::to_string(record.device.index), record.planned.impl, typed_options(record.planned));
  if (host) command += fmt::format(" --threads {}", record.device.multiprocessors);
  if (!record.conditions.timed) return command;
  if (!record.kernel.empty()) command += " --per-kernel";
  command += fmt::format(" --cache {}", record.conditions.cache == CacheMode::cold ? "cold" : "hot");
  if (record.conditions.rest > 0) command += fmt::format(" --rest {}", record.conditions.rest);
  return command;
}

}  // namespace attnprof
