#include "state/sweep_ceilings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "rows/derived.hpp"

namespace attnprof {

SweepCeilings::SweepCeilings(Device& device, const RunConditions& run, bool may_measure, Tell announce,
                             Tell warn)
    : device_(device),
      announce_(announce ? std::move(announce) : [](const std::string&) {}),
      timed_(run.timed) {
  request_.scope = CeilingScope::rows;
  request_.cached_only = !may_measure;
  request_.hostname = run.hostname;
  request_.tool_version = run.tool_version;
  request_.warn = std::move(warn);
}

DeviceCeilings SweepCeilings::find(const std::vector<PlannedRow>& rows) {
  const auto runs = [](const PlannedRow& row) { return row.status == Status::ok; };
  if (!timed_ || std::none_of(rows.begin(), rows.end(), runs)) return {};
  may_measure_again_ = !request_.cached_only;
  report_ = device_ceilings(device_, request_, [this](const std::string& why) {
    announce_(fmt::format(
        "ceilings: measuring first what this device can do at most, about a second ({}); --no-ceilings skips "
        "it",
        why));
  });
  if (!report_.list.message.empty() && request_.warn) request_.warn("ceilings: " + report_.list.message);
  return rates();
}

std::optional<DeviceCeilings> SweepCeilings::beaten_by(const std::vector<Row>& rows) {
  const int64_t cache_bytes = device_.info().last_level_cache_bytes;
  const auto beats = [cache_bytes](const Row& row) { return beats_ceilings(row, cache_bytes); };
  if (!may_measure_again_ || std::none_of(rows.begin(), rows.end(), beats)) return std::nullopt;
  may_measure_again_ = false;
  announce_(
      "ceilings: a row is above what was measured for this device; measuring again, the best of both counts");
  report_ = better_ceilings(device_, request_, report_);
  return rates();
}

DeviceCeilings SweepCeilings::rates() const {
  return rates_of(report_.list, device_.info().kind);
}

}  // namespace attnprof
