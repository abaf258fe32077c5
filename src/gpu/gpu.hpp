// The GPU side as the rest of the program sees it. Without CUDA at build time, src/gpu/without_cuda.cpp
// answers instead of the real thing: no GPUs, and the reason why.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "core/ceiling_list.hpp"
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

/// What this GPU can do at most, measured here and now. Rates are decimal:
///   copy             1 GiB (less on a small or full GPU), the faster of our kernel and the driver's, L2
///   cold:
///                    bytes read plus written
///   matrix_bf16/fp16 cuBLASLt, 8192^3, fp32 accumulation, random normal data; full: also matrix_tf32
///   fp32_fma         multiply-adds in registers, each counting 2
///   exp              ex2.approx in registers
///   launch_interval  empty kernels enqueued back to back: from one to the next
/// full: read, write (as copy), launch_to_done (one empty kernel, from the call until the host knows that it
/// is done), and read_by_size, write_by_size, copy_by_size: an array gone over again and again, so that what
/// fits in L2 comes from there; l2_read is the best of read_by_size up to half of the L2. Medians of 20
/// launches. `rows` takes about a second, `full` about three, and up to 2.4 GB of its memory. Never throws
/// for what is missing or does not fit: see CeilingList::message.
CeilingList measure_ceilings(Device& gpu, CeilingScope scope);

}  // namespace attnprof
