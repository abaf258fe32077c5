#include "implementations.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "baselines/cudnn/cudnn.hpp"
#include "baselines/naive/naive.hpp"
#include "baselines/naive_host/naive_host.hpp"
#include "core/error.hpp"
#include "kernels/flash2/flash2.hpp"
#include "kernels/flash3/flash3.hpp"
#include "kernels/fused_host/fused_host.hpp"

namespace attnprof {

namespace {

/// What the alias "fused" means on a GPU.
std::string_view best_fused_gpu(const DeviceInfo& device) {
  return device.compute_capability == 90 ? "flash3" : "flash2";
}

}  // namespace

const std::vector<Implementation>& registry() {
  static const std::vector<Implementation> table = [] {
    std::vector<Implementation> rows{naive_host(), fused_host(), naive_gpu(), flash2(), cudnn_gpu()};
    for (const Implementation& row : flash3()) rows.push_back(row);
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
