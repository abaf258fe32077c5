#include "cli/dry_run.hpp"

#include <fmt/format.h>

#include <map>
#include <optional>
#include <string>

#include "core/bound.hpp"
#include "rows/columns.hpp"
#include "rows/table.hpp"

namespace attnprof {
namespace {

std::string tile_text(const KernelConfig& c) {
  return c.tile_m == 0 ? "-" : fmt::format("{}x{}", c.tile_m, c.tile_n);
}

}  // namespace

int print_dry_run(const std::vector<PlannedRow>& rows, const RunConditions& run, const DeviceInfo& device,
                  int64_t free_bytes) {
  const std::optional<GpuModel> gpu = match_gpu_model(device);
  const std::string part =
      run.shard.empty() ? "" : fmt::format(" (shard {}, of {} rows)", run.shard, run.plan_rows);
  fmt::print("{} planned rows{} on {}; {} of its memory are free. Bytes follow from each schedule{}.{}\n\n",
             rows.size(), part, device.name, human_bytes(static_cast<double>(free_bytes)),
             gpu ? ", times from datasheet rates: no run can be faster" : "",
             run.rest > 0
                 ? fmt::format(" Each sample will follow a rest of {:g} times its own time.", run.rest)
                 : "");
  size_t width = 7;
  for (const PlannedRow& row : rows) width = std::max(width, describe(row.planned.problem).size());
  fmt::print("{:<{}}  {:<8} {:>8} {:>10} {:>10} {:>10}  {}\n", "problem", width, "impl", "tile", "bytes",
             "memory", gpu ? "time" : "", "status");
  std::map<std::string, int> counts;
  double total_us = 0;
  for (const PlannedRow& row : rows) {
    const bool fits = row.memory_bytes <= free_bytes;
    const Status status = row.status == Status::ok && !fits ? Status::oom : row.status;
    ++counts[std::string(to_string(status))];
    std::string bytes, memory, time;
    if (row.status == Status::ok) {
      bytes = human_bytes(static_cast<double>(row.model.hbm.total()));
      memory = human_bytes(static_cast<double>(row.memory_bytes));
      if (gpu && fits) {
        const Prediction prediction = predict(row.planned.problem, row.model, *gpu);
        total_us += prediction.total_us;
        time = human_time_us(prediction.total_us);
      }
    }
    fmt::print("{:<{}}  {:<8} {:>8} {:>10} {:>10} {:>10}  {}{}{}\n", describe(row.planned.problem), width,
               row.planned.impl, tile_text(row.planned.config), bytes, memory, time, to_string(status),
               row.reason.empty() ? "" : ": ", row.reason);
  }
  std::string line;
  for (const auto& [status, count] : counts)
    line += fmt::format("{}{} {}", line.empty() ? "" : ", ", count, status);
  fmt::print("\n{}{}\n", line,
             gpu ? fmt::format("; one launch of each at least {}", human_time_us(total_us)) : "");
  return 0;
}

}  // namespace attnprof
