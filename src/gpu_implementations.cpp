#include "gpu_implementations.hpp"

#include "baselines/cudnn/cudnn.hpp"
#include "baselines/naive/naive.hpp"
#include "kernels/flash2/flash2.hpp"
#include "kernels/flash3/candidates.hpp"
#include "kernels/flash3/flash3.hpp"

namespace attnprof {

std::vector<Implementation> gpu_implementations() {
  std::vector<Implementation> all{naive_gpu(), flash2_gpu(), flash3_gpu(), cudnn_gpu()};
  for (const Implementation& rung : flash3_ladder_gpu()) {
    all.push_back(rung);
    all.back().tuned_as = "flash3";  // rungs are compared on the tiles of the last one
  }
  for (Implementation& row : all) {
    if (row.name == "flash3") row.candidates = flash3_candidates;
  }
  return all;
}

std::string_view best_fused_gpu(const DeviceInfo& device) {
  return device.compute_capability == 90 ? "flash3" : "flash2";
}

}  // namespace attnprof
