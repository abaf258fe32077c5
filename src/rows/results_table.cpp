#include <fmt/format.h>

#include <algorithm>

#include "core/stats.hpp"
#include "rows/columns.hpp"
#include "rows/derived.hpp"
#include "rows/human.hpp"
#include "rows/problem_columns.hpp"

namespace attnprof {

namespace {

using R = const Record&;

constexpr const char* kIntervalTitle = "+-95%";

std::string interval_text(R r) {
  const auto time = measured_interval(r);
  if (!time) return measured_time(r) ? "-" : "";
  const double half = 50.0 * (time->hi_us - time->lo_us) / time->median_us;
  return fmt::format("{:.1f}%{}", half, time->converged ? "" : "!");
}
std::string times_minimum(R r) {
  const auto bytes = measured_traffic(r);
  const auto minimum = minimum_traffic(r);
  if (!bytes || !minimum || minimum->total() <= 0) return "";
  return three_digits(static_cast<double>(bytes->total()) / static_cast<double>(minimum->total())) + "x";
}
std::string bytes_text(R r) {
  const auto bytes = measured_traffic(r);
  return bytes ? human_bytes(static_cast<double>(bytes->total())) : "";
}
std::string source_text(R r) {
  return measured_traffic(r) ? std::string(to_string(r.counters.source)) : "";
}
std::string rate_text(R r) {
  const auto rate = tflops(r);
  return rate ? human_rate_flops(*rate * 1e12) : "";
}
std::string time_text(R r) {
  const auto time = measured_time(r);
  if (!time) return "";
  return time->below_resolution ? "< timer" : human_time_us(time->median_us);
}
std::string bandwidth_text(R r) {
  const auto rate = hbm_gbps(r);
  return rate ? three_digits(*rate) : "";
}
std::string bound_text(R r) {
  return std::string(attribution(r).bound);
}
std::string error_text(R r) {
  return r.verify ? fmt::format("{:.1e}", r.verify->rel_err) : "";
}
std::string workspace_text(R r) {
  return is_ok(r) && r.workspace_bytes ? human_bytes(static_cast<double>(*r.workspace_bytes)) : "";
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

GridRow row_of(R r, const ProblemLayout& layout, bool mixed_sources) {
  GridRow row;
  for (const ProblemAxis* axis : layout.varying) row.cells.push_back({axis->text(r)});
  row.cells.push_back({implementation_text(r)});
  for (const Figure& figure : figures()) {
    const bool shown = is_ok(r) && (figure.text != source_text || mixed_sources);
    row.cells.push_back({shown ? figure.text(r) : ""});
  }
  row.cells.push_back({is_ok(r) ? (r.message.empty() ? "ok" : "ok *") : "", status_paint(r.status)});
  if (!is_ok(r)) {
    row.tail = std::string(to_string(r.status)) + (r.message.empty() ? "" : ": " + r.message);
    row.tail_paint = status_paint(r.status);
  }
  return row;
}

/// Warnings of ok rows, each once, with how many rows it concerns; then how many rows ended how.
std::string footnotes(const std::vector<Record>& records, bool intervals_shown, const TableStyle& style) {
  std::vector<std::pair<std::string, int>> warnings, endings;
  const auto count = [](std::vector<std::pair<std::string, int>>& counts, const std::string& what) {
    const auto at =
        std::find_if(counts.begin(), counts.end(), [&](const auto& c) { return c.first == what; });
    if (at == counts.end()) {
      counts.emplace_back(what, 1);
    } else {
      ++at->second;
    }
  };
  bool unconverged = false, without_interval = false;
  for (R r : records) {
    if (is_ok(r) && !r.message.empty()) count(warnings, r.message);
    const auto time = measured_interval(r);
    unconverged = unconverged || (time && !time->converged);
    without_interval = without_interval || (!time && measured_time(r));
    count(endings, std::string(to_string(r.status)));
  }
  std::string text, total;
  for (const auto& [warning, rows] : warnings) {
    text += painted(fmt::format("* {}{}", warning, rows > 1 ? fmt::format(" ({} rows)", rows) : ""),
                    Paint::caution, style.color) +
            "\n";
  }
  if (intervals_shown && unconverged) text += "! interval wider than asked for when the time budget ended\n";
  if (intervals_shown && without_interval)
    text += fmt::format("- fewer than {} samples have no 95% interval\n", stats::kFewestForInterval);
  for (const auto& [status, rows] : endings)
    total += fmt::format("{}{} {}", total.empty() ? "" : ", ", rows, status);
  return text + fmt::format("{} {}: {}\n", records.size(), records.size() == 1 ? "row" : "rows", total);
}

}  // namespace

std::string results_table(const std::vector<Record>& records, const TableStyle& style) {
  if (records.empty()) return "no rows\n";
  const ProblemLayout layout = lay_out_problems(records);
  std::vector<GridColumn> columns;
  for (const ProblemAxis* axis : layout.varying) columns.push_back(axis->column);
  columns.push_back({"impl"});
  const std::string source = common_source(records);
  for (const Figure& figure : figures()) {
    columns.push_back(figure.column);
  }
  columns.push_back({"status", false, 1});  // a row that is not ok says so in its tail, whatever is left out
  std::vector<GridRow> rows;
  for (R r : records) rows.push_back(row_of(r, layout, source == "mixed"));

  std::string text;
  for (const std::string& line : layout.heading) text += painted(line, Paint::dim, style.color) + "\n";
  if (!source.empty() && source != "mixed")
    text += painted("HBM bytes: " + source, Paint::dim, style.color) + "\n";
  const bool intervals_shown = shows_column(columns, rows, style, kIntervalTitle);
  return text + draw_grid(columns, rows, style) + footnotes(records, intervals_shown, style);
}

}  // namespace attnprof
