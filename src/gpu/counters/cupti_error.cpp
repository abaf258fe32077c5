#include "gpu/counters/cupti_error.hpp"

#include "gpu/api/cupti_api.hpp"

namespace attnprof {
namespace {

std::string result_text(CUptiResult result) {
  const char* text = nullptr;
  if (const CuptiApi* api = cupti_api()) api->get_result_string(result, &text);
  return (text ? std::string(text) : "CUPTI error") + " (" + std::to_string(static_cast<int>(result)) + ")";
}

}  // namespace

// By number, because the newer ones are not in every header that this builds with.
std::string_view counter_cause(CUptiResult result) {
  switch (static_cast<int>(result)) {
    case 35:  // INSUFFICIENT_PRIVILEGES: what the driver calls ERR_NVGPUCTRPERM
    case 40:  // VIRTUALIZED_DEVICE_INSUFFICIENT_PRIVILEGES
      return "permission";
    case 26:  // HARDWARE_BUSY
    case 36:  // OLD_PROFILER_API_INITIALIZED
    case 39:  // MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED
      return "busy";
    case 14:  // NOT_COMPATIBLE
    case 15:  // NOT_INITIALIZED: how a CUPTI newer than the driver fails
    case 11:  // API_NOT_IMPLEMENTED
      return "version";
    case 43:  // MIG_DEVICE_NOT_SUPPORTED
      return "mig";
    case 41:  // CONFIDENTIAL_COMPUTING_NOT_SUPPORTED
      return "confidential";
    case 27:  // NOT_SUPPORTED
    case 33:  // VIRTUALIZED_DEVICE_NOT_SUPPORTED
    case 38:  // LEGACY_PROFILER_NOT_SUPPORTED
    case 42:  // CMP_DEVICE_NOT_SUPPORTED
    case 44:  // SLI_DEVICE_NOT_SUPPORTED
    case 45:  // WSL_DEVICE_NOT_SUPPORTED
    case 46:  // INVALID_CHIP_NAME
      return "unsupported";
    case 16:  // INVALID_METRIC_ID
    case 17:  // INVALID_METRIC_NAME
      return "metric";
    case 8:  // OUT_OF_MEMORY
      return "memory";
    default:
      return "failed";
  }
}

std::string counter_cure(std::string_view cause) {
  if (cause == "permission") {
    return "the driver gives counters to administrators only (ERR_NVGPUCTRPERM): run as root or with "
           "CAP_SYS_ADMIN (docker run "
           "--cap-add SYS_ADMIN), or let all users have them: options nvidia "
           "NVreg_RestrictProfilingToAdminUsers=0 in "
           "/etc/modprobe.d, then reboot; on a rented machine ask the provider";
  }
  if (cause == "busy") {
    return "another profiler holds the counters: end ncu, nsys, compute-sanitizer or a second attnprof; "
           "pause DCGM with dcgmi "
           "profmap --pause (and --resume after)";
  }
  if (cause == "version") {
    return "CUPTI and the driver do not fit together: update the driver, or use the CUPTI of the driver's "
           "CUDA version (set "
           "CUDA_HOME or ATTNPROF_CUDA_LIBS)";
  }
  if (cause == "missing") return "install CUPTI (CUDA toolkit, or pip install nvidia-cuda-cupti)";
  if (cause == "mig") {
    return "this MIG instance has no counters of its own: use an instance that owns its GPU instance, or the "
           "GPU without MIG";
  }
  if (cause == "confidential")
    return "confidential computing forbids counters: start the GPU in devtools mode";
  if (cause == "unsupported")
    return "this GPU (or its virtualisation) has no range profiler; it needs Turing or newer";
  if (cause == "memory") return "counters need some memory of the GPU: leave more free";
  if (cause == "metric") return "this CUPTI does not know a counter on this chip: use a newer one";
  return "time and verification go on without them";
}

CuptiError::CuptiError(const std::string& attempt, CUptiResult result)
    : std::runtime_error(attempt + ": " + result_text(result)), cause_(counter_cause(result)) {}

void check_cupti(CUptiResult result, const char* attempt) {
  if (result != CUPTI_SUCCESS) throw CuptiError(attempt, result);
}

}  // namespace attnprof
