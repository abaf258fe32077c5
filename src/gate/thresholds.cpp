#include "gate/thresholds.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

#include "core/error.hpp"

namespace attnprof {

std::string_view to_string(Subject subject) {
  constexpr std::array<std::string_view, 8> kNames{"time",   "bytes",   "flops", "workspace",
                                                   "status", "missing", "new",   "family"};
  return kNames[static_cast<size_t>(subject)];
}

std::string_view to_string(Policy policy) {
  constexpr std::array<std::string_view, 3> kNames{"fail", "warn", "ignore"};
  return kNames[static_cast<size_t>(policy)];
}

Subject parse_subject(std::string_view text) {
  std::vector<std::string_view> names;
  for (const Subject subject : kSubjects) {
    if (to_string(subject) == text) return subject;
    names.push_back(to_string(subject));
  }
  throw UsageError(fmt::format("'{}' is nothing that is checked; one of {}", text, fmt::join(names, ", ")));
}

void LimitChanges::apply_to(Limits& limits) const {
  const auto take = [](const auto& given, auto& value) {
    if (given) value = *given;
  };
  take(time_pct, limits.time_pct);
  take(bytes_pct, limits.bytes_pct);
  take(flops_pct, limits.flops_pct);
  take(workspace_pct, limits.workspace_pct);
  if (noise_pct) limits.noise_pct = noise_pct;
  for (size_t i = 0; i < policy.size(); ++i) take(policy[i], limits.policy[i]);
}

bool AxisMatch::matches(const Row& row) const {
  const std::string_view cell = row.text(column);
  if (std::find(words.begin(), words.end(), cell) != words.end()) return true;
  const bool no_rest = column == "rest" && cell.empty();  // written as 0 by whoever types it
  const auto value = no_rest ? std::optional<double>(0) : row.number(column);
  return value && std::any_of(ranges.begin(), ranges.end(), [&value](const Range& range) {
           return range.first <= *value && *value <= range.last;
         });
}

bool Override::matches(const Row& row) const {
  return std::all_of(axes.begin(), axes.end(), [&row](const AxisMatch& a) { return a.matches(row); });
}

Limits Thresholds::of(const Row& row) const {
  Limits limits = global;
  for (const Override& o : overrides) {
    if (o.matches(row)) o.changes.apply_to(limits);
  }
  final_word.apply_to(limits);
  return limits;
}

Limits Thresholds::of_all() const {
  Limits limits = global;
  final_word.apply_to(limits);
  return limits;
}

std::vector<std::string> unmatched_overrides(const Thresholds& thresholds,
                                             const std::vector<const RowFile*>& files) {
  const auto any_row = [&files](auto&& is) {
    return std::any_of(files.begin(), files.end(), [&is](const RowFile* file) {
      return std::any_of(file->rows.begin(), file->rows.end(), is);
    });
  };
  std::vector<std::string> sentences;
  for (const Override& o : thresholds.overrides) {
    if (any_row([&o](const Row& row) { return o.matches(row); })) continue;
    const auto axis = std::find_if(o.axes.begin(), o.axes.end(), [&any_row](const AxisMatch& a) {
      return !any_row([&a](const Row& row) { return a.matches(row); });
    });
    const std::string why = axis == o.axes.end() ? "no row has all of its axes"
                                                 : fmt::format("none has {} = {}", axis->column, axis->typed);
    sentences.push_back(fmt::format("{}: this [[override]] matches no row: {}", o.where, why));
  }
  return sentences;
}

}  // namespace attnprof
