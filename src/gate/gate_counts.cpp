#include "gate/gate_counts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "core/stats.hpp"
#include "gate/figures.hpp"
#include "gate/gate_times.hpp"
#include "rows/derived.hpp"
#include "rows/human.hpp"

namespace attnprof {

namespace {

/// What another process and the counters themselves add to a measured count of bytes: 74 and 166 kB beyond
/// the model were seen in launches that move 2.4 GB (docs/results/h200.csv).
constexpr double kMeasuredSlackBytes = 256 * 1024;

using Values = std::vector<double>;

/// Of a column on one side; empty when any row lacks it.
Values values(const std::vector<Row>& rows, std::string_view column) {
  Values result;
  for (const Row& row : rows) {
    const auto value = row.number(column);
    if (!value) return {};
    result.push_back(*value);
  }
  return result;
}

/// The least of a count that any algorithm needs; nothing when that is not known.
std::optional<double> least_of(const Row& row, const Count& count) {
  if (count.subject == Subject::bytes) return row.number(fmt::format("min_{}", count.column));
  const auto flops = row.number("model_flops"), width = row.number("head_dim");
  if (!flops || !width) return std::nullopt;
  if (count.column == "executed_flops") return flops;
  if (count.column == "exp_count") return *flops / (4 * *width);  // 4 FLOPs a score and column, forward
  return std::nullopt;
}

/// Why a count is wrong, whatever its limit: nothing was counted, or far less than the problem needs, where
/// the baseline has more. "" when it may be right.
std::string wrong_count(const MatchedCase& c, const Count& count, const Values& before, const Values& after,
                        double slack) {
  if (count.subject == Subject::workspace) return "";
  const auto newly = [&c](auto&& is) { return any_row(c.after, is) && !any_row(c.before, is); };
  const bool is_short = newly([&count](const Row& row) {
    const auto value = row.number(count.column), least = least_of(row, count);
    return value && least && *value < *least / 2;
  });
  if (count.subject == Subject::bytes) {
    if (is_short || newly([](const Row& row) { return served_by_cache(row) == true; }))
      return "less than half of the compulsory bytes: a cache served the new row, or its count is wrong";
  } else if (is_short) {
    return "less than half of what the unmasked scores need: the count is wrong";
  }
  const bool counted_before = *std::min_element(before.begin(), before.end()) > slack;
  if (counted_before && *std::min_element(after.begin(), after.end()) == 0)
    return "0 in the new row: nothing was counted";
  return "";
}

CountVerdict described(CountVerdict verdict, const Values& before, const Values& after, const CountRule& rule,
                       bool measured) {
  const double from = measured ? stats::median(before) : *std::max_element(before.begin(), before.end());
  const double to = measured ? stats::median(after) : *std::max_element(after.begin(), after.end());
  verdict.before = fmt::format("{:.0f}", from);
  verdict.after = fmt::format("{:.0f}", to);
  verdict.change = measured && from > 0 ? signed_percent(to / from - 1) : fmt::format("{:+.0f}", to - from);
  verdict.reason =
      rule.threshold > 0 ? fmt::format("threshold {}%", three_digits(100 * rule.threshold)) : "exact";
  return verdict;
}

}  // namespace

std::optional<CountVerdict> judge_count_of(const MatchedCase& c, const Count& count, const Limits& limits,
                                           const std::string& other_model) {
  const Values before = values(c.before, count.column), after = values(c.after, count.column);
  if (before.empty()) return std::nullopt;
  const auto refused = [](std::string why) {
    return CountVerdict{Outcome::refused, "", "", "", std::move(why)};
  };
  if (after.empty()) return refused(why_lacking(c.after.front()));
  const bool bytes = count.subject == Subject::bytes;
  const std::string_view source = c.before.front().text("bytes_source");
  const auto other = [&](const Row& r) { return bytes && r.text("bytes_source") != source; };
  if (any_row(c.before, other) || any_row(c.after, other))
    return refused("counted bytes cannot be compared with measured ones");
  const bool measured = count.measured && !(bytes && source == "counted");
  if (measured && !other_model.empty()) return refused(other_model);
  CountRule rule;
  if (measured) rule.threshold = (bytes ? limits.bytes_pct : limits.flops_pct) / 100;
  if (count.subject == Subject::workspace) rule.threshold = limits.workspace_pct / 100;
  if (measured && bytes) rule.slack = kMeasuredSlackBytes;
  const std::string wrong = wrong_count(c, count, before, after, rule.slack);
  if (!wrong.empty()) return refused(wrong);
  const CountChange change = judge_count(before, after, rule);
  CountVerdict verdict;
  if (change == CountChange::more) verdict.outcome = Outcome::regression;
  if (change == CountChange::fewer) verdict.outcome = Outcome::improvement;
  return described(verdict, before, after, rule, measured);
}

}  // namespace attnprof
