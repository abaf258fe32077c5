#include "rows/problem_columns.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/axis.hpp"

namespace attnprof {

namespace {

using R = const Row&;

CellTexts cells_of(R r) {
  return [&r](std::string_view column) { return r.text(column); };
}

/// Axes that show as one column: heads and kv_heads, causal and window.
using Group = std::vector<const Axis*>;

std::string title_of(const Axis& axis) {
  return std::string(axis.title.empty() ? axis.option : axis.title);
}

std::vector<Group> groups() {
  std::vector<const Axis*> outermost_first;
  for (const Axis& axis : axes()) {
    if (!axis.tiling) outermost_first.push_back(&axis);
  }
  std::stable_sort(outermost_first.begin(), outermost_first.end(),
                   [](const Axis* a, const Axis* b) { return a->nesting < b->nesting; });
  std::vector<Group> all;
  for (const Axis* axis : outermost_first) {
    const auto own = std::find_if(all.begin(), all.end(),
                                  [&](const Group& g) { return title_of(*g.front()) == title_of(*axis); });
    if (own == all.end()) {
      all.push_back({axis});
    } else {
      own->push_back(axis);
    }
  }
  for (Group& group : all) {  // as in the table: "causal window 4k"
    std::sort(group.begin(), group.end());
  }
  return all;
}

bool is_neutral(const Group& group, R r) {
  const Case c = case_of(cells_of(r));
  return std::all_of(group.begin(), group.end(), [&c](const Axis* axis) { return axis->is_neutral(c); });
}

std::string value_text(const Axis& axis, R r) {
  const std::string_view text = r.text(axis.name);
  const std::optional<double> value = cell_number(text);
  if (axis.kind == AxisKind::number && value) return fmt::format("{:.4g}", *value);
  const bool counted = axis.kind == AxisKind::size || axis.kind == AxisKind::count;
  return counted && value && *value < 1e15 ? human_count(static_cast<int64_t>(*value)) : std::string(text);
}

std::string text_of(const Group& group, R r) {
  const Axis& first = *group.front();
  if (!first.neutral_text.empty() && is_neutral(group, r)) return std::string(first.neutral_text);
  std::string text = group.size() > 1 && first.kind == AxisKind::flag ? label_part(first, cells_of(r))
                                                                      : value_text(first, r);
  for (size_t i = 1; i < group.size(); ++i) text += label_part(*group[i], cells_of(r));
  return text.substr(std::min(text.find_first_not_of(' '), text.size()));
}

std::string heading_of(const Group& group, R r) {
  const Axis& first = *group.front();
  if (!first.always_said && is_neutral(group, r)) return std::string(first.neutral_heading);
  const bool speaks_for_itself =
      !first.neutral_heading.empty() || (first.kind == AxisKind::word && first.always_said);
  if (speaks_for_itself) return text_of(group, r);
  const std::string title = title_of(first);
  return fmt::format("{} {}", title.size() == 1 ? first.name : title, text_of(group, r));
}

std::string device_line(R r) {
  const std::string_view name = r.text("device_name");
  return fmt::format("{}{}{}", r.text("device"), name.empty() ? "" : ": ", name);
}
std::string rest_text(R r) {
  const std::optional<double> rest = r.number("rest");
  return rest ? fmt::format("{:g}x", *rest) : "none";
}

const std::vector<LayoutColumn>& layout_columns() {
  static const std::vector<LayoutColumn> all = [] {
    std::vector<LayoutColumn> columns{{{"device"}, device_line, device_line},
                                      {{"cache"},
                                       [](R r) { return std::string(r.text("cache")); },
                                       [](R r) { return fmt::format("{} cache", r.text("cache")); }},
                                      {{"rest", true}, rest_text, [](R r) {
                                         return r.text("rest").empty() ? std::string()
                                                                       : "rests of " + rest_text(r);
                                       }}};
    for (const Group& group : groups()) {
      const bool number = group.front()->kind != AxisKind::word && group.front()->kind != AxisKind::flag;
      columns.push_back({{title_of(*group.front()), number},
                         [group](R r) { return text_of(group, r); },
                         [group](R r) { return heading_of(group, r); }});
    }
    return columns;
  }();
  return all;
}

}  // namespace

ProblemLayout lay_out_problems(const std::vector<Row>& rows) {
  ProblemLayout layout;
  if (rows.empty()) return layout;
  constexpr size_t kOfTheRun = 2;  // device and cache share the first line of the heading
  std::string run, common;
  for (size_t i = 0; i < layout_columns().size(); ++i) {
    const LayoutColumn& column = layout_columns()[i];
    const std::string first = column.text(rows.front());
    if (!std::all_of(rows.begin(), rows.end(), [&](R r) { return column.text(r) == first; })) {
      layout.varying.push_back(&column);
      continue;
    }
    const std::string said = column.heading(rows.front());
    std::string& line = i < kOfTheRun ? run : common;
    if (!said.empty()) line += (line.empty() ? "" : ", ") + said;
  }
  for (const std::string& line : {run, common}) {
    if (!line.empty()) layout.heading.push_back(line);
  }
  return layout;
}

}  // namespace attnprof
