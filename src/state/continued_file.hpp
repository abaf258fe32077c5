// `sweep --resume`: which planned rows a file already holds.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "measure/plan.hpp"

namespace attnprof {

/// What a resumed file already holds of the planned rows.
struct Finished {
  size_t rows = 0;
  size_t ok = 0;      ///< of them, those with figures
  size_t failed = 0;  ///< of them, those that make a sweep end with 4
  std::set<std::string>
      half;          ///< keys of rows whose case is measured again, because it lacks rows of single kernels
  std::string note;  ///< one sentence for the user on `half`; "" without any
};

/// Takes the rows that the file at `path` holds out of `rows`. Throws UsageError, naming file, line and
/// column where there is one, when the file is of another device, schema or command, when a row of it is not
/// as a sweep writes it, and when rows with and without those of single kernels (`per_kernel`) would be
/// mixed.
Finished drop_finished(std::vector<PlannedRow>& rows, const std::string& path, bool per_kernel,
                       const DeviceInfo& device, const RunConditions& run);

}  // namespace attnprof
