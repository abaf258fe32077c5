#include "rows/matching.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

#include "rows/columns.hpp"
#include "rows/csv.hpp"

namespace attnprof {

namespace {

/// What still matches between a GPU and a CPU.
std::string key_but_backend(const Row& row) {
  std::string key;
  for (const std::string_view name : key_columns()) {
    if (name != "device" && name != "threads") key += key_part(row.text(name)) + '\x1f';
  }
  return key;
}

bool devices_fit(const Row& a, const Row& b, MatchBy rule) {
  switch (rule) {
    case MatchBy::device:
      return same_device(a, b);
    case MatchBy::model:
      return same_model(a, b);
    case MatchBy::key:
      return true;
    case MatchBy::key_but_backend:
      return !same_device(a, b);
  }
  return false;
}

std::vector<std::string_view> differing_columns(const Row& a, const Row& b) {
  std::vector<std::string_view> names;
  for (const std::string_view name : key_columns()) {
    if (key_part(a.text(name)) != key_part(b.text(name))) names.push_back(name);
  }
  return names;
}

}  // namespace

std::string device_difference(const Row& a, const Row& b) {
  return device_difference(a.device(), b.device());
}

std::string machine_difference(const Row& a, const Row& b) {
  const std::string difference = device_difference(a, b);
  if (!difference.empty() || a.driver() == b.driver()) return difference;
  return fmt::format("driver {} against {}", a.driver(), b.driver());
}

bool same_device(const Row& a, const Row& b) {
  return device_difference(a, b).empty();
}
bool same_model(const Row& a, const Row& b) {
  return a.text("device") == b.text("device") && a.text("device_name") == b.text("device_name");
}

std::vector<std::optional<size_t>> match_rows(const std::vector<Row>& before, const std::vector<Row>& after,
                                              const std::vector<MatchBy>& rules) {
  std::vector<std::optional<size_t>> partners(after.size());
  std::vector<bool> taken(before.size(), false);
  for (const MatchBy rule : rules) {
    const auto key_of = [rule](const Row& row) {
      return rule == MatchBy::key_but_backend ? key_but_backend(row) : row.key();
    };
    std::unordered_map<std::string, std::vector<size_t>> by_key;
    for (size_t i = 0; i < before.size(); ++i) {
      if (!taken[i]) by_key[key_of(before[i])].push_back(i);
    }
    for (size_t j = 0; j < after.size(); ++j) {
      if (partners[j]) continue;
      for (const size_t i : by_key[key_of(after[j])]) {
        if (taken[i] || !devices_fit(before[i], after[j], rule)) continue;
        taken[i] = true;
        partners[j] = i;
        break;
      }
    }
  }
  return partners;
}

Nearest nearest_row(const Row& row, const std::vector<Row>& others,
                    const std::function<bool(const Row&)>& counts, size_t most) {
  Nearest nearest;
  for (size_t i = 0; i < std::min(most, others.size()); ++i) {
    if (counts && !counts(others[i])) continue;
    std::vector<std::string_view> differing = differing_columns(row, others[i]);
    if (nearest.row == nullptr || differing.size() < nearest.differing.size())
      nearest = {&others[i], std::move(differing)};
  }
  return nearest;
}

std::string_view cell_or_none(const Row& row, std::string_view column) {
  const std::string_view cell = row.text(column);
  return cell.empty() ? "none" : cell;
}

}  // namespace attnprof
