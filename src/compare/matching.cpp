#include "compare/matching.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

#include "core/error.hpp"
#include "report/columns.hpp"

namespace attnprof {

namespace {

std::string device_text(const Row& row) {
  return fmt::format("{} {}", row.text("device"), row.text("device_name"));
}

void require_one_machine(const std::vector<Row>& repeats) {
  for (const Row& row : repeats) {
    const std::string difference = machine_difference(repeats.front(), row);
    if (difference.empty()) continue;
    throw UsageError(
        fmt::format("{} and {} are not repeats of one run: {}; repeats tell the noise of one machine",
                    repeats.front().where(), row.where(), difference));
  }
}

void require_common_kind(const std::vector<RowFile>& baselines, const std::vector<RowFile>& news) {
  const Row& before = baselines.front().rows.front();
  for (const RowFile& file : news) {
    for (const Row& row : file.rows) {
      if (row.text("device") == before.text("device")) return;
    }
  }
  throw UnavailableError(fmt::format(
      "{} was measured on {}, {} on {}: they have no case in common; compare files of one kind of device",
      before.file(), device_text(before), news.front().file, device_text(news.front().rows.front())));
}

}  // namespace

std::vector<MatchedCase> match_cases(const std::vector<RowFile>& baselines,
                                     const std::vector<RowFile>& news) {
  std::vector<MatchedCase> cases;
  std::unordered_map<std::string, size_t> case_of;
  const auto add = [&](const RowFile& file, std::vector<Row> MatchedCase::*side) {
    std::vector<const Row*> chosen(cases.size(), nullptr);
    for (const Row& row : file.rows) {
      if (!row.kernel().empty()) continue;
      const auto [at, is_new] = case_of.emplace(row.key(), cases.size());
      if (is_new) cases.emplace_back();
      chosen.resize(cases.size(), nullptr);
      const Row*& place = chosen[at->second];
      const MatchedCase& c = cases[at->second];
      const Row* first = !c.before.empty()  ? &c.before.front()
                         : !c.after.empty() ? &c.after.front()
                                            : nullptr;
      if (place == nullptr || (first != nullptr && device_difference(*first, row).empty())) place = &row;
    }
    for (size_t i = 0; i < chosen.size(); ++i) {
      if (chosen[i] != nullptr) (cases[i].*side).push_back(*chosen[i]);
    }
  };
  for (const RowFile& file : baselines) add(file, &MatchedCase::before);
  for (const RowFile& file : news) add(file, &MatchedCase::after);
  bool common = false;
  for (const MatchedCase& c : cases) {
    require_one_machine(c.before);
    require_one_machine(c.after);
    common = common || (!c.before.empty() && !c.after.empty());
  }
  if (!common) require_common_kind(baselines, news);
  return cases;
}

std::string nearest_row(const Row& missing, const std::vector<Row>& others) {
  std::vector<std::string_view> fewest;
  const Row* nearest = nullptr;
  for (const Row& other : others) {
    if (other.text("impl") != missing.text("impl")) continue;
    std::vector<std::string_view> differing;
    for (const Column& column : columns()) {
      if (column.is_key && key_part(missing.text(column.name)) != key_part(other.text(column.name)))
        differing.push_back(column.name);
    }
    if (nearest != nullptr && differing.size() >= fewest.size()) continue;
    nearest = &other;
    fewest = differing;
  }
  // More than a tile's two sides, or another problem: then it is another case, not this one under another
  // name.
  const auto of_problem = [](std::string_view name) {
    return name != "threads" && name != "tile_m" && name != "tile_n" && name != "stages" && name != "warps" &&
           name != "scale" && name != "seed" && name != "fill" && name != "cache" && name != "rest";
  };
  if (nearest == nullptr || std::any_of(fewest.begin(), fewest.end(), of_problem)) return "";
  std::string text;
  const auto cell = [](std::string_view word) { return word.empty() ? std::string_view("none") : word; };
  for (const std::string_view name : fewest) {
    text += fmt::format("{}{} {} instead of {}", text.empty() ? "" : ", ", name, cell(nearest->text(name)),
                        cell(missing.text(name)));
  }
  return "the new file has it with " + text;
}

}  // namespace attnprof
