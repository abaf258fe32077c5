#include "gpu/implementations.hpp"

#include "baselines/cudnn_gpu.hpp"
#include "baselines/naive_gpu.hpp"
#include "kernels/flash2_gpu.hpp"

namespace attnprof {

std::vector<Implementation> gpu_implementations() { return {naive_gpu(), flash2_gpu(), cudnn_gpu()}; }

std::string_view best_fused_gpu(const DeviceInfo&) { return "flash2"; }

}  // namespace attnprof
