// Compiling what a run needs before anything of it is measured.
#pragma once

#include <vector>

#include "core/device.hpp"
#include "measure/plan.hpp"

namespace attnprof {

/// Every kernel of the rows that are to run, in parallel; nothing on the host. A kernel that does not compile
/// fails only the rows that use it, later.
void compile_all(Device& device, const std::vector<PlannedRow>& rows, bool show_progress);

}  // namespace attnprof
