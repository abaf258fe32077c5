// The GPU as src/gpu sees it: compiled kernels, a stream, libraries.
#pragma once

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <string>
#include <vector>

#include "core/device.hpp"
#include "core/implementation.hpp"

// The driver's and cuBLASLt's handles, named as their headers name them.
struct CUfunc_st;
struct CUctx_st;
struct cublasLtContext;

namespace attnprof {

struct DriverApi;    // gpu/api/driver_api.hpp
struct CublasLtApi;  // gpu/api/cublas_lt_api.hpp

/// A kernel compiled for this GPU and loaded. Lives as long as the GpuDevice.
struct CompiledKernel {
  CUfunc_st* function = nullptr;
  KernelResources resources;  ///< smem_bytes holds the static part only
  double compile_ms = 0;      ///< 0 when the cubin came from the on-disk cache
  std::string name;           ///< "flash2.cu:attention -DATTNPROF_TILE_M=128", for messages
  std::string note;           ///< not built for this architecture itself: what it was built for, and why
};

class GpuDevice : public Device {
 public:
  /// The driver's entry points; valid while the device lives.
  virtual const DriverApi& driver() const = 0;
  virtual CUctx_st* context() const = 0;
  virtual int cu_device() const = 0;
  /// Compiled on first use (or earlier, by compile_kernels). Throws CaseError with the first line of the
  /// compile log and the path of the whole log.
  virtual const CompiledKernel& kernel(const KernelSpec& spec) = 0;
  /// Compiles those of `specs` that neither this object nor the on-disk cache has, in parallel. Failures are
  /// kept and thrown by kernel(). See compile_kernels in gpu.hpp.
  virtual void compile(const std::vector<KernelSpec>& specs,
                       const std::function<void(int done, int total)>& progress) = 0;
  /// Handle and API of cuBLASLt, loaded on first use. Throws CaseError naming the library that is missing.
  virtual const CublasLtApi& cublas_lt() = 0;
  virtual cublasLtContext* cublas_lt_handle() = 0;

  /// Enqueues one kernel on stream(), given the address of each argument. Throws CaseError with the driver's
  /// name for the failure, the grid and the shared memory asked for.
  virtual void launch_kernel(const CompiledKernel& kernel, const LaunchShape& shape,
                             const void* const* arguments) = 0;
  void launch(const CompiledKernel& kernel, const LaunchShape& shape,
              std::initializer_list<const void*> arguments) {
    launch_kernel(kernel, shape, arguments.begin());
  }

  /// Enqueues the eviction of the L2 by reading: dirty lines are written back, clean ones take their place.
  virtual void flush_l2() = 0;
  /// Enqueues a kernel that keeps the device busy for about `us` microseconds, so that the host can enqueue
  /// what follows before any of it starts.
  virtual void hold_us(double us) = 0;
  /// Waits for stream(). Throws CaseError; an error that the context does not survive (illegal address, ...)
  /// marks the device as lost, and every later call that needs it throws that reason.
  virtual void synchronize(const std::string& attempt) = 0;
};

/// Every Device of kind gpu is a GpuDevice.
inline GpuDevice& as_gpu(Device& device) {
  return static_cast<GpuDevice&>(device);
}

}  // namespace attnprof
