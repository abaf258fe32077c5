// The GPU side as the rest of the program sees it. Without CUDA at build time, src/gpu/without_cuda.cpp
// answers instead of the real thing: no GPUs, and the reason why.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "core/counter_source.hpp"
#include "core/device.hpp"
#include "core/implementation.hpp"

namespace attnprof {

struct GpuList {
  std::vector<DeviceInfo> gpus;
  std::string why_none;  ///< when empty: what is missing and what it would take ("no NVIDIA driver:
                         ///< libcuda.so.1 ...")
};

/// Finds the GPUs without creating a context on any. Never throws.
GpuList list_gpus();

/// Opens GPU `index` (CUDA ordinal). Throws UnavailableError naming what is missing.
std::unique_ptr<Device> open_gpu(int index);

/// Compiles every spec that is not in the on-disk cache, in parallel. `progress(done, total)` is called from
/// the calling thread. A spec that does not compile only fails the cases that use it: prepare() throws its
/// log.
void compile_kernels(Device& gpu, const std::vector<KernelSpec>& specs,
                     const std::function<void(int done, int total)>& progress);

/// Opens CUPTI for `gpu`. Never throws: when counters cannot be had, measure() says why in its status.
std::unique_ptr<CounterSource> open_counters(Device& gpu);

}  // namespace attnprof
