#include "state/sweep_ceilings.hpp"

#include <algorithm>

#include "cli/say.hpp"
#include "rows/derived.hpp"

namespace attnprof {

SweepCeilings::SweepCeilings(Device& device, const SweepOptions& o, const RunConditions& run)
    : device_(device), o_(o) {
  request_.scope = CeilingScope::rows;
  request_.cached_only = o.no_ceilings;
  request_.hostname = run.hostname;
  request_.tool_version = run.tool_version;
}

DeviceCeilings SweepCeilings::find(const std::vector<PlannedRow>& rows) {
  needed_ = o_.timed && std::any_of(rows.begin(), rows.end(),
                                    [](const PlannedRow& row) { return row.status == Status::ok; });
  if (!needed_) return {};
  report_ = device_ceilings(device_, request_, [&](const std::string& why) {
    if (o_.quiet) return;
    say("ceilings: measuring first what this device can do at most, about a second ({}); --no-ceilings "
        "skips it",
        why);
  });
  if (!report_.list.message.empty()) say("ceilings: {}", report_.list.message);
  return rates();
}

std::optional<DeviceCeilings> SweepCeilings::beaten_by(const std::vector<Record>& records) {
  if (!needed_ || again_ || o_.no_ceilings || std::none_of(records.begin(), records.end(), beats_ceilings))
    return std::nullopt;
  again_ = true;
  if (!o_.quiet) {
    say("ceilings: a row is above what was measured for this device; measuring again, the best of both "
        "counts");
  }
  report_ = better_ceilings(device_, request_, report_);
  return rates();
}

DeviceCeilings SweepCeilings::rates() const {
  return rates_of(report_.list, device_.info().kind);
}

}  // namespace attnprof
