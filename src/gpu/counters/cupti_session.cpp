#include "gpu/counters/cupti_session.hpp"

#include "core/error.hpp"
#include "gpu/counters/cupti_error.hpp"

namespace attnprof {
namespace {

/// Passes after which something is wrong with CUPTI rather than with our patience.
constexpr int kMaxPasses = 200;

const CuptiApi& require_cupti() {
  const CuptiApi* api = cupti_api();
  if (!api) throw CuptiError("missing", cupti_missing());
  return *api;
}

void initialize(const CuptiApi& api) {
  auto params = cupti_params<CUpti_Profiler_Initialize_Params>(CUpti_Profiler_Initialize_Params_STRUCT_SIZE);
  check_cupti(api.profiler_initialize(&params), "starting CUPTI's profiler");
}

}  // namespace

std::string chip_of(GpuDevice& gpu) {
  auto params = cupti_params<CUpti_Device_GetChipName_Params>(CUpti_Device_GetChipName_Params_STRUCT_SIZE);
  params.deviceIndex = static_cast<size_t>(gpu.info().index);
  const CuptiApi& api = require_cupti();
  initialize(api);
  check_cupti(api.device_get_chip_name(&params), "asking for the chip's name");
  return params.pChipName;
}

std::vector<uint8_t> counter_availability(GpuDevice& gpu) {
  const CuptiApi& api = require_cupti();
  initialize(api);
  auto params = cupti_params<CUpti_Profiler_GetCounterAvailability_Params>(
      CUpti_Profiler_GetCounterAvailability_Params_STRUCT_SIZE);
  params.ctx = gpu.context();
  check_cupti(api.profiler_get_counter_availability(&params), "asking which counters are available");
  std::vector<uint8_t> image(params.counterAvailabilityImageSize);
  params.pCounterAvailabilityImage = image.data();
  check_cupti(api.profiler_get_counter_availability(&params), "asking which counters are available");
  return image;
}

CuptiSession::CuptiSession(GpuDevice& gpu, const CounterSchedule& schedule, size_t ranges)
    : api_(require_cupti()), gpu_(gpu), config_(schedule.config_image()) {
  initialize(api_);
  auto enable =
      cupti_params<CUpti_RangeProfiler_Enable_Params>(CUpti_RangeProfiler_Enable_Params_STRUCT_SIZE);
  enable.ctx = gpu.context();
  check_cupti(api_.range_enable(&enable), "enabling the range profiler");
  profiler_ = enable.pRangeProfilerObject;
  try {
    configure(schedule, ranges);
  } catch (...) {
    auto disable =
        cupti_params<CUpti_RangeProfiler_Disable_Params>(CUpti_RangeProfiler_Disable_Params_STRUCT_SIZE);
    disable.pRangeProfilerObject = profiler_;
    api_.range_disable(&disable);
    throw;
  }
}

void CuptiSession::configure(const CounterSchedule& schedule, size_t ranges) {
  std::vector<const char*> names;
  for (const std::string& metric : schedule.metrics()) names.push_back(metric.c_str());
  auto size = cupti_params<CUpti_RangeProfiler_GetCounterDataSize_Params>(
      CUpti_RangeProfiler_GetCounterDataSize_Params_STRUCT_SIZE);
  size.pRangeProfilerObject = profiler_;
  size.pMetricNames = names.data();
  size.numMetrics = names.size();
  size.maxNumOfRanges = ranges;
  size.maxNumRangeTreeNodes = static_cast<uint32_t>(ranges);
  check_cupti(api_.range_get_counter_data_size(&size), "sizing the counter image");
  image_.resize(size.counterDataSize);

  auto init = cupti_params<CUpti_RangeProfiler_CounterDataImage_Initialize_Params>(
      CUpti_RangeProfiler_CounterDataImage_Initialize_Params_STRUCT_SIZE);
  init.pRangeProfilerObject = profiler_;
  init.counterDataSize = image_.size();
  init.pCounterData = image_.data();
  check_cupti(api_.range_counter_data_initialize(&init), "preparing the counter image");

  auto set =
      cupti_params<CUpti_RangeProfiler_SetConfig_Params>(CUpti_RangeProfiler_SetConfig_Params_STRUCT_SIZE);
  set.pRangeProfilerObject = profiler_;
  set.configSize = config_.size();
  set.pConfig = config_.data();
  set.counterDataImageSize = image_.size();
  set.pCounterDataImage = image_.data();
  set.range = CUPTI_UserRange;
  set.replayMode = CUPTI_UserReplay;
  set.maxRangesPerPass = ranges;
  set.numNestingLevels = 1;
  set.minNestingLevel = 1;
  set.passIndex = 0;
  set.targetNestingLevel = 1;
  check_cupti(api_.range_set_config(&set), "configuring the range profiler");
}

CuptiSession::~CuptiSession() {
  if (started_) {
    auto stop = cupti_params<CUpti_RangeProfiler_Stop_Params>(CUpti_RangeProfiler_Stop_Params_STRUCT_SIZE);
    stop.pRangeProfilerObject = profiler_;
    api_.range_stop(&stop);
  }
  auto disable =
      cupti_params<CUpti_RangeProfiler_Disable_Params>(CUpti_RangeProfiler_Disable_Params_STRUCT_SIZE);
  disable.pRangeProfilerObject = profiler_;
  api_.range_disable(&disable);
}

int CuptiSession::collect(const std::function<void()>& replay) {
  for (int pass = 1; pass <= kMaxPasses; ++pass) {
    auto start = cupti_params<CUpti_RangeProfiler_Start_Params>(CUpti_RangeProfiler_Start_Params_STRUCT_SIZE);
    start.pRangeProfilerObject = profiler_;
    check_cupti(api_.range_start(&start), "starting a counter pass");
    started_ = true;
    replay();
    auto stop = cupti_params<CUpti_RangeProfiler_Stop_Params>(CUpti_RangeProfiler_Stop_Params_STRUCT_SIZE);
    stop.pRangeProfilerObject = profiler_;
    started_ = false;
    check_cupti(api_.range_stop(&stop), "ending a counter pass");
    if (!stop.isAllPassSubmitted) continue;
    auto decode = cupti_params<CUpti_RangeProfiler_DecodeData_Params>(
        CUpti_RangeProfiler_DecodeData_Params_STRUCT_SIZE);
    decode.pRangeProfilerObject = profiler_;
    check_cupti(api_.range_decode(&decode), "decoding counters");
    if (decode.numOfRangeDropped > 0) throw CuptiError("failed", "the range profiler dropped a range");
    return pass;
  }
  throw CuptiError("failed", "the range profiler never finished its passes");
}

void CuptiSession::range(const char* name, const std::function<void()>& work) {
  auto push =
      cupti_params<CUpti_RangeProfiler_PushRange_Params>(CUpti_RangeProfiler_PushRange_Params_STRUCT_SIZE);
  push.pRangeProfilerObject = profiler_;
  push.pRangeName = name;
  check_cupti(api_.range_push(&push), "beginning a counter range");
  const auto pop = [this] {
    auto params =
        cupti_params<CUpti_RangeProfiler_PopRange_Params>(CUpti_RangeProfiler_PopRange_Params_STRUCT_SIZE);
    params.pRangeProfilerObject = profiler_;
    return api_.range_pop(&params);
  };
  try {
    work();
    gpu_.synchronize("running the case under counters");
  } catch (...) {
    pop();
    throw;
  }
  check_cupti(pop(), "ending a counter range");
}

}  // namespace attnprof
