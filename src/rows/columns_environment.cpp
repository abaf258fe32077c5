// Columns that let files from several machines be told apart, trusted and repeated.
#include "core/tuned.hpp"
#include "rows/column_groups.hpp"

namespace attnprof {

namespace {

using R = const Record&;

}  // namespace

std::vector<Column> environment_columns() {
  return {
      {"device_name", "", "model of the GPU or processor", false,
       [](R r) { return text_cell(r.device.name); }},
      {"device_uuid", "", "UUID of the GPU", false, [](R r) { return text_cell(r.device.uuid); }},
      {"compute_capability", "", "of the GPU: 9.0", false,
       [](R r) { return text_cell(compute_capability_text(r.device.compute_capability)); }},
      {"driver", "", "GPU driver version", false, [](R r) { return text_cell(r.device.driver_version); }},
      {"cuda", "", "version of the CUDA parts used at run time", false,
       [](R r) { return text_cell(r.device.cuda_version); }},
      {"library", "", "library that computed the case, with its version; empty for attnprof's own kernels",
       false, [](R r) { return text_cell(r.library); }},
      {"ecc", "0/1", "ECC of the device memory on", false, [](R r) { return cell_of(r.device.ecc); }},
      {"power_limit_w", "W", "power limit in force (NVML)", false,
       [](R r) { return cell_of(r.device.power_limit_w); }},
      {"sm_clock_mhz", "MHz", "SM clock seen while measuring, median over its turns (NVML)", false,
       [](R r) { return cell_of(r.clocks.sm_mhz); }},
      {"throttle", "", "throttle reasons seen while measuring, joined by |", false,
       [](R r) { return text_cell(r.clocks.throttle_reasons); }},
      {"tool_version", "", "version of attnprof", false,
       [](R r) { return text_cell(r.conditions.tool_version); }},
      {"timestamp", "", "when the row was measured, UTC, ISO 8601", false,
       [](R r) { return text_cell(r.conditions.timestamp); }},
      {"hostname", "", "name of the machine", false, [](R r) { return text_cell(r.conditions.hostname); }},
      {"plan", "", "name of the sweep's plan: the same in all shards of one sweep", false,
       [](R r) { return text_cell(r.conditions.plan); }},
      {"plan_row", "", "place of the row in the plan, from 1: what `attnprof merge` orders by", false,
       [](R r) -> Cell { return r.conditions.plan.empty() ? Cell() : Cell(r.plan_row); }},
      {"plan_rows", "", "rows that the plan has, in all shards together", false,
       [](R r) { return nonzero_cell(r.conditions.plan_rows); }},
      {"shard", "",
       "part of the sweep that measured the row: 2 of 4 (2/4 is a date to a spreadsheet); empty when not "
       "split",
       false, [](R r) { return text_cell(r.conditions.shard); }},
      {"command", "", "repeats this row", false, [](R r) { return text_cell(r.conditions.command); }},
  };
}

}  // namespace attnprof
