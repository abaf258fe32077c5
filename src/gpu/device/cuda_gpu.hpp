// GpuDevice on the CUDA driver API: the primary context of one GPU, one stream, its compiled kernels.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "gpu/api/cublas_lt_api.hpp"
#include "gpu/api/driver_api.hpp"
#include "gpu/api/nvml_api.hpp"
#include "gpu/device/cubin_cache.hpp"
#include "gpu/device/gpu_device.hpp"
#include "gpu/device/nvrtc_compiler.hpp"

namespace attnprof {

class CudaGpu final : public GpuDevice {
 public:
  /// Retains the primary context of GPU `ordinal`. Throws UnavailableError when that cannot be had.
  explicit CudaGpu(int ordinal);
  ~CudaGpu() override;

  const DeviceInfo& info() const override { return info_; }
  int64_t free_bytes() override;
  std::unique_ptr<Buffer> allocate(int64_t bytes) override;
  void upload(void* device_dst, const void* host_src, int64_t bytes) override;
  void download(void* host_dst, const void* device_src, int64_t bytes) override;
  void fill_bytes(void* device_dst, unsigned char value, int64_t bytes) override;
  void fill_normal(void* device_dst, DType dtype, int64_t count, uint64_t seed, uint32_t stream) override;

  std::unique_ptr<Prepared> bind(const std::vector<Launch>& launches) override;
  void run(Prepared& work) override;
  std::vector<double> sample_us(Prepared& work, const Sampling& sampling, int count) override;
  double timer_resolution_us() const override;
  ClockReading clocks() override;
  void begin_range(const std::string& name) override;
  void end_range() override;

  const DriverApi& driver() const override { return driver_; }
  CUstream stream() const override { return stream_; }
  CUcontext context() const override { return context_; }
  CUdevice cu_device() const override { return device_; }
  const CompiledKernel& kernel(const KernelSpec& spec) override;
  void compile(const std::vector<KernelSpec>& specs,
               const std::function<void(int done, int total)>& progress) override;
  const CublasLtApi& cublas_lt() override;
  cublasLtHandle_t cublas_lt_handle() override;
  void launch_kernel(const CompiledKernel& kernel, const LaunchShape& shape,
                     const void* const* arguments) override;
  void flush_l2() override;
  void hold_us(double us) override;
  void synchronize(const std::string& attempt) override;

 private:
  /// A spec on its way: compiled (or why not), then loaded.
  struct Entry {
    std::optional<CompiledCubin> binary;
    std::string error;
    CUmodule module = nullptr;
    std::unique_ptr<CompiledKernel> loaded;
  };

  void open_context();
  Entry compile_entry(const KernelSpec& spec) const;
  void load(Entry& entry, const KernelSpec& spec);
  /// Throws CaseError when an earlier error has cost us the context.
  void require_alive() const;
  /// Throws for `result`; finds out whether the context survived it.
  void check_alive(CUresult result, const std::string& attempt);
  std::vector<double> sample_batch_us(Prepared& work, const Sampling& sampling, int count);
  CUevent event(size_t index);

  const DriverApi& driver_;
  DeviceInfo info_;
  NvmlDevice board_;
  CubinCache cache_;
  CUdevice device_ = 0;
  CUcontext context_ = nullptr;
  CUstream stream_ = nullptr;
  std::map<std::string, Entry> kernels_;  ///< by describe(spec)
  std::map<CUfunction, unsigned> smem_opt_in_;
  std::vector<CUevent> events_;
  CUdeviceptr flush_buffer_ = 0;
  int64_t flush_bytes_ = 0;
  double clock_mhz_ = 0;
  double enqueue_us_ = 30;  ///< host time that enqueuing one sample took lately
  cublasLtHandle_t cublas_ = nullptr;
  std::string lost_;  ///< why the context is gone; "" while it lives
};

}  // namespace attnprof
