#include "gpu/device/cuda_gpu.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>

#include "core/error.hpp"
#include "core/random.hpp"
#include "gpu/device/gpu_info.hpp"
#include "gpu/device/nvtx.hpp"
#include "gpu/gpu.hpp"

namespace attnprof {
namespace {

CUdeviceptr as_device(const void* address) {
  return reinterpret_cast<CUdeviceptr>(address);
}

class CudaBuffer final : public Buffer {
 public:
  CudaBuffer(const DriverApi& driver, CUdeviceptr address, int64_t bytes)
      : driver_(driver), address_(address), bytes_(bytes) {}
  ~CudaBuffer() override {
    driver_.mem_free(address_);
  }  // fails when the context is lost: the memory went with it
  void* data() override { return reinterpret_cast<void*>(address_); }
  int64_t size_bytes() const override { return bytes_; }

 private:
  const DriverApi& driver_;
  CUdeviceptr address_;
  int64_t bytes_;
};

const DriverApi& require_driver() {
  const DriverApi* driver = driver_api();
  if (!driver) throw UnavailableError(driver_missing());
  return *driver;
}

}  // namespace

std::unique_ptr<Device> open_gpu(int index) {
  return std::make_unique<CudaGpu>(index);
}

CudaGpu::CudaGpu(int ordinal) : driver_(require_driver()) {
  int count = 0;
  driver_.device_get_count(&count);
  if (ordinal < 0 || ordinal >= count) {
    throw UnavailableError(
        fmt::format("GPU {} is not there: this machine shows {} GPU(s), numbered from 0", ordinal, count));
  }
  try {
    info_ = read_gpu_info(driver_, ordinal);
    check(driver_, driver_.device_get(&device_, ordinal), "opening the GPU");
    open_context();
  } catch (const CaseError& error) {
    throw UnavailableError(fmt::format("GPU {} cannot be used: {}", ordinal, error.what()));
  }
  board_ = NvmlDevice(info_.uuid);
}

void CudaGpu::open_context() {
  check(driver_, driver_.primary_ctx_retain(&context_, device_), "creating a context");
  check(driver_, driver_.ctx_set_current(context_), "using the context");
  check(driver_, driver_.stream_create(&stream_, CU_STREAM_NON_BLOCKING), "creating a stream");
  // Taken at once, so that what is planned to fit does fit later. Three times the L2, so that whatever the
  // replacement policy prefers to keep has been pushed out as well.
  flush_bytes_ = std::max<int64_t>(3 * info_.last_level_cache_bytes, int64_t{64} << 20);
  check(driver_, driver_.mem_alloc(&flush_buffer_, static_cast<size_t>(flush_bytes_)),
        fmt::format("allocating {} bytes to flush the L2 cache", flush_bytes_));
  check(driver_, driver_.memset_d8_async(flush_buffer_, 0, static_cast<size_t>(flush_bytes_), stream_),
        "clearing the flush buffer");
  int clock_khz = 0;
  driver_.device_get_attribute(&clock_khz, CU_DEVICE_ATTRIBUTE_CLOCK_RATE, device_);
  clock_mhz_ = std::max(clock_khz / 1000.0, 500.0);
}

CudaGpu::~CudaGpu() {
  if (cublas_) cublas_lt_api()->destroy(cublas_);
  for (const CUevent event : events_) driver_.event_destroy(event);
  for (const auto& [name, entry] : kernels_) {
    if (entry.module) driver_.module_unload(entry.module);
  }
  if (flush_buffer_) driver_.mem_free(flush_buffer_);
  if (stream_) driver_.stream_destroy(stream_);
  if (!context_) return;
  if (const CUresult result = driver_.primary_ctx_release(device_); result != CUDA_SUCCESS && lost_.empty()) {
    fmt::print(stderr, "attnprof: releasing GPU {}: {}\n", info_.index, describe(driver_, result));
  }
}

void CudaGpu::require_alive() const {
  if (!lost_.empty()) {
    throw CaseError(fmt::format(
        "GPU {} is lost to this process since an earlier case failed ({}); run the remaining cases again",
        info_.index, lost_));
  }
}

void CudaGpu::check_alive(CUresult result, const std::string& attempt) {
  if (result == CUDA_SUCCESS) return;
  const std::string message = attempt + ": " + describe(driver_, result);
  // A sticky error is returned by everything that follows; any other is gone once reported.
  if (driver_.ctx_synchronize() != CUDA_SUCCESS) lost_ = message;
  throw CaseError(message);
}

void CudaGpu::synchronize(const std::string& attempt) {
  require_alive();
  check_alive(driver_.stream_synchronize(stream_), attempt);
}

int64_t CudaGpu::free_bytes() {
  size_t free = 0;
  size_t total = 0;
  if (driver_.mem_get_info(&free, &total) != CUDA_SUCCESS) return 0;
  return static_cast<int64_t>(free);
}

std::unique_ptr<Buffer> CudaGpu::allocate(int64_t bytes) {
  require_alive();
  CUdeviceptr address = 0;
  const CUresult result = driver_.mem_alloc(&address, static_cast<size_t>(std::max<int64_t>(bytes, 1)));
  if (result == CUDA_ERROR_OUT_OF_MEMORY) throw OutOfMemory(bytes, free_bytes());
  check_alive(result, fmt::format("allocating {} bytes", bytes));
  return std::make_unique<CudaBuffer>(driver_, address, bytes);
}

// Copies wait for the stream first: it does not wait for them, being a non-blocking one.
void CudaGpu::upload(void* device_dst, const void* host_src, int64_t bytes) {
  if (bytes <= 0) return;
  synchronize("work before an upload");
  check_alive(driver_.memcpy_htod(as_device(device_dst), host_src, static_cast<size_t>(bytes)),
              fmt::format("uploading {} bytes", bytes));
}

void CudaGpu::download(void* host_dst, const void* device_src, int64_t bytes) {
  if (bytes <= 0) return;
  synchronize("work before a download");
  check_alive(driver_.memcpy_dtoh(host_dst, as_device(device_src), static_cast<size_t>(bytes)),
              fmt::format("downloading {} bytes", bytes));
}

void CudaGpu::fill_bytes(void* device_dst, unsigned char value, int64_t bytes) {
  if (bytes <= 0) return;
  require_alive();
  check_alive(driver_.memset_d8_async(as_device(device_dst), value, static_cast<size_t>(bytes), stream_),
              fmt::format("filling {} bytes", bytes));
  synchronize("filling memory");
}

void CudaGpu::fill_normal(void* device_dst, DType dtype, int64_t count, uint64_t seed, uint32_t stream) {
  if (count <= 0) return;
  const CompiledKernel& fill =
      kernel({"gpu/device/fill.cu", fmt::format("fill_normal_{}", to_string(dtype)), {}});
  const unsigned long long elements = static_cast<unsigned long long>(count);
  const unsigned long long key = random_key(seed, stream);
  const auto blocks = std::min<int64_t>((count + 255) / 256, int64_t{16} * info_.multiprocessors);
  launch(fill, {.grid_x = static_cast<unsigned>(blocks), .block_x = 256}, {&device_dst, &elements, &key});
  synchronize("filling memory with random values");
}

void CudaGpu::launch_kernel(const CompiledKernel& kernel, const LaunchShape& shape,
                            const void* const* arguments) {
  require_alive();
  const auto require = [&](CUresult result, const std::string& hint) {
    if (result == CUDA_SUCCESS) return;
    check_alive(
        result,
        fmt::format("launching {}, grid ({}, {}, {}), {} threads, {} bytes of shared memory{}", kernel.name,
                    shape.grid_x, shape.grid_y, shape.grid_z, shape.block_x, shape.dynamic_smem_bytes, hint));
  };
  if (shape.dynamic_smem_bytes + kernel.resources.smem_bytes > 48 * 1024) {
    unsigned& opted_in = smem_opt_in_[kernel.function];
    if (shape.dynamic_smem_bytes > opted_in) {
      require(driver_.func_set_attribute(kernel.function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                                         static_cast<int>(shape.dynamic_smem_bytes)),
              fmt::format(" (this GPU allows {} per block)", info_.smem_per_block_bytes));
      opted_in = shape.dynamic_smem_bytes;
    }
  }
  CUlaunchAttribute cluster{};
  cluster.id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION;
  cluster.value.clusterDim = {shape.cluster_x, 1, 1};
  CUlaunchConfig config{};
  config.gridDimX = shape.grid_x;
  config.gridDimY = shape.grid_y;
  config.gridDimZ = shape.grid_z;
  config.blockDimX = shape.block_x;
  config.blockDimY = config.blockDimZ = 1;
  config.sharedMemBytes = shape.dynamic_smem_bytes;
  config.hStream = stream_;
  config.attrs = &cluster;
  config.numAttrs = shape.cluster_x > 1 ? 1 : 0;
  // The driver only reads what the addresses point to.
  require(driver_.launch_kernel_ex(&config, kernel.function, const_cast<void**>(arguments), nullptr), "");
}

const CublasLtApi& CudaGpu::cublas_lt() {
  const CublasLtApi* api = cublas_lt_api();
  if (!api) throw CaseError(cublas_lt_missing());
  return *api;
}

cublasLtHandle_t CudaGpu::cublas_lt_handle() {
  require_alive();
  if (!cublas_) {
    if (const cublasStatus_t status = cublas_lt().create(&cublas_); status != CUBLAS_STATUS_SUCCESS) {
      cublas_ = nullptr;
      throw CaseError("starting cuBLASLt: " + describe(status));
    }
  }
  return cublas_;
}

ClockReading CudaGpu::clocks() {
  return {board_.sm_clock_mhz(), board_.throttle_reasons()};
}
void CudaGpu::begin_range(const std::string& name) {
  nvtx_push(name);
}
void CudaGpu::end_range() {
  nvtx_pop();
}

}  // namespace attnprof
