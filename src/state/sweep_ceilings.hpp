// What the device can do at most, for the rows of a sweep.
#pragma once

#include <optional>
#include <vector>

#include "cli/sweep_options.hpp"
#include "core/record.hpp"
#include "measure/plan.hpp"
#include "state/device_ceilings.hpp"

namespace attnprof {

class SweepCeilings {
 public:
  SweepCeilings(Device& device, const SweepOptions& o, const RunConditions& run);

  /// From the cache, else measured now when rows are to be held against it.
  DeviceCeilings find(const std::vector<PlannedRow>& rows);

  /// Measured again, once in a sweep, when these rows are above them and it may be measured.
  std::optional<DeviceCeilings> beaten_by(const std::vector<Record>& records);

 private:
  DeviceCeilings rates() const;

  Device& device_;
  const SweepOptions& o_;
  CeilingRequest request_;
  CeilingReport report_;
  bool needed_ = false;
  bool again_ = false;
};

}  // namespace attnprof
