// The run-time compiler's entry points, found in libnvrtc at run time.
#pragma once

#include <nvrtc.h>

#include <string>
#include <vector>

namespace attnprof {

struct NvrtcApi {
  decltype(&::nvrtcVersion) version = nullptr;
  decltype(&::nvrtcGetErrorString) get_error_string = nullptr;
  decltype(&::nvrtcGetNumSupportedArchs) get_num_supported_archs = nullptr;
  decltype(&::nvrtcGetSupportedArchs) get_supported_archs = nullptr;
  decltype(&::nvrtcCreateProgram) create_program = nullptr;
  decltype(&::nvrtcDestroyProgram) destroy_program = nullptr;
  decltype(&::nvrtcCompileProgram) compile_program = nullptr;
  decltype(&::nvrtcGetProgramLogSize) get_program_log_size = nullptr;
  decltype(&::nvrtcGetProgramLog) get_program_log = nullptr;
  decltype(&::nvrtcGetCUBINSize) get_cubin_size = nullptr;
  decltype(&::nvrtcGetCUBIN) get_cubin = nullptr;
  decltype(&::nvrtcGetPTXSize) get_ptx_size = nullptr;
  decltype(&::nvrtcGetPTX) get_ptx = nullptr;

  int major = 0;  ///< 13 of 13.0
  int minor = 0;
  std::vector<int> archs;  ///< compute capabilities it generates code for, ascending: 75, 80, ...
  std::string path;        ///< the library file
};

/// The one copy, loaded on first use; nullptr when missing: nvrtc_missing() then says why and what to
/// install.
const NvrtcApi* nvrtc_api();
const std::string& nvrtc_missing();

}  // namespace attnprof
