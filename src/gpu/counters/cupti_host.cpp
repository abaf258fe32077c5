#include "gpu/counters/cupti_host.hpp"

#include "gpu/counters/cupti_error.hpp"

namespace attnprof {
namespace {

const CuptiApi& require_cupti() {
  const CuptiApi* api = cupti_api();
  if (!api) throw CuptiError("missing", cupti_missing());
  return *api;
}

}  // namespace

std::vector<std::string> cupti_chips() {
  const CuptiApi* api = cupti_api();
  if (!api) return {};
  auto params = cupti_params<CUpti_Profiler_Host_GetSupportedChips_Params>(
      CUpti_Profiler_Host_GetSupportedChips_Params_STRUCT_SIZE);
  if (api->host_get_supported_chips(&params) != CUPTI_SUCCESS) return {};
  return {params.ppChipNames, params.ppChipNames + params.numChips};
}

CounterSchedule::CounterSchedule(const std::string& chip, const std::vector<std::string>& metrics,
                                 std::vector<uint8_t> availability)
    : api_(&require_cupti()), metrics_(metrics), availability_(std::move(availability)) {
  for (const std::string& metric : metrics_) names_.push_back(metric.c_str());
  auto init =
      cupti_params<CUpti_Profiler_Host_Initialize_Params>(CUpti_Profiler_Host_Initialize_Params_STRUCT_SIZE);
  init.profilerType = CUPTI_PROFILER_TYPE_RANGE_PROFILER;
  init.pChipName = chip.c_str();
  init.pCounterAvailabilityImage = availability_.empty() ? nullptr : availability_.data();
  check_cupti(api_->host_initialize(&init), "describing the chip's counters");
  host_.reset(init.pHostObject);
  auto add = cupti_params<CUpti_Profiler_Host_ConfigAddMetrics_Params>(
      CUpti_Profiler_Host_ConfigAddMetrics_Params_STRUCT_SIZE);
  add.pHostObject = host_.get();
  add.ppMetricNames = names_.data();
  add.numMetrics = names_.size();
  if (const CUptiResult result = api_->host_config_add_metrics(&add); result != CUPTI_SUCCESS) {
    // Depending on its version CUPTI calls an unknown name an invalid parameter.
    if (result == CUPTI_ERROR_INVALID_PARAMETER)
      throw CuptiError("metric", "a counter is not known on " + chip);
    throw CuptiError("choosing counters on " + chip, result);
  }

  auto size = cupti_params<CUpti_Profiler_Host_GetConfigImageSize_Params>(
      CUpti_Profiler_Host_GetConfigImageSize_Params_STRUCT_SIZE);
  size.pHostObject = host_.get();
  check_cupti(api_->host_get_config_image_size(&size), "sizing the counter configuration");
  config_.resize(size.configImageSize);
  auto image = cupti_params<CUpti_Profiler_Host_GetConfigImage_Params>(
      CUpti_Profiler_Host_GetConfigImage_Params_STRUCT_SIZE);
  image.pHostObject = host_.get();
  image.configImageSize = config_.size();
  image.pConfigImage = config_.data();
  check_cupti(api_->host_get_config_image(&image), "writing the counter configuration");

  auto passes = cupti_params<CUpti_Profiler_Host_GetNumOfPasses_Params>(
      CUpti_Profiler_Host_GetNumOfPasses_Params_STRUCT_SIZE);
  passes.configImageSize = config_.size();
  passes.pConfigImage = config_.data();
  check_cupti(api_->host_get_num_of_passes(&passes), "counting the passes");
  passes_ = static_cast<int>(passes.numOfPasses);
}

void CounterSchedule::EndHost::operator()(CUpti_Profiler_Host_Object* host) const {
  auto params = cupti_params<CUpti_Profiler_Host_Deinitialize_Params>(
      CUpti_Profiler_Host_Deinitialize_Params_STRUCT_SIZE);
  params.pHostObject = host;
  cupti_api()->host_deinitialize(&params);
}

std::vector<double> CounterSchedule::evaluate(std::span<const uint8_t> counter_image, size_t range) const {
  std::vector<double> values(metrics_.size());
  std::vector<const char*> names = names_;  // the API's pointer is not const
  auto params = cupti_params<CUpti_Profiler_Host_EvaluateToGpuValues_Params>(
      CUpti_Profiler_Host_EvaluateToGpuValues_Params_STRUCT_SIZE);
  params.pHostObject = host_.get();
  params.pCounterDataImage = counter_image.data();
  params.counterDataImageSize = counter_image.size();
  params.rangeIndex = range;
  params.ppMetricNames = names.data();
  params.numMetrics = names.size();
  params.pMetricValues = values.data();
  check_cupti(api_->host_evaluate_to_gpu_values(&params), "evaluating counters");
  return values;
}

bool chip_has_metric(const std::string& chip, const std::string& metric) {
  try {
    const CounterSchedule schedule(chip, {metric});
    return schedule.passes() > 0;
  } catch (const CuptiError&) {
    return false;
  }
}

}  // namespace attnprof
