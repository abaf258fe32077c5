#include "gpu/api/cudnn_api.hpp"

#include <array>
#include <string_view>
#include <vector>

#include "core/error.hpp"
#include "gpu/api/shared_library.hpp"

namespace attnprof::cudnn {
namespace {

struct Loaded {
  SharedLibrary library;
  Api api;
  std::string missing;

  Loaded() : library(std::vector<std::string>{"libcudnn.so.9"}) {
    if (!library) {
      missing = "cuDNN cannot be loaded: " + library.error() +
                "; install cuDNN 9 (pip install nvidia-cudnn-cu13, or NVIDIA's package)";
      return;
    }
    const std::string absent = load_symbols(
        library,
        {slot("cudnnGetVersion", api.get_version), slot("cudnnGetErrorString", api.get_error_string),
         slot("cudnnGetLastErrorString", api.get_last_error_string), slot("cudnnCreate", api.create),
         slot("cudnnDestroy", api.destroy), slot("cudnnSetStream", api.set_stream),
         slot("cudnnBackendCreateDescriptor", api.create_descriptor),
         slot("cudnnBackendDestroyDescriptor", api.destroy_descriptor),
         slot("cudnnBackendFinalize", api.finalize), slot("cudnnBackendSetAttribute", api.set_attribute),
         slot("cudnnBackendGetAttribute", api.get_attribute), slot("cudnnBackendExecute", api.execute)});
    if (!absent.empty()) missing = "cuDNN is not usable: " + library.path() + " has no " + absent;
    nvrtc_library();  // some engines are compiled on the spot
  }
};

const Loaded& loaded() {
  static const Loaded cudnn;
  return cudnn;
}

}  // namespace

const Api* api() {
  return loaded().missing.empty() ? &loaded().api : nullptr;
}
const std::string& missing() {
  return loaded().missing;
}

std::string version_text(const Api& api) {
  const size_t version = api.get_version();
  return std::to_string(version / 10000) + "." + std::to_string(version / 100 % 100) + "." +
         std::to_string(version % 100);
}

// The text is a stack of reports, one a line, the innermost first: "Warning: STATUS; Reason: the condition
// that failed".
std::string last_error(const Api& api) {
  std::array<char, 4096> text{};
  api.get_last_error_string(text.data(), text.size() - 1);
  std::string reason = text.data();
  constexpr std::string_view kMark = "Reason: ";
  if (const size_t mark = reason.find(kMark); mark != std::string::npos) reason.erase(0, mark + kMark.size());
  if (const size_t start = reason.find_first_not_of(" \n"); start != std::string::npos)
    reason.erase(0, start);
  return reason.substr(0, reason.find('\n'));
}

std::string describe(const Api& api, Status status) {
  const std::string reason = last_error(api);
  const std::string name = api.get_error_string(status);
  return reason.empty() ? name : name + ": " + reason;
}

void check(const Api& api, Status status, const std::string& attempt) {
  if (status != 0) throw CaseError("cuDNN: " + attempt + ": " + describe(api, status));
}

}  // namespace attnprof::cudnn
