// CUPTI's entry points, found in libcupti at run time: hardware counters (range profiler) and activity
// records.
#pragma once

#include <cupti.h>
#include <cupti_profiler_host.h>
#include <cupti_profiler_target.h>
#include <cupti_range_profiler.h>
#include <cupti_target.h>

#include <string>

namespace attnprof {

struct CuptiApi {
  decltype(&::cuptiGetVersion) get_version = nullptr;
  decltype(&::cuptiGetResultString) get_result_string = nullptr;
  decltype(&::cuptiDeviceGetChipName) device_get_chip_name = nullptr;
  decltype(&::cuptiProfilerInitialize) profiler_initialize = nullptr;
  decltype(&::cuptiProfilerDeInitialize) profiler_deinitialize = nullptr;
  decltype(&::cuptiProfilerDeviceSupported) profiler_device_supported = nullptr;
  decltype(&::cuptiProfilerGetCounterAvailability) profiler_get_counter_availability = nullptr;

  decltype(&::cuptiProfilerHostInitialize) host_initialize = nullptr;
  decltype(&::cuptiProfilerHostDeinitialize) host_deinitialize = nullptr;
  decltype(&::cuptiProfilerHostGetSupportedChips) host_get_supported_chips = nullptr;
  decltype(&::cuptiProfilerHostConfigAddMetrics) host_config_add_metrics = nullptr;
  decltype(&::cuptiProfilerHostGetConfigImageSize) host_get_config_image_size = nullptr;
  decltype(&::cuptiProfilerHostGetConfigImage) host_get_config_image = nullptr;
  decltype(&::cuptiProfilerHostGetNumOfPasses) host_get_num_of_passes = nullptr;
  decltype(&::cuptiProfilerHostEvaluateToGpuValues) host_evaluate_to_gpu_values = nullptr;

  decltype(&::cuptiRangeProfilerEnable) range_enable = nullptr;
  decltype(&::cuptiRangeProfilerDisable) range_disable = nullptr;
  decltype(&::cuptiRangeProfilerSetConfig) range_set_config = nullptr;
  decltype(&::cuptiRangeProfilerStart) range_start = nullptr;
  decltype(&::cuptiRangeProfilerStop) range_stop = nullptr;
  decltype(&::cuptiRangeProfilerPushRange) range_push = nullptr;
  decltype(&::cuptiRangeProfilerPopRange) range_pop = nullptr;
  decltype(&::cuptiRangeProfilerDecodeData) range_decode = nullptr;
  decltype(&::cuptiRangeProfilerGetCounterDataSize) range_get_counter_data_size = nullptr;
  decltype(&::cuptiRangeProfilerCounterDataImageInitialize) range_counter_data_initialize = nullptr;

  decltype(&::cuptiActivityEnable) activity_enable = nullptr;
  decltype(&::cuptiActivityDisable) activity_disable = nullptr;
  decltype(&::cuptiActivityRegisterCallbacks) activity_register_callbacks = nullptr;
  decltype(&::cuptiActivityFlushAll) activity_flush_all = nullptr;
  decltype(&::cuptiActivityGetNextRecord) activity_get_next_record = nullptr;

  std::string path;  ///< the library file
};

/// The one copy, loaded on first use; nullptr when missing: cupti_missing() then says why and what to
/// install.
const CuptiApi* cupti_api();
const std::string& cupti_missing();

/// A CUPTI parameter block, zeroed, with its size set (the library tells versions of the block by it).
template <class Params>
Params cupti_params(size_t size) {
  Params params{};
  params.structSize = size;
  return params;
}

}  // namespace attnprof
