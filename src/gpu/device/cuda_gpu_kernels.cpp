// The part of CudaGpu that turns KernelSpecs into loaded kernels.
#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <mutex>
#include <thread>

#include "core/error.hpp"
#include "gpu/device/bound_launches.hpp"
#include "gpu/device/cuda_gpu.hpp"
#include "gpu/gpu.hpp"

namespace attnprof {

void compile_kernels(Device& gpu, const std::vector<KernelSpec>& specs,
                     const std::function<void(int done, int total)>& progress) {
  as_gpu(gpu).compile(specs, progress);
}

std::unique_ptr<Prepared> CudaGpu::bind(const std::vector<Launch>& launches) {
  return std::make_unique<BoundLaunches>(*this, launches);
}

CudaGpu::Entry CudaGpu::compile_entry(const KernelSpec& spec) const {
  Entry entry;
  try {
    entry.binary = compile_for_arch(spec, info_.compute_capability, cache_);
  } catch (const Error& error) {
    entry.error = error.what();
  }
  return entry;
}

void CudaGpu::compile(const std::vector<KernelSpec>& specs,
                      const std::function<void(int done, int total)>& progress) {
  std::vector<KernelSpec> wanted;
  for (const KernelSpec& spec : specs) {
    if (!kernels_.contains(describe(spec)) && std::find(wanted.begin(), wanted.end(), spec) == wanted.end()) {
      wanted.push_back(spec);
    }
  }
  const int total = static_cast<int>(wanted.size());
  std::vector<Entry> entries(wanted.size());
  std::mutex mutex;
  std::condition_variable one_more;
  std::atomic<int> next{0};
  int done = 0;
  const auto work = [&] {
    for (int i = next++; i < total; i = next++) {
      entries[static_cast<size_t>(i)] = compile_entry(wanted[static_cast<size_t>(i)]);
      const std::lock_guard lock(mutex);
      ++done;
      one_more.notify_one();
    }
  };

  const int threads = std::min<int>(total, std::max(1u, std::thread::hardware_concurrency()));
  std::vector<std::jthread> workers;
  for (int i = 0; i < threads; ++i) workers.emplace_back(work);
  for (int reported = 0; reported < total;) {
    {
      std::unique_lock lock(mutex);
      one_more.wait(lock, [&] { return done > reported; });
      reported = done;
    }
    if (progress) progress(reported, total);
  }
  workers.clear();  // joins
  for (size_t i = 0; i < wanted.size(); ++i) kernels_[describe(wanted[i])] = std::move(entries[i]);
}

const CompiledKernel& CudaGpu::kernel(const KernelSpec& spec) {
  require_alive();
  const std::string name = describe(spec);
  auto it = kernels_.find(name);
  if (it == kernels_.end()) it = kernels_.emplace(name, compile_entry(spec)).first;
  Entry& entry = it->second;
  if (!entry.loaded && entry.error.empty()) load(entry, spec);
  if (!entry.loaded) throw CaseError(entry.error);
  return *entry.loaded;
}

void CudaGpu::load(Entry& entry, const KernelSpec& spec) {
  CUresult result = driver_.module_load_data(&entry.module, entry.binary->code.c_str());
  if (result == CUDA_ERROR_INVALID_IMAGE && entry.binary->compile_ms == 0) {
    // What the cache held is no module, whatever its checksum says: compile it afresh.
    cache_.remove(entry.binary->key);
    entry = compile_entry(spec);
    if (!entry.binary) return;
    result = driver_.module_load_data(&entry.module, entry.binary->code.c_str());
  }
  if (result != CUDA_SUCCESS) {
    entry.module = nullptr;
    entry.error = fmt::format("loading {} for {} (driver {}): {}{}{}", describe(spec),
                              entry.binary->target.arch, info_.driver_version, describe(driver_, result),
                              entry.binary->target.note.empty() ? "" : "; " + entry.binary->target.note,
                              result == CUDA_ERROR_UNSUPPORTED_PTX_VERSION
                                  ? "; a driver as new as this NVRTC's toolkit would load it"
                                  : "");
    return;
  }
  auto loaded = std::make_unique<CompiledKernel>();
  result = driver_.module_get_function(&loaded->function, entry.module, spec.entry.c_str());
  if (result != CUDA_SUCCESS) {
    entry.error = fmt::format("{} has no kernel {}: {}", spec.source, spec.entry, describe(driver_, result));
    return;
  }
  const auto attribute = [&](CUfunction_attribute which) {
    int value = 0;
    driver_.func_get_attribute(&value, which, loaded->function);
    return value;
  };
  // Of this kernel alone, where the ptxas log covers all of the file. Local memory holds spills; a kernel
  // with arrays that are indexed at run time has local memory without a spill, so the log decides where there
  // is one.
  const KernelResources& logged = entry.binary->resources;
  const bool has_log = !entry.binary->target.ptx && logged.registers_per_thread > 0;
  loaded->resources = {
      .registers_per_thread = attribute(CU_FUNC_ATTRIBUTE_NUM_REGS),
      .spill_bytes = has_log ? logged.spill_bytes : attribute(CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES),
      .smem_bytes = attribute(CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES)};
  loaded->compile_ms = entry.binary->compile_ms;
  loaded->name = describe(spec);
  loaded->note = entry.binary->target.note;
  entry.loaded = std::move(loaded);
}

}  // namespace attnprof
