#include "cli/compile.hpp"

#include <algorithm>

#include "gpu/gpu.hpp"
#include "rows/table.hpp"

namespace attnprof {

void compile_all(Device& device, const std::vector<PlannedRow>& rows, bool show_progress) {
  if (device.info().kind != DeviceKind::gpu) return;
  std::vector<KernelSpec> specs;
  for (const PlannedRow& row : rows) {
    if (row.status != Status::ok || !row.impl->launches) continue;
    for (KernelSpec& spec : kernels_of(row.impl->launches(row.planned, device.info(), {}))) {
      if (std::find(specs.begin(), specs.end(), spec) == specs.end()) specs.push_back(std::move(spec));
    }
  }
  if (specs.empty()) return;
  Progress progress(static_cast<int>(specs.size()), show_progress);
  compile_kernels(device, specs, [&](int done, int) { progress.step(done, "compiling kernels"); });
}

}  // namespace attnprof
