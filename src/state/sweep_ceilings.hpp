// What the device can do at most, for the rows of a sweep.
#pragma once

#include <optional>
#include <vector>

#include "core/record.hpp"
#include "measure/plan.hpp"
#include "rows/row.hpp"
#include "state/device_ceilings.hpp"

namespace attnprof {

class SweepCeilings {
 public:
  /// `may_measure`: false takes what the cache has. `announce` hears that they are measured, `warn` what went
  /// wrong.
  SweepCeilings(Device& device, const RunConditions& run, bool may_measure, Tell announce, Tell warn);

  /// From the cache, else measured now when rows are to be compared with them.
  DeviceCeilings find(const std::vector<PlannedRow>& rows);

  /// Measured again, once in a sweep, when these rows are above them and it may be measured.
  std::optional<DeviceCeilings> beaten_by(const std::vector<Row>& rows);

 private:
  DeviceCeilings rates() const;

  Device& device_;
  CeilingRequest request_;
  CeilingReport report_;
  Tell announce_;
  bool timed_;
  bool may_measure_again_ = false;
};

}  // namespace attnprof
