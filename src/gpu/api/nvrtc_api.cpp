#include "gpu/api/nvrtc_api.hpp"

#include <algorithm>

#include "gpu/api/shared_library.hpp"

namespace attnprof {
namespace {

struct LoadedNvrtc {
  const SharedLibrary& library = nvrtc_library();
  NvrtcApi api;
  std::string missing;

  LoadedNvrtc() {
    if (!library) {
      missing = "NVRTC, the run-time compiler, cannot be loaded: " + library.error() +
                "; install it (CUDA toolkit, or pip install nvidia-cuda-nvrtc)";
      return;
    }
    const std::string absent = load_symbols(
        library,
        {slot("nvrtcVersion", api.version), slot("nvrtcGetErrorString", api.get_error_string),
         slot("nvrtcGetNumSupportedArchs", api.get_num_supported_archs),
         slot("nvrtcGetSupportedArchs", api.get_supported_archs),
         slot("nvrtcCreateProgram", api.create_program), slot("nvrtcDestroyProgram", api.destroy_program),
         slot("nvrtcCompileProgram", api.compile_program),
         slot("nvrtcGetProgramLogSize", api.get_program_log_size),
         slot("nvrtcGetProgramLog", api.get_program_log), slot("nvrtcGetCUBINSize", api.get_cubin_size),
         slot("nvrtcGetCUBIN", api.get_cubin), slot("nvrtcGetPTXSize", api.get_ptx_size),
         slot("nvrtcGetPTX", api.get_ptx)});
    if (!absent.empty()) {
      missing =
          "NVRTC is too old: " + library.path() + " has no " + absent + "; CUDA 12.0's NVRTC or newer has it";
      return;
    }
    api.path = library.path();
    api.version(&api.major, &api.minor);
    int count = 0;
    api.get_num_supported_archs(&count);
    api.archs.resize(static_cast<size_t>(count));
    if (count > 0) api.get_supported_archs(api.archs.data());
    std::sort(api.archs.begin(), api.archs.end());
  }
};

const LoadedNvrtc& loaded() {
  static const LoadedNvrtc nvrtc;
  return nvrtc;
}

}  // namespace

const NvrtcApi* nvrtc_api() {
  return loaded().missing.empty() ? &loaded().api : nullptr;
}
const std::string& nvrtc_missing() {
  return loaded().missing;
}

}  // namespace attnprof
