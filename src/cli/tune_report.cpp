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
  const std::vector<GridColumn> columns = {
      {"impl", false, 0},   {"dtype", false, 2},   {"head_dim <=", true, 0},
      {"causal", false, 0}, {"window", false, 0},  {"seqlen_kv >=", true, 0},
      {"tile", false, 0},   {"speed-up", true, 1}, {"from", false, 0}};
  std::vector<GridRow> rows;
  for (const TunedEntry& e : table) {
    const TunedKey& k = e.key;
    if (k.device != device.kind || k.compute_capability != device.compute_capability) continue;
    if (!k.device_name.empty() && k.device_name != device.name) continue;
    GridRow row;
    row.cells = {{k.impl},
                 {k.dtype ? std::string(to_string(*k.dtype)) : "any"},
                 {std::to_string(k.head_dim)},
                 {k.causal ? (*k.causal ? "1" : "0") : "any"},
                 {k.window ? (*k.window == 0 ? "none" : fmt::format(">= {}", *k.window)) : "any"},
                 {std::to_string(k.seqlen_kv)},
                 {config_text(e.config)},
                 {e.speedup ? fmt::format("{:.3f}", *e.speedup) : ""},
                 {e.users ? e.origin : e.origin + " (shipped)"}};
    rows.push_back(std::move(row));
  }
  if (rows.empty()) {
    return "no tuned tiles for " + device.name + ": each implementation follows its own rule\n";
  }
  return draw_grid(columns, rows, style);
}

}  // namespace attnprof
