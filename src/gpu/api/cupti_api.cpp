#include "gpu/api/cupti_api.hpp"

#include <vector>

#include "gpu/api/shared_library.hpp"

namespace attnprof {
namespace {

struct LoadedCupti {
  SharedLibrary library;
  CuptiApi api;
  std::string missing;

  LoadedCupti() : library(std::vector<std::string>{"libcupti.so.13", "libcupti.so.12", "libcupti.so"}) {
    if (!library) {
      missing = "CUPTI cannot be loaded: " + library.error() +
                "; install it (CUDA toolkit, or pip install nvidia-cuda-cupti)";
      return;
    }
    const std::string absent = load_symbols(
        library, {slot("cuptiGetVersion", api.get_version),
                  slot("cuptiGetResultString", api.get_result_string),
                  slot("cuptiDeviceGetChipName", api.device_get_chip_name),
                  slot("cuptiProfilerInitialize", api.profiler_initialize),
                  slot("cuptiProfilerDeInitialize", api.profiler_deinitialize),
                  slot("cuptiProfilerDeviceSupported", api.profiler_device_supported),
                  slot("cuptiProfilerGetCounterAvailability", api.profiler_get_counter_availability),
                  slot("cuptiProfilerHostInitialize", api.host_initialize),
                  slot("cuptiProfilerHostDeinitialize", api.host_deinitialize),
                  slot("cuptiProfilerHostGetSupportedChips", api.host_get_supported_chips),
                  slot("cuptiProfilerHostConfigAddMetrics", api.host_config_add_metrics),
                  slot("cuptiProfilerHostGetConfigImageSize", api.host_get_config_image_size),
                  slot("cuptiProfilerHostGetConfigImage", api.host_get_config_image),
                  slot("cuptiProfilerHostGetNumOfPasses", api.host_get_num_of_passes),
                  slot("cuptiProfilerHostEvaluateToGpuValues", api.host_evaluate_to_gpu_values),
                  slot("cuptiRangeProfilerEnable", api.range_enable),
                  slot("cuptiRangeProfilerDisable", api.range_disable),
                  slot("cuptiRangeProfilerSetConfig", api.range_set_config),
                  slot("cuptiRangeProfilerStart", api.range_start),
                  slot("cuptiRangeProfilerStop", api.range_stop),
                  slot("cuptiRangeProfilerPushRange", api.range_push),
                  slot("cuptiRangeProfilerPopRange", api.range_pop),
                  slot("cuptiRangeProfilerDecodeData", api.range_decode),
                  slot("cuptiRangeProfilerGetCounterDataSize", api.range_get_counter_data_size),
                  slot("cuptiRangeProfilerCounterDataImageInitialize", api.range_counter_data_initialize),
                  slot("cuptiActivityEnable", api.activity_enable),
                  slot("cuptiActivityDisable", api.activity_disable),
                  slot("cuptiActivityRegisterCallbacks", api.activity_register_callbacks),
                  slot("cuptiActivityFlushAll", api.activity_flush_all),
                  slot("cuptiActivityGetNextRecord", api.activity_get_next_record)});
    if (!absent.empty()) {
      missing =
          "CUPTI is too old: " + library.path() + " has no " + absent + "; CUDA 12.6's CUPTI or newer has it";
      return;
    }
    api.path = library.path();
  }
};

const LoadedCupti& loaded() {
  static const LoadedCupti cupti;
  return cupti;
}

}  // namespace

const CuptiApi* cupti_api() {
  return loaded().missing.empty() ? &loaded().api : nullptr;
}
const std::string& cupti_missing() {
  return loaded().missing;
}

}  // namespace attnprof
