// What is said about a comparison as a whole.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "compare/comparison.hpp"
#include "rows/matching.hpp"

namespace attnprof {

namespace {

/// Sums logarithms: the geometric mean of ratios.
struct LogSum {
  double sum = 0, smallest = 0, largest = 0;
  int pairs = 0;

  void add(const std::optional<double>& ratio) {
    if (!ratio) return;
    smallest = pairs == 0 ? *ratio : std::min(smallest, *ratio);
    largest = pairs == 0 ? *ratio : std::max(largest, *ratio);
    sum += std::log(*ratio);
    ++pairs;
  }
  std::optional<Mean::Of> mean() const {
    if (pairs == 0) return std::nullopt;
    return Mean::Of{std::exp(sum / pairs), smallest, largest, pairs};
  }
};

struct Sums {
  std::string impl, reference;
  LogSum time, bytes, flops;
};

/// "seed 1 -> 7, tile_m none -> 128".
std::string changes_in(const std::vector<std::string_view>& names, const Row& from, const Row& to) {
  std::string text;
  for (const std::string_view name : names) {
    text += fmt::format("{}{} {} -> {}", text.empty() ? "" : ", ", name, cell_or_none(from, name),
                        cell_or_none(to, name));
  }
  return text;
}

/// Implementations with several rows of one problem: each tile is a comparison of its own, and the mean over
/// them would depend on how many tiles somebody chose to measure. Where tiles only differ from problem to
/// problem, they are one implementation's choice.
std::set<std::string> with_several_tiles(const Comparison& comparison) {
  std::set<std::string> several;
  std::set<std::string> seen;
  for (const Pair& pair : comparison.pairs) {
    const std::string impl(pair.to.text("impl"));
    const RowDevice device = pair.to.device();
    if (!seen.insert(fmt::format("{}\x1f{}{}\x1f{}", impl, pair.to.problem_key(), device.name, device.uuid))
             .second)
      several.insert(impl);
    // The reference is a row of its own when it is another tile of the same implementation.
    if (!comparison.two_files && pair.from.text("impl") == pair.to.text("impl")) several.insert(impl);
  }
  return several;
}

}  // namespace

std::vector<Mean> geometric_means(const Comparison& comparison) {
  const std::set<std::string> several = with_several_tiles(comparison);
  std::vector<Sums> all;
  for (const Pair& pair : comparison.pairs) {
    std::string impl(pair.to.text("impl"));
    if (several.count(impl) > 0) impl = pair.to.impl_label();
    const std::string reference =
        comparison.two_files ? comparison.from_name : std::string(pair.from.text("impl"));
    auto at = std::find_if(all.begin(), all.end(),
                           [&](const Sums& s) { return s.impl == impl && s.reference == reference; });
    if (at == all.end()) at = all.insert(all.end(), Sums{impl, reference, {}, {}, {}});
    at->time.add(pair.time_us.ratio);
    at->bytes.add(pair.hbm_bytes.ratio);
    at->flops.add(pair.flops.ratio);
  }
  std::vector<Mean> means;
  for (const Sums& s : all) {
    if (s.time.pairs + s.bytes.pairs + s.flops.pairs == 0) continue;
    means.push_back({s.impl, s.reference, s.time.mean(), s.bytes.mean(), s.flops.mean()});
  }
  return means;
}

std::string unmatched_reason(const Comparison& comparison) {
  if (comparison.only_from.empty() || comparison.only_to.empty()) return "";
  // The first few rows say enough, and files can be long.
  constexpr size_t kLooked = 200;
  struct Seen {
    int rows = 0;
    std::string first;    ///< the values of the first row that differs in these columns
    bool varies = false;  ///< others have other values
  };
  std::map<std::vector<std::string_view>, Seen> seen;
  for (size_t i = 0; i < std::min(kLooked, comparison.only_to.size()); ++i) {
    const Row& row = comparison.only_to[i];
    const Nearest nearest = nearest_row(row, comparison.only_from, {}, kLooked);
    if (nearest.differing.empty()) continue;
    const std::string values = changes_in(nearest.differing, *nearest.row, row);
    Seen& same = seen[nearest.differing];
    if (++same.rows == 1) same.first = values;
    same.varies = same.varies || same.first != values;
  }
  if (seen.empty()) return "";
  const Seen& most = std::max_element(seen.begin(), seen.end(), [](const auto& a, const auto& b) {
                       return a.second.rows < b.second.rows;
                     })->second;
  return most.first + (most.varies ? " for one" : "");
}

}  // namespace attnprof
