#include <fmt/format.h>

#include <algorithm>

#include "core/stats.hpp"
#include "rows/columns.hpp"
#include "rows/derived.hpp"
#include "rows/human.hpp"
#include "rows/problem_columns.hpp"

namespace attnprof {

namespace {

using R = const Row&;

constexpr const char* kIntervalTitle = "+-95%";

std::string interval_text(R r) {
  const auto time = r.number("time_us"), lo = r.number("time_lo_us"), hi = r.number("time_hi_us");
  if (!time || !lo || !hi) return time ? "-" : "";
  return fmt::format("{:.1f}%{}", 50.0 * (*hi - *lo) / *time, r.text("converged") == "0" ? "!" : "");
}
std::string times_minimum(R r) {
  const auto bytes = hbm_bytes(r), minimum = r.number("min_hbm_bytes");
  return bytes && minimum && *minimum > 0 ? three_digits(*bytes / *minimum) + "x" : "";
}
std::string bytes_text(R r) {
  const auto bytes = hbm_bytes(r);
  return bytes ? human_bytes(*bytes) : "";
}
std::string source_text(R r) {
  return hbm_bytes(r) ? std::string(r.text("bytes_source")) : "";
}
std::string rate_text(R r) {
  const auto rate = r.number("tflops");
  return rate ? human_rate_flops(*rate * 1e12) : "";
}
std::string time_text(R r) {
  const auto time = r.number("time_us");
  return !time ? "" : resolved_time_us(r) ? human_time_us(*time) : "< timer";
}
std::string bandwidth_text(R r) {
  const auto rate = r.number("hbm_gbps");
  return rate ? three_digits(*rate) : "";
}
std::string bound_text(R r) {
  return std::string(r.text("bound"));
}
std::string error_text(R r) {
  const auto error = r.number("rel_err");
  return error ? fmt::format("{:.1e}", *error) : "";
}
std::string workspace_text(R r) {
  const auto bytes = r.number("workspace_bytes");
  return bytes ? human_bytes(*bytes) : "";
}

struct Figure {
  GridColumn column;
  std::string (*text)(R);
};
const std::vector<Figure>& figures() {
  static const std::vector<Figure> all = {
      {{"time", true, 0}, time_text},           {{kIntervalTitle, true, 4}, interval_text},
      {{"rate", true, 0}, rate_text},           {{"HBM bytes", true, 0}, bytes_text},
      {{"vs min", true, 2}, times_minimum},     {{"GB/s", true, 6}, bandwidth_text},
      {{"bound", false, 6}, bound_text},        {{"source", false, 1}, source_text},
      {{"workspace", true, 5}, workspace_text}, {{"rel err", true, 3}, error_text},
  };
  return all;
}

Paint status_paint(Status status) {
  if (status == Status::ok) return Paint::good;
  if (status == Status::skipped || status == Status::unsupported) return Paint::caution;
  return Paint::bad;
}

/// "flash2 128x64", "naive"; a kernel of a launch is a part of the row above it.
std::string implementation_text(R r) {
  const std::string name = r.kernel().empty() ? std::string(r.text("impl")) : fmt::format("  {}", r.kernel());
  const std::string tile = r.tile_label();
  return tile.empty() ? name : name + " " + tile;
}

/// The source that all rows with HBM bytes share; "mixed" when they do not, "" when none has any.
std::string common_source(const std::vector<Row>& rows) {
  std::string source;
  for (R r : rows) {
    const std::string own = source_text(r);
    if (own.empty() || own == source) continue;
    if (!source.empty()) return "mixed";
    source = own;
  }
  return source;
}

GridRow grid_row(R r, const ProblemLayout& layout, bool mixed_sources) {
  GridRow row;
  for (const LayoutColumn* axis : layout.varying) row.cells.push_back({axis->text(r)});
  row.cells.push_back({implementation_text(r)});
  for (const Figure& figure : figures()) {
    const bool shown = r.ok() && (figure.text != source_text || mixed_sources);
    row.cells.push_back({shown ? figure.text(r) : ""});
  }
  const std::string message(r.text("message"));
  row.cells.push_back({r.ok() ? (message.empty() ? "ok" : "ok *") : "", status_paint(r.status())});
  if (!r.ok()) {
    row.tail = std::string(to_string(r.status())) + (message.empty() ? "" : ": " + message);
    row.tail_paint = status_paint(r.status());
    row.tail_wraps = true;  // the reason is all that there is of the row
  }
  return row;
}

/// Warnings of ok rows, each once, with how many rows it concerns; then how many rows ended how.
std::string footnotes(const std::vector<Row>& all, bool intervals_shown, const TableStyle& style) {
  Tally warnings, endings;
  bool unconverged = false, without_interval = false;
  for (R r : all) {
    if (r.ok() && !r.text("message").empty()) warnings.add(std::string(r.text("message")));
    const std::string interval = r.ok() ? interval_text(r) : "";
    unconverged = unconverged || interval.ends_with('!');
    without_interval = without_interval || interval == "-";
    endings.add(std::string(to_string(r.status())));
  }
  std::string text, total;
  for (const auto& [warning, rows] : warnings.items) {
    text += painted(fmt::format("* {}{}", warning, rows > 1 ? fmt::format(" ({} rows)", rows) : ""),
                    Paint::caution, style.color) +
            "\n";
  }
  if (intervals_shown && unconverged) text += "! interval wider than asked for when the time budget ended\n";
  if (intervals_shown && without_interval)
    text += fmt::format("- fewer than {} samples have no 95% interval\n", stats::kFewestForInterval);
  for (const auto& [status, rows] : endings.items)
    total += fmt::format("{}{} {}", total.empty() ? "" : ", ", rows, status);
  return text + fmt::format("{}: {}\n", number_of(all.size(), "row"), total);
}

}  // namespace

std::string results_table(const std::vector<Row>& all, const TableStyle& style) {
  if (all.empty()) return "no rows\n";
  const ProblemLayout layout = lay_out_problems(all);
  std::vector<GridColumn> columns;
  for (const LayoutColumn* axis : layout.varying) columns.push_back(axis->column);
  columns.push_back({"impl"});
  const std::string source = common_source(all);
  for (const Figure& figure : figures()) columns.push_back(figure.column);
  columns.push_back({"status", false, 1});  // a row that is not ok says so in its tail, whatever is left out
  std::vector<GridRow> rows;
  for (R r : all) rows.push_back(grid_row(r, layout, source == "mixed"));

  std::string text;
  for (const std::string& line : layout.heading) text += painted(line, Paint::dim, style.color) + "\n";
  if (!source.empty() && source != "mixed")
    text += painted("HBM bytes: " + source, Paint::dim, style.color) + "\n";
  const bool intervals_shown = shows_column(columns, rows, style, kIntervalTitle);
  return text + draw_grid(columns, rows, style) + footnotes(all, intervals_shown, style);
}

}  // namespace attnprof
