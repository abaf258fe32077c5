#include "core/axis.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace attnprof {
std::vector<Axis>& added_axes() {
  static std::vector<Axis> added;
  return added;
}

const std::vector<Axis>& axes() {
  static const std::vector<Axis> all = [] {
    std::vector<Axis> table = built_in_axes();
    for (const Axis& axis : added_axes()) table.push_back(axis);
    return table;
  }();
  return all;
}

const Axis* find_axis(std::string_view name) {
  const auto at = std::find_if(axes().begin(), axes().end(), [&](const Axis& a) { return a.name == name; });
  return at == axes().end() ? nullptr : &*at;
}

const std::vector<std::vector<const Axis*>>& axis_options() {
  static const std::vector<std::vector<const Axis*>> groups = [] {
    std::vector<std::vector<const Axis*>> all;
    for (const Axis& axis : axes()) {
      if (all.empty() || all.back().front()->option != axis.option) all.emplace_back();
      all.back().push_back(&axis);
    }
    return all;
  }();
  return groups;
}

Cell Axis::cell(const Case& c) const {
  if (empty_when_neutral && is_neutral(c)) return std::monostate{};
  return shown ? shown(c) : field.get(c);
}

std::string identity(const Case& c) {
  std::string key = c.impl;
  for (const Axis& axis : axes()) key += '\x1f' + key_part(cell_text(axis.cell(c)));
  return key;
}

std::vector<std::string> features(const Case& c) {
  std::vector<std::string> all;
  for (const Axis& axis : axes()) {
    const std::string feature = axis.feature ? axis.feature(c) : std::string();
    if (!feature.empty()) all.push_back(feature);
  }
  return all;
}

std::string typed_options(const Case& c) {
  std::string text;
  for (const std::vector<const Axis*>& parts : axis_options()) {
    const Axis& first = *parts.front();
    if (!first.always_typed && first.is_neutral(c)) continue;
    text += fmt::format(" --{} ", first.option);
    for (const Axis* part : parts) text += (part == &first ? "" : "x") + cell_text(part->field.get(c));
  }
  return text;
}

std::string problem_label(const std::function<std::string(const Axis&)>& cell) {
  std::string label;
  for (const Axis& axis : axes()) {
    if (axis.label.empty() || axis.tiling) continue;
    const std::string text = cell(axis);
    const bool silent = axis.same_as.empty()
                            ? !axis.always_said && (text.empty() || text == cell_text(axis.neutral()))
                            : text == cell(*find_axis(axis.same_as));
    if (silent) continue;
    const auto value =
        axis.kind == AxisKind::size || axis.kind == AxisKind::count ? cell_number(text) : std::nullopt;
    label += fmt::format(fmt::runtime(axis.label), value          ? human_count(static_cast<int64_t>(*value))
                                                   : text.empty() ? "?"
                                                                  : text);
  }
  return label;
}

std::string describe(const Problem& p) {
  const Case c{p, "", {}};
  return problem_label([&c](const Axis& axis) { return cell_text(axis.cell(c)); });
}

}  // namespace attnprof
