#include "core/axis.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

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

std::string label_part(const Axis& axis, const CellTexts& cells) {
  if (axis.label.empty() || axis.tiling) return "";
  const std::string_view text = cells(axis.name);
  const bool silent = axis.same_as.empty()
                          ? !axis.always_said && (text.empty() || text == cell_text(axis.neutral()))
                          : text == cells(axis.same_as);
  if (silent) return "";
  const bool whole = axis.kind == AxisKind::size || axis.kind == AxisKind::count;
  const std::optional<double> value = whole ? cell_number(text) : std::nullopt;
  return fmt::format(fmt::runtime(axis.label), value          ? human_count(static_cast<int64_t>(*value))
                                               : text.empty() ? std::string("?")
                                                              : std::string(text));
}

std::string problem_label(const CellTexts& cells) {
  std::string label;
  for (const Axis& axis : axes()) label += label_part(axis, cells);
  return label;
}

std::string describe(const Problem& p) {
  const Case c{p, "", {}};
  std::vector<std::string> texts;
  for (const Axis& axis : axes()) texts.push_back(cell_text(axis.cell(c)));
  return problem_label([&texts](std::string_view column) {
    return std::string_view(texts[static_cast<size_t>(find_axis(column) - axes().data())]);
  });
}

Case case_of(const CellTexts& cells) {
  Case c;
  c.impl = cells("impl");
  for (const Axis& axis : axes()) {
    const std::string_view text = cells(axis.name);
    axis.field.set(c, axis.neutral());
    // What is shown may follow from other axes: then nothing was set.
    if (key_part(text) == key_part(cell_text(axis.cell(c)))) continue;
    if (axis.kind == AxisKind::word) {
      const auto is_own = [&](const AxisWord& word) { return word.word == text; };
      if (std::any_of(axis.words.begin(), axis.words.end(), is_own)) axis.field.set(c, std::string(text));
      continue;
    }
    int64_t whole = 0;  // all of 64 bits: a double could not tell large seeds apart
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), whole);
    if (error == std::errc() && end == text.data() + text.size()) {
      axis.field.set(c, whole);
    } else if (const std::optional<double> value = cell_number(text)) {
      axis.field.set(c, *value);
    }
  }
  return c;
}

}  // namespace attnprof
