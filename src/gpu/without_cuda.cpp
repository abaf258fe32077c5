// Answers for src/gpu in a build that found no CUDA headers: no GPUs, and why.
#include "core/error.hpp"
#include "gpu/gpu.hpp"

namespace attnprof {
namespace {

const std::string kWhy =
    "this attnprof was built without CUDA; build it where the CUDA headers are (CUDA 12.6 or newer, or run "
    "scripts/cuda-wheels), with -DATTNPROF_CUDA=ON";

}  // namespace

GpuList list_gpus() {
  return {{}, kWhy};
}
std::unique_ptr<Device> open_gpu(int) {
  throw UnavailableError(kWhy);
}
void compile_kernels(Device&, const std::vector<KernelSpec>&, const std::function<void(int, int)>&) {
  throw UnavailableError(kWhy);
}
std::unique_ptr<CounterSource> open_counters(Device&) {
  throw UnavailableError(kWhy);
}
CeilingList measure_ceilings(Device&, CeilingScope) {
  throw UnavailableError(kWhy);
}

}  // namespace attnprof
