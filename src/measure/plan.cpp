#include "measure/plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <tuple>

#include "core/error.hpp"
#include "core/theory.hpp"
#include "core/utc.hpp"

namespace attnprof {
namespace {

/// Identity of a row within one sweep: everything of the problem, and who computes it how.
auto identity(const Case& c) {
  const Problem& p = c.problem;
  const KernelConfig& k = c.config;
  return std::make_tuple(p.pass, p.dtype, p.batch, p.heads, p.kv_heads, p.seqlen_q, p.seqlen_kv, p.head_dim,
                         p.causal, p.window, p.scale, p.fill, p.seed, c.impl, k.tile_m, k.tile_n, k.stages,
                         k.warps);
}

int64_t operand_bytes(const Problem& p) {
  return q_bytes(p) + 2 * kv_bytes(p) + o_bytes(p) + lse_bytes(p);
}

PlannedRow plan_row(const PlannedCase& typed, const DeviceInfo& device, const FindImplementation& find,
                    const std::vector<TunedEntry>& tuned) {
  PlannedRow row;
  row.planned = typed.planned;
  row.impl = &find(typed.planned.impl, device);
  row.planned.impl = row.impl->name;
  if (!typed.invalid.empty()) {
    row.planned.config = {};  // no schedule for it: one row, however many tiles were asked for
    row.status = Status::skipped;
    row.reason = typed.invalid;
    return row;
  }
  row.planned.config = choose_config(*row.impl, row.planned.problem, row.planned.config, device, tuned);
  if (Unsupported reason = row.impl->supports(row.planned, device)) {
    row.status = Status::unsupported;
    row.reason = *reason;
    return row;
  }
  row.model = row.impl->model(row.planned, device);
  row.workspace_bytes = row.impl->workspace_bytes(row.planned, device);
  row.memory_bytes = operand_bytes(row.planned.problem) + row.workspace_bytes;
  return row;
}

}  // namespace

KernelConfig choose_config(const Implementation& impl, const Problem& p, const KernelConfig& asked,
                           const DeviceInfo& device, const std::vector<TunedEntry>& tuned) {
  const std::string_view name = impl.tuned_as.empty() ? impl.name : impl.tuned_as;
  const TunedEntry* entry = find_tuned(tuned, name, p, device);
  if (entry != nullptr) {
    KernelConfig wanted = with_tuned(asked, *entry);
    if (!impl.tuned_as.empty() && asked.warps == 0) wanted.warps = 0;  // a variant has warps of its own
    const KernelConfig config = impl.resolve(p, wanted, device);
    if (!impl.supports({p, std::string(impl.name), config}, device)) return config;
  }
  return impl.resolve(p, asked, device);
}

std::vector<PlannedRow> plan(const std::vector<PlannedCase>& cases, const DeviceInfo& device,
                             const FindImplementation& find, const std::vector<TunedEntry>& tuned) {
  std::vector<PlannedRow> rows;
  std::set<decltype(identity(Case{}))> seen;
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
  const int64_t results = o_bytes(p) + lse_bytes(p);
  int64_t workspace = 0, rows = 0;
  for (const PlannedRow* row = begin; row != end; ++row) {
    if (row->status != Status::ok || row->memory_bytes > free_bytes) continue;
    workspace = std::max(workspace, row->workspace_bytes);
    ++rows;
  }
  return q_bytes(p) + 2 * kv_bytes(p) + workspace + rows * results;
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
  const Problem& p = record.planned.problem;
  const KernelConfig& c = record.planned.config;
  std::string command = fmt::format(
      "attnprof {} --device {} --impl {} --pass {} --dtype {} --batch {} --heads {} --kv-heads {} --seqlen "
      "{} "
      "--seqlen-kv {} --head-dim {} --causal {}",
      record.conditions.timed ? "sweep" : "verify",
      record.device.kind == DeviceKind::host ? "cpu" : std::to_string(record.device.index),
      record.planned.impl, to_string(p.pass), to_string(p.dtype), p.batch, p.heads, p.kv_heads, p.seqlen_q,
      p.seqlen_kv, p.head_dim, p.causal ? 1 : 0);
  if (p.window != 0) command += fmt::format(" --window {}", p.window);
  if (p.scale != 0) command += fmt::format(" --scale {}", p.scale);
  if (p.fill != Fill::normal) command += fmt::format(" --fill {}", to_string(p.fill));
  command += fmt::format(" --seed {}", p.seed);
  if (c.tile_m != 0) command += fmt::format(" --tile {}x{}", c.tile_m, c.tile_n);
  if (c.stages != 0) command += fmt::format(" --stages {}", c.stages);
  if (c.warps != 0) command += fmt::format(" --warps {}", c.warps);
  if (record.device.kind == DeviceKind::host) {
    command += fmt::format(" --threads {}", record.device.multiprocessors);
  }
  if (!record.conditions.timed) return command;
  if (!record.kernel.empty()) command += " --per-kernel";
  command += fmt::format(" --cache {}", record.conditions.cache == CacheMode::cold ? "cold" : "hot");
  if (record.conditions.rest > 0) command += fmt::format(" --rest {}", record.conditions.rest);
  return command;
}

}  // namespace attnprof
