#include "implementations.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "baselines/cudnn/cudnn.hpp"
#include "baselines/naive/naive.hpp"
#include "baselines/naive_host/naive_host.hpp"
#include "core/error.hpp"
#include "kernels/flash2/flash2.hpp"
#include "kernels/flash3/flash3.hpp"
#include "kernels/fused_host/fused_host.hpp"

namespace attnprof {
namespace {

std::vector<Implementation> listed() {
  std::vector<Implementation> all;
  const auto add = [&all](std::vector<Implementation> more) {
    all.insert(all.end(), more.begin(), more.end());
  };
  add({naive_host()});
  add({fused_host()});
  add({naive_gpu()});
  add({flash2()});
  add(flash3());
  add({cudnn_gpu()});
  return all;
}

/// What the alias "fused" means.
std::string_view best_fused(const DeviceInfo& device) {
  if (device.kind == DeviceKind::host) return "fused";
  return device.compute_capability == 90 ? "flash3" : "flash2";
}

}  // namespace

const std::vector<Implementation>& registry() {
  static const std::vector<Implementation> table = [] {
    std::vector<Implementation> rows = listed();
    for (size_t i = 0, single = rows.size(); i < single; ++i) {
      for (size_t k = 0; k < single; ++k) {
        if (rows[i].name == rows[k].name && rows[i].device == rows[k].device && rows[i].pass == Pass::fwd &&
            rows[k].pass == Pass::bwd) {
          rows.push_back(composed(rows[i], rows[k]));
        }
      }
    }
    return rows;
  }();
  return table;
}

const Implementation& find_implementation(std::string_view name, const DeviceInfo& device, Pass pass) {
  const std::string_view wanted = name == "fused" ? best_fused(device) : name;
  std::vector<std::string_view> known;
  const Implementation* of_other_pass = nullptr;
  for (const Implementation& row : registry()) {
    if (row.device != device.kind) continue;
    if (row.name == wanted && row.pass == pass) return row;
    if (row.name == wanted && of_other_pass == nullptr) of_other_pass = &row;
    if (std::find(known.begin(), known.end(), row.name) == known.end()) known.push_back(row.name);
  }
  if (of_other_pass != nullptr) return *of_other_pass;
  if (device.kind == DeviceKind::gpu) known.push_back("fused");
  throw UsageError(fmt::format("--impl '{}' is not known on this {}; known: {}", name,
                               device.kind == DeviceKind::gpu ? "GPU" : "CPU", fmt::join(known, ", ")));
}

}  // namespace attnprof
