#include "implementations.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "baselines/naive_host/naive_host.hpp"
#include "core/error.hpp"
#include "gpu_implementations.hpp"
#include "kernels/fused_host/fused_host.hpp"

namespace attnprof {

const std::vector<Implementation>& registry() {
  static const std::vector<Implementation> table = [] {
    std::vector<Implementation> rows{naive_host(), fused_host()};
    for (Implementation& row : gpu_implementations()) rows.push_back(row);
    return rows;
  }();
  return table;
}

const Implementation& find_implementation(std::string_view name, const DeviceInfo& device) {
  const std::string_view wanted =
      name == "fused" && device.kind == DeviceKind::gpu ? best_fused_gpu(device) : name;
  std::vector<std::string_view> known;
  for (const Implementation& row : registry()) {
    if (row.device != device.kind) continue;
    if (row.name == wanted) return row;
    known.push_back(row.name);
  }
  if (device.kind == DeviceKind::gpu) known.push_back("fused");
  throw UsageError(fmt::format("--impl '{}' is not known on this {}; known: {}", name,
                               device.kind == DeviceKind::gpu ? "GPU" : "CPU", fmt::join(known, ", ")));
}

}  // namespace attnprof
