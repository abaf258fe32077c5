#include "state/continued_file.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/error.hpp"
#include "rows/csv.hpp"
#include "rows/human.hpp"
#include "rows/rows.hpp"
#include "state/resume.hpp"

namespace attnprof {

namespace {

/// Keys of the rows that --per-kernel adds to `row`.
std::vector<std::string> kernel_keys(const PlannedRow& row, const DeviceInfo& device,
                                     const RunConditions& run) {
  std::vector<std::string> keys;
  if (row.status != Status::ok) return keys;
  const std::vector<ModelledStep> steps = row.impl->steps(row.planned, device);
  if (steps.size() < 2) return keys;
  Record record = blank_record(row, device, run);
  for (const ModelledStep& step : steps) {
    record.kernel = step.name;
    keys.push_back(record_key(record));
  }
  return keys;
}

/// Throws UsageError naming file, line and column unless every row of the file is as a sweep writes it: a row
/// with a damaged figure must not count as measured. Takes the table out of `info`.
void require_whole_rows(ResumeInfo& info, const std::string& path) {
  if (info.untimed > 0 && info.timed == 0) {
    throw UsageError(fmt::format(
        "cannot continue '{}': {} of its rows have no time (written by `attnprof verify`); choose "
        "a new file",
        path, info.untimed));
  }
  try {
    if (info.untimed > 0) {
      throw UsageError(
          fmt::format("{}:{}: column 'time_us': is empty, though status is ok", path, info.untimed_line));
    }
    if (info.table.rows.empty()) return;
    for (const Row& row : rows_of(std::move(info.table), Duplicates::keep).rows) {
      if (row.ok() && !row.verified())
        throw UsageError(
            fmt::format("{}: status is ok, but it is not verified: {}", row.where(), row.why_unverified()));
    }
  } catch (const UsageError& error) {
    throw UsageError(fmt::format("cannot continue: {}; delete that line to measure it again", error.what()));
  }
}

/// A file holds rows of single kernels of every launch that has several, or of none. `left`: what is to be
/// measured without them.
void require_no_kernels(const ResumeInfo& info, const std::vector<PlannedRow>& left, const std::string& path,
                        const DeviceInfo& device, const RunConditions& run) {
  if (info.kernel_line == 0) return;
  const bool mixes = std::any_of(left.begin(), left.end(), [&](const PlannedRow& row) {
    return !kernel_keys(row, device, run).empty();
  });
  if (!mixes) return;
  throw UsageError(fmt::format(
      "cannot continue '{}' without --per-kernel: line {} is about a single kernel, and the rows that "
      "are left have kernels of their own; give --per-kernel, or choose a new file",
      path, info.kernel_line));
}

}  // namespace

Finished drop_finished(std::vector<PlannedRow>& rows, const std::string& path, bool per_kernel,
                       const DeviceInfo& device, const RunConditions& run) {
  ResumeInfo info = read_resume(path);
  require_same_device(info, device, run.hostname, path);
  require_whole_rows(info, path);
  Finished finished;
  size_t again = 0;
  std::erase_if(rows, [&](const PlannedRow& row) {
    const auto found = info.status_by_key.find(record_key(blank_record(row, device, run)));
    if (found == info.status_by_key.end()) return false;
    if (row.status == Status::ok && found->second == to_string(Status::skipped)) {
      throw UsageError(
          fmt::format("cannot continue '{}': its row of {} {} was not run (written by `attnprof model` or "
                      "`tune`); choose "
                      "a new file",
                      path, row.planned.impl, describe(row.planned.problem)));
    }
    if (per_kernel && found->second == to_string(Status::ok)) {
      const std::vector<std::string> keys = kernel_keys(row, device, run);
      if (!std::all_of(keys.begin(), keys.end(), [&](const std::string& key) { return info.has(key); })) {
        finished.half.insert(found->first);
        for (const std::string& key : keys) {
          if (info.has(key)) finished.half.insert(key);
        }
        ++again;
        return false;
      }
    }
    ++finished.rows;
    finished.ok += found->second == to_string(Status::ok);
    for (Status bad : {Status::failed, Status::verify_failed, Status::no_samples}) {
      finished.failed += found->second == to_string(bad);
    }
    return true;
  });
  if (!per_kernel) require_no_kernels(info, rows, path, device, run);
  if (again > 0) {
    finished.note = fmt::format(
        "'{}' lacks rows of single kernels of {}: {} measured again for these, and the rows that it has stay",
        path, number_of(again, "case"), again == 1 ? "it is" : "they are");
  }
  return finished;
}

}  // namespace attnprof
