#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "report/columns.hpp"
#include "report/derived.hpp"
#include "report/human.hpp"
#include "report/problem_columns.hpp"

namespace attnprof {

namespace {

using R = const Record&;

struct Pair {
  const Record* baseline;
  const Record* other;
};

bool same_problem(R a, R b) {
  return a.planned.problem == b.planned.problem && a.conditions.cache == b.conditions.cache &&
         a.device.kind == b.device.kind && a.device.name == b.device.name && a.device.uuid == b.device.uuid;
}

/// Every row of the baseline's problem against it; the baseline is `naive`, else what came first.
std::vector<Pair> pair_up(const std::vector<Record>& records) {
  std::vector<std::vector<const Record*>> groups;
  for (R r : records) {
    // Rows of one problem are neighbours in a sweep: the search from the end is short.
    const auto at =
        std::find_if(groups.rbegin(), groups.rend(), [&](const auto& g) { return same_problem(*g[0], r); });
    if (at == groups.rend()) {
      groups.push_back({&r});
    } else {
      at->push_back(&r);
    }
  }
  std::vector<Pair> pairs;
  for (const auto& group : groups) {
    const auto naive =
        std::find_if(group.begin(), group.end(), [](const Record* r) { return r->planned.impl == "naive"; });
    const Record* baseline = naive == group.end() ? group.front() : *naive;
    for (const Record* r : group) {
      if (r != baseline && r->status != Status::skipped) pairs.push_back({baseline, r});
    }
  }
  return pairs;
}

bool trusted(R r) {
  return is_ok(r) && r.verify && r.verify->passed;
}

std::optional<double> time_ratio(const Pair& pair) {
  const auto from = measured_time(*pair.baseline), to = measured_time(*pair.other);
  if (!trusted(*pair.baseline) || !trusted(*pair.other) || !from || !to) return std::nullopt;
  if (from->below_resolution || to->below_resolution) return std::nullopt;
  return from->median_us / to->median_us;
}

/// Below half of what must cross HBM, the data came from a cache, and a ratio would compare noise.
bool above_floor(R r, const Traffic& bytes) {
  const auto minimum = minimum_traffic(r);
  return minimum && bytes.total() > 0 && 2 * bytes.total() >= minimum->total();
}

std::optional<double> bytes_ratio(const Pair& pair) {
  const auto from = measured_traffic(*pair.baseline), to = measured_traffic(*pair.other);
  if (!trusted(*pair.baseline) || !trusted(*pair.other) || !from || !to) return std::nullopt;
  if (pair.baseline->counters.source != pair.other->counters.source) return std::nullopt;
  if (!above_floor(*pair.baseline, *from) || !above_floor(*pair.other, *to)) return std::nullopt;
  return static_cast<double>(from->total()) / static_cast<double>(to->total());
}

std::string time_text(const Pair& pair) {
  const auto from = measured_time(*pair.baseline), to = measured_time(*pair.other);
  if (from && to) return human_time_change(from->median_us, to->median_us);
  // One side alone still says something: the fused kernel runs where the baseline does not fit.
  const auto side = [](R r, const auto& time) {
    return time ? human_time_us(time->median_us) : std::string(is_ok(r) ? "?" : to_string(r.status));
  };
  return side(*pair.baseline, from) + " -> " + side(*pair.other, to);
}

std::string bytes_text(const Pair& pair) {
  const auto from = measured_traffic(*pair.baseline), to = measured_traffic(*pair.other);
  if (!from && !to) return "";
  if (from && to)
    return human_bytes_change(static_cast<double>(from->total()), static_cast<double>(to->total()));
  const auto side = [](const auto& bytes) {
    return bytes ? human_bytes(static_cast<double>(bytes->total())) : std::string("?");
  };
  return side(from) + " -> " + side(to);
}

std::string source_text(const Pair& pair) {
  std::string from, to;
  if (measured_traffic(*pair.baseline)) from = to_string(pair.baseline->counters.source);
  if (measured_traffic(*pair.other)) to = to_string(pair.other->counters.source);
  if (from.empty() || to.empty() || from == to) return from.empty() ? to : from;
  return from + " -> " + to;
}

std::string workspace_text(const Pair& pair) {
  if (!pair.baseline->workspace_bytes || !pair.other->workspace_bytes) return "";
  const auto from = static_cast<double>(*pair.baseline->workspace_bytes);
  const auto to = static_cast<double>(*pair.other->workspace_bytes);
  return from == 0 && to == 0 ? "none" : human_bytes_change(from, to);
}

GridCell ratio_cell(const std::optional<double>& ratio) {
  if (!ratio) return {"-", Paint::dim};
  return {three_digits(*ratio) + "x", *ratio >= 1 ? Paint::good : Paint::bad};
}

/// Geometric means of the ratios of one implementation: the mean that does not depend on which side is on
/// top.
struct Mean {
  std::string impl;
  double log_time = 0, log_bytes = 0;
  int times = 0, bytes = 0;
};

std::string summary(const std::vector<Pair>& pairs, const std::string& baseline, size_t width) {
  std::vector<Mean> means;
  for (const Pair& pair : pairs) {
    const std::string& impl = pair.other->planned.impl;
    auto at = std::find_if(means.begin(), means.end(), [&](const Mean& m) { return m.impl == impl; });
    if (at == means.end()) at = means.insert(means.end(), Mean{impl});
    if (const auto ratio = time_ratio(pair)) at->log_time += std::log(*ratio), ++at->times;
    if (const auto ratio = bytes_ratio(pair)) at->log_bytes += std::log(*ratio), ++at->bytes;
  }
  std::string text;
  for (const Mean& mean : means) {
    std::string said;
    if (mean.times > 0) {
      const double ratio = std::exp(mean.log_time / mean.times);
      said = fmt::format("{}x as fast ({} {})", three_digits(ratio), mean.times,
                         mean.times == 1 ? "pair" : "pairs");
    }
    if (mean.bytes > 0) {
      const double ratio = std::exp(mean.log_bytes / mean.bytes);
      said += fmt::format("{}{}x fewer HBM bytes ({} {})", said.empty() ? "" : ", ", three_digits(ratio),
                          mean.bytes, mean.bytes == 1 ? "pair" : "pairs");
    }
    if (said.empty()) continue;
    text +=
        wrap_to_width(fmt::format("{} against {}, geometric mean: {}", mean.impl, baseline, said), width, 2);
  }
  return text;
}

}  // namespace

std::string comparison_table(const std::vector<Record>& records, const TableStyle& style) {
  const std::vector<Pair> pairs = pair_up(records);
  if (pairs.empty()) return "";
  std::vector<Record> others, both;  // the axes of the others decide what varies
  bool one_baseline = true, dash = false;
  for (const Pair& pair : pairs) {
    others.push_back(*pair.other);
    both.push_back(*pair.baseline);
    both.push_back(*pair.other);
    one_baseline = one_baseline && pair.baseline->planned.impl == pairs.front().baseline->planned.impl;
  }
  const std::string source = common_source(both);
  const ProblemLayout layout = lay_out_problems(others);
  const std::string baseline = one_baseline ? pairs.front().baseline->planned.impl : "baseline";

  std::vector<GridColumn> columns;
  for (const ProblemAxis* axis : layout.varying) columns.push_back(axis->column);
  for (const GridColumn& column : std::vector<GridColumn>{{baseline + " ->", false, 0},
                                                          {"time", true, 0},
                                                          {"faster", true, 0},
                                                          {"HBM bytes", true, 2},
                                                          {"fewer", true, 0},
                                                          {source == "mixed" ? "source" : "", false, 1},
                                                          {"workspace", true, 3}}) {
    columns.push_back(column);
  }
  std::vector<GridRow> rows;
  for (const Pair& pair : pairs) {
    GridRow row;
    for (const ProblemAxis* axis : layout.varying) row.cells.push_back({axis->text(*pair.other)});
    const std::string from = one_baseline ? "" : implementation_text(*pair.baseline) + " -> ";
    row.cells.push_back({from + implementation_text(*pair.other)});
    row.cells.push_back({time_text(pair)});
    row.cells.push_back(ratio_cell(time_ratio(pair)));
    const std::string bytes = bytes_text(pair);
    row.cells.push_back({bytes});
    row.cells.push_back(bytes.empty() ? GridCell{} : ratio_cell(bytes_ratio(pair)));
    row.cells.push_back({source == "mixed" ? source_text(pair) : ""});
    row.cells.push_back({workspace_text(pair)});
    dash = dash || !time_ratio(pair) || (!bytes.empty() && !bytes_ratio(pair));
    rows.push_back(row);
  }
  std::string text;
  for (const std::string& line : layout.heading) text += painted(line, Paint::dim, style.color) + "\n";
  if (!source.empty() && source != "mixed")
    text += painted("HBM bytes: " + source, Paint::dim, style.color) + "\n";
  text += draw_grid(columns, rows, style);
  if (dash) {
    text += wrap_to_width(
        "- no ratio: one side is not verified ok, too short for the timer, has bytes of another source, "
        "or was served by a cache (below half of the compulsory bytes)",
        line_limit(style), 2);
  }
  return text + painted(summary(pairs, baseline, line_limit(style)), Paint::bold, style.color);
}

}  // namespace attnprof
