#include "cli/tune_report.hpp"

#include <fmt/format.h>

#include "rows/grid.hpp"

namespace attnprof {
namespace {

std::string config_text(const KernelConfig& k) {
  std::string text = fmt::format("{}x{}", k.tile_m, k.tile_n);
  if (k.stages != 0) text += fmt::format(" s{}", k.stages);
  if (k.warps != 0) text += fmt::format(" w{}", k.warps);
  return text;
}

std::string time_text(const std::optional<TimeStats>& time) {
  return time ? human_time_us(time->median_us) : "";
}

std::string speedup_text(const TuneOutcome& o) {
  if (!o.speedup) return "";
  return fmt::format("{:.3f} ({:.3f}..{:.3f})", *o.speedup, *o.speedup_lo, *o.speedup_hi);
}

std::string verdict(const TuneOutcome& o) {
  switch (o.end) {
    case TuneOutcome::End::better:
      return o.speedup ? "better" : o.message;
    case TuneOutcome::End::kept:
      return o.message;
    case TuneOutcome::End::interrupted:
      return "interrupted";
    case TuneOutcome::End::no_budget:
    case TuneOutcome::End::nothing_ran:
      return "not tuned: " + o.message;
  }
  return "";
}

/// For which values of an axis a row of the table holds.
std::string axis_text(const Axis& axis, const TunedKey& key) {
  const auto at = key.axes.find(axis.name);
  if (at == key.axes.end()) return "any";
  const bool none = axis.tuned == TunedMatch::from && axis.kind == AxisKind::count;
  return none && at->second == Cell(int64_t{0}) ? "none" : cell_text(at->second);
}

}  // namespace

std::string tune_table(const std::vector<TunedShape>& shapes, const TableStyle& style) {
  const std::vector<GridColumn> columns = {
      {"impl", false, 0}, {"problem", false, 0}, {"tried", true, 3}, {"default", false, 1},
      {"time", true, 2},  {"best", false, 0},    {"time", true, 1},  {"speed-up (95%)", true, 0}};
  std::vector<GridRow> rows;
  for (const TunedShape& shape : shapes) {
    const TuneOutcome& o = shape.outcome;
    const bool chosen = o.end == TuneOutcome::End::better || o.end == TuneOutcome::End::kept;
    const Case& planned = shape.rows.front().planned;
    GridRow row;
    const std::optional<TimeStats>& was = o.default_time ? o.default_time : o.best_time;
    row.cells = {{planned.impl},
                 {describe(planned.problem)},
                 {std::to_string(shape.rows.size())},
                 {config_text(planned.config)},
                 {chosen ? time_text(was) : ""},
                 {chosen ? config_text(shape.rows[o.best].planned.config) : ""},
                 {chosen ? time_text(o.best_time) : ""},
                 {o.end == TuneOutcome::End::better ? speedup_text(o) : ""}};
    row.tail = verdict(o);
    row.tail_wraps = true;  // the reason is what is left to know of a shape without a faster tile
    row.tail_paint = o.end == TuneOutcome::End::better ? Paint::good : Paint::dim;
    rows.push_back(std::move(row));
  }
  return draw_grid(columns, rows, style);
}

std::string tuned_table(const std::vector<TunedEntry>& table, const DeviceInfo& device,
                        const TableStyle& style) {
  std::vector<GridColumn> columns = {{"impl", false, 0}};
  for (const Axis* axis : tuned_axes()) {
    const char* limit = axis->tuned == TunedMatch::up_to  ? " <="
                        : axis->tuned == TunedMatch::from ? " >="
                                                          : "";
    columns.push_back(
        {fmt::format("{}{}", axis->name, limit), *limit != '\0', axis->name == "dtype" ? 2 : 0});
  }
  columns.insert(columns.end(), {{"tile", false, 0}, {"speed-up", true, 1}, {"from", false, 0}});
  std::vector<GridRow> rows;
  for (const TunedEntry& e : table) {
    const TunedKey& k = e.key;
    if (k.device != device.kind || k.compute_capability != device.compute_capability) continue;
    if (!k.device_name.empty() && k.device_name != device.name) continue;
    GridRow row;
    row.cells = {{k.impl}};
    for (const Axis* axis : tuned_axes()) row.cells.push_back({axis_text(*axis, k)});
    row.cells.push_back({config_text(e.config)});
    row.cells.push_back({e.speedup ? fmt::format("{:.3f}", *e.speedup) : ""});
    row.cells.push_back({e.users ? e.origin : e.origin + " (shipped)"});
    rows.push_back(std::move(row));
  }
  if (rows.empty()) {
    return "no tuned tiles for " + device.name + ": each implementation follows its own rule\n";
  }
  return draw_grid(columns, rows, style);
}

}  // namespace attnprof
