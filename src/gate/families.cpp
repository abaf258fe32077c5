#include "gate/families.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <map>
#include <numbers>
#include <numeric>

#include "core/stats.hpp"
#include "gate/noise.hpp"
#include "rows/columns.hpp"

namespace attnprof {

namespace {

template <class Get>
double median_of(const std::vector<size_t>& members, Get&& get) {
  std::vector<double> values;
  for (const size_t i : members) values.push_back(get(i));
  return stats::median(values);
}

std::vector<size_t> others_than(const Family& family, size_t cases) {
  std::vector<size_t> all(cases), others;
  std::iota(all.begin(), all.end(), size_t{0});
  std::set_difference(all.begin(), all.end(), family.members.begin(), family.members.end(),
                      std::back_inserter(others));
  return others;
}

/// The median of some cases' shifts, and its variance by what is different noise in each.
struct Centre {
  double shift = 0;
  double variance = 0;
};
Centre centre_of(const std::vector<size_t>& members, const std::vector<double>& shifts,
                 const std::vector<TimeVerdict>& verdicts) {
  Centre centre;
  centre.shift = median_of(members, [&](size_t i) { return shifts[i]; });
  const double spread =
      1.4826 * median_of(members, [&](size_t i) { return std::abs(shifts[i] - centre.shift); });
  double expected = 0;
  for (const size_t i : members) expected += verdicts[i].shift_sd * verdicts[i].shift_sd;
  const auto count = static_cast<double>(members.size());
  centre.variance = std::numbers::pi / 2 / count * std::max(spread * spread, expected / count);
  return centre;
}

/// A family's movement, and how far chance alone would move it.
struct Movement {
  double shift = 0;              ///< of its median
  double beyond = 0;             ///< beyond what the other cases rose by
  std::optional<double> others;  ///< of their median
  double sd = 0, df = 0;         ///< of `beyond`
  double threshold = 0;
};
Movement movement_of(const Family& family, const std::vector<double>& shifts,
                     const std::vector<TimeCase>& cases, const std::vector<TimeVerdict>& verdicts) {
  const auto of_verdicts = [&](double TimeVerdict::*field) {
    return median_of(family.members, [&](size_t i) { return verdicts[i].*field; });
  };
  const Centre own = centre_of(family.members, shifts, verdicts);
  Movement m;
  m.shift = m.beyond = own.shift;
  double variance = own.variance;
  double shared = of_verdicts(&TimeVerdict::run_sd);
  const std::vector<size_t> others = others_than(family, cases.size());
  if (!others.empty()) {
    const Centre rest = centre_of(others, shifts, verdicts);
    m.others = rest.shift;
    m.beyond -= std::max(rest.shift, 0.0);
    variance += rest.variance;
    shared /= 2;
  }
  m.sd = std::sqrt(variance + shared * shared);
  m.df = std::max(of_verdicts(&TimeVerdict::df), kTailDf);
  m.threshold = median_of(family.members, [&](size_t i) { return cases[i].rule.threshold; }) / 2;
  return m;
}

double chance(const Movement& m) {
  return noise::upper_normal_tail(noise::t_to_z(m.beyond / m.sd, m.df));
}

/// What is left of all cases' movement when a family's is taken from its members.
double movement_without(const Family& family, double shift, std::vector<double> shifts) {
  for (const size_t i : family.members) shifts[i] -= shift;
  return std::accumulate(shifts.begin(), shifts.end(), 0.0,
                         [](double sum, double x) { return sum + std::abs(x); });
}

}  // namespace

std::vector<Family> families_of(const std::vector<Row>& rows) {
  std::vector<Family> families;
  if (rows.size() < kFewestOfFamily) return families;
  Family all;
  all.members.resize(rows.size());
  std::iota(all.members.begin(), all.members.end(), size_t{0});
  families.push_back(std::move(all));
  std::vector<std::string_view> columns = key_columns();
  columns.push_back("device_name");
  for (const std::string_view column : columns) {
    std::map<std::string, std::vector<size_t>> by_value;
    for (size_t i = 0; i < rows.size(); ++i) by_value[std::string(rows[i].text(column))].push_back(i);
    for (auto& [value, members] : by_value) {
      if (members.size() < kFewestOfFamily || rows.size() - members.size() < kFewestOfFamily) continue;
      const auto same = [&members = members](const Family& f) { return f.members == members; };
      if (std::any_of(families.begin(), families.end(), same)) continue;
      families.push_back({fmt::format("{} {}", column, value.empty() ? "none" : value), std::move(members)});
    }
  }
  return families;
}

std::vector<FamilyVerdict> slower_families(const std::vector<TimeCase>& cases,
                                           const std::vector<TimeVerdict>& verdicts,
                                           const std::vector<Family>& families, double alpha) {
  std::vector<double> shifts;
  for (const TimeVerdict& verdict : verdicts) shifts.push_back(verdict.shift);
  std::vector<size_t> left(families.size());
  std::iota(left.begin(), left.end(), size_t{0});
  std::vector<FamilyVerdict> found;
  while (!left.empty()) {
    const double limit = alpha / static_cast<double>(left.size());
    auto best = left.end();
    double least = std::numeric_limits<double>::infinity();  // movement left unexplained
    Movement movement;
    for (auto at = left.begin(); at != left.end(); ++at) {
      const Movement m = movement_of(families[*at], shifts, cases, verdicts);
      if (m.beyond <= std::log1p(m.threshold) || m.sd <= 0 || chance(m) > limit) continue;
      const double unexplained = movement_without(families[*at], m.beyond, shifts);
      if (unexplained >= least) continue;
      best = at;
      least = unexplained;
      movement = m;
    }
    if (best == left.end()) return found;
    const double t = noise::z_to_t(noise::upper_normal_quantile(limit), movement.df);
    FamilyVerdict verdict{*best, std::expm1(movement.shift), std::nullopt,
                          std::max(movement.threshold, std::expm1(t * movement.sd))};
    if (movement.others) verdict.others = std::expm1(*movement.others);
    found.push_back(verdict);
    for (const size_t i : families[*best].members) shifts[i] -= movement.beyond;
    left.erase(best);
  }
  return found;
}

}  // namespace attnprof
