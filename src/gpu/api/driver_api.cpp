#include "gpu/api/driver_api.hpp"

#include <vector>

#include "core/error.hpp"
#include "gpu/api/shared_library.hpp"

namespace attnprof {
namespace {

struct LoadedDriver {
  SharedLibrary library;
  DriverApi api;
  std::string missing;

  LoadedDriver() : library(std::vector<std::string>{"libcuda.so.1"}) {
    if (!library) {
      missing =
          "no NVIDIA driver: libcuda.so.1 cannot be loaded; install the NVIDIA driver (in a container, start "
          "it with "
          "GPU access: docker run --gpus all)";
      return;
    }
    // The suffixed names are the 64-bit-size ABI that cuda.h maps the plain names to since CUDA 3.2 and 4.0.
    const std::string absent = load_symbols(
        library, {slot("cuInit", api.init),
                  slot("cuDriverGetVersion", api.driver_get_version),
                  slot("cuGetErrorName", api.get_error_name),
                  slot("cuGetErrorString", api.get_error_string),
                  slot("cuDeviceGetCount", api.device_get_count),
                  slot("cuDeviceGet", api.device_get),
                  slot("cuDeviceGetName", api.device_get_name),
                  slot("cuDeviceGetUuid_v2", api.device_get_uuid),
                  slot("cuDeviceGetAttribute", api.device_get_attribute),
                  slot("cuDeviceTotalMem_v2", api.device_total_mem),
                  slot("cuDevicePrimaryCtxRetain", api.primary_ctx_retain),
                  slot("cuDevicePrimaryCtxRelease_v2", api.primary_ctx_release),
                  slot("cuCtxSetCurrent", api.ctx_set_current),
                  slot("cuCtxSynchronize", api.ctx_synchronize),
                  slot("cuMemGetInfo_v2", api.mem_get_info),
                  slot("cuMemAlloc_v2", api.mem_alloc),
                  slot("cuMemFree_v2", api.mem_free),
                  slot("cuMemcpyHtoD_v2", api.memcpy_htod),
                  slot("cuMemcpyDtoH_v2", api.memcpy_dtoh),
                  slot("cuMemcpyDtoDAsync_v2", api.memcpy_dtod_async),
                  slot("cuMemsetD8Async", api.memset_d8_async),
                  slot("cuStreamCreate", api.stream_create),
                  slot("cuStreamDestroy_v2", api.stream_destroy),
                  slot("cuStreamSynchronize", api.stream_synchronize),
                  slot("cuEventCreate", api.event_create),
                  slot("cuEventDestroy_v2", api.event_destroy),
                  slot("cuEventRecord", api.event_record),
                  slot("cuEventElapsedTime", api.event_elapsed_time),
                  slot("cuModuleLoadData", api.module_load_data),
                  slot("cuModuleUnload", api.module_unload),
                  slot("cuModuleGetFunction", api.module_get_function),
                  slot("cuFuncGetAttribute", api.func_get_attribute),
                  slot("cuFuncSetAttribute", api.func_set_attribute),
                  slot("cuLaunchKernelEx", api.launch_kernel_ex),
                  slot("cuOccupancyMaxActiveBlocksPerMultiprocessor", api.occupancy_max_active_blocks),
                  slot("cuTensorMapEncodeTiled", api.tensor_map_encode_tiled, false)});
    if (!absent.empty()) {
      missing = "the NVIDIA driver is too old: libcuda.so.1 has no " + absent +
                "; CUDA 12.0's driver (525) or newer has it";
      return;
    }
    if (const CUresult result = api.init(0); result != CUDA_SUCCESS) {
      missing = "the NVIDIA driver does not start: cuInit: " + describe(api, result);
    }
  }
};

const LoadedDriver& loaded() {
  static const LoadedDriver driver;
  return driver;
}

}  // namespace

const DriverApi* driver_api() {
  return loaded().missing.empty() ? &loaded().api : nullptr;
}
const std::string& driver_missing() {
  return loaded().missing;
}

std::string describe(const DriverApi& driver, CUresult result) {
  const char* name = nullptr;
  const char* text = nullptr;
  driver.get_error_name(result, &name);
  driver.get_error_string(result, &text);
  if (!name) return "CUDA error " + std::to_string(static_cast<int>(result));
  return std::string(name) + (text ? " (" + std::string(text) + ")" : "");
}

void check(const DriverApi& driver, CUresult result, const std::string& attempt, std::source_location where) {
  if (result != CUDA_SUCCESS) throw CaseError(attempt + ": " + describe(driver, result), where);
}

}  // namespace attnprof
