#include "measure/shard.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <numeric>

#include "core/error.hpp"

namespace attnprof {
namespace {

/// A whole number without sign, or 0 for anything else.
int whole_number(std::string_view text) {
  int value = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  return error == std::errc() && stop == end ? value : 0;
}

}  // namespace

Shard parse_shard(std::string_view text) {
  const auto fail = [&](const std::string& wrong) {
    throw UsageError(fmt::format("--shard '{}': {}; right forms: 1/4, 2/4, 3/4, 4/4", text, wrong));
  };
  const size_t slash = text.find('/');
  if (slash == std::string_view::npos) fail("is not i/n");
  const std::string_view parts[2] = {text.substr(0, slash), text.substr(slash + 1)};
  Shard shard;
  int* const values[2] = {&shard.index, &shard.count};
  for (size_t i = 0; i < 2; ++i) {
    *values[i] = whole_number(parts[i]);
    if (*values[i] < 1) fail(fmt::format("'{}' is not a whole number from 1", parts[i]));
  }
  if (shard.count > kMaxShards) fail(fmt::format("more than {} shards", kMaxShards));
  if (shard.index > shard.count) fail(fmt::format("shard {} of {} does not exist", shard.index, shard.count));
  return shard;
}

double predicted_seconds(const PlannedRow& row, const DeviceInfo& device, const stats::StoppingRule& rule) {
  // Such rows are written without a measurement.
  if (row.status != Status::ok || (device.memory_bytes > 0 && row.memory_bytes > device.memory_bytes))
    return 0.001;
  // Setting a case up, checking it and flushing caches between launches took about this on an H200 and on two
  // cores.
  constexpr double kFixedSeconds = 0.5;
  // Middle of what naive and fused reached there; only the ratio to kFixedSeconds matters.
  constexpr double kGpuFlopsPerSecond = 250e12, kThreadFlopsPerSecond = 40e9;
  const double rate = device.kind == DeviceKind::gpu
                          ? kGpuFlopsPerSecond
                          : kThreadFlopsPerSecond * std::max(1, device.multiprocessors);
  const double launch_s = static_cast<double>(row.model.executed_flops) / rate;
  return kFixedSeconds + std::min(rule.min_samples * launch_s, std::max(3 * rule.budget_s, launch_s));
}

std::vector<PlannedRow> rows_of_shard(const std::vector<PlannedRow>& rows, Shard shard,
                                      const std::function<double(const PlannedRow&)>& seconds) {
  const auto groups = group_by_problem(rows);
  std::vector<double> cost;
  for (const auto& [begin, end] : groups) {
    cost.push_back(0);
    for (size_t row = begin; row < end; ++row) cost.back() += seconds(rows[row]);
  }
  std::vector<size_t> longest_first(groups.size());
  std::iota(longest_first.begin(), longest_first.end(), size_t{0});
  std::stable_sort(longest_first.begin(), longest_first.end(),
                   [&](size_t a, size_t b) { return cost[a] > cost[b]; });

  std::vector<double> load(static_cast<size_t>(shard.count), 0.0);
  std::vector<bool> ours(groups.size(), false);
  for (const size_t group : longest_first) {
    const auto least = std::min_element(load.begin(), load.end());
    *least += cost[group];
    ours[group] = least - load.begin() == shard.index - 1;
  }
  std::vector<PlannedRow> dealt;
  for (size_t group = 0; group < groups.size(); ++group) {
    if (!ours[group]) continue;
    for (size_t row = groups[group].first; row < groups[group].second; ++row) dealt.push_back(rows[row]);
  }
  return dealt;
}

std::string plan_name(const std::vector<std::string>& row_keys) {
  uint64_t hash = 14695981039346656037u;  // FNV-1a, 64 bits
  const auto mix = [&hash](unsigned char byte) { hash = (hash ^ byte) * 1099511628211u; };
  for (const std::string& key : row_keys) {
    for (const char c : key) mix(static_cast<unsigned char>(c));
    mix('\n');
  }
  return fmt::format("p{:016x}", hash);
}

}  // namespace attnprof
