#include "gpu/device/nvrtc_compiler.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <sstream>

#include "core/error.hpp"
#include "gpu/api/driver_api.hpp"
#include "gpu/api/nvrtc_api.hpp"

namespace attnprof {
namespace {

const EmbeddedFile* find_source(const std::vector<EmbeddedFile>& sources, const std::string& path) {
  const auto it = std::find_if(sources.begin(), sources.end(), [&](const auto& s) { return s.path == path; });
  return it == sources.end() ? nullptr : &*it;
}

/// Paths in `#include "PATH"` lines of `text`.
std::vector<std::string> included_paths(const std::string& text) {
  std::vector<std::string> paths;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    const size_t open = line.find('"');
    const size_t close = line.rfind('"');
    if (line.rfind("#include", 0) != 0 || open == std::string::npos || close <= open) continue;
    paths.push_back(line.substr(open + 1, close - open - 1));
  }
  return paths;
}

/// `root` and all it includes, directly or not, root first: what its binary depends on.
std::vector<const EmbeddedFile*> dependencies(const std::vector<EmbeddedFile>& sources,
                                              const EmbeddedFile& root) {
  std::vector<const EmbeddedFile*> found{&root};
  for (size_t i = 0; i < found.size(); ++i) {
    for (const std::string& path : included_paths(found[i]->text)) {
      const EmbeddedFile* source = find_source(sources, path);
      if (source && std::find(found.begin(), found.end(), source) == found.end()) found.push_back(source);
    }
  }
  return found;
}

std::string driver_text() {
  const DriverApi* driver = driver_api();
  if (!driver) return "no driver";
  int version = 0;
  driver->driver_get_version(&version);
  return fmt::format("driver for CUDA {}.{}", version / 1000, version % 1000 / 10);
}

/// An nvrtcProgram that is destroyed with its scope.
class Program {
 public:
  Program(const NvrtcApi& api, const std::vector<const EmbeddedFile*>& files) : api_(api) {
    std::vector<const char*> names, texts;  // NVRTC looks headers up by the text between the quotes
    for (size_t i = 1; i < files.size(); ++i) {
      names.push_back(files[i]->path.c_str());
      texts.push_back(files[i]->text.c_str());
    }
    const nvrtcResult result = api.create_program(&program_, files[0]->text.c_str(), files[0]->path.c_str(),
                                                  static_cast<int>(texts.size()), texts.data(), names.data());
    if (result != NVRTC_SUCCESS) {
      throw CaseError(fmt::format("NVRTC cannot read {}: {}", files[0]->path, api.get_error_string(result)));
    }
  }
  ~Program() { api_.destroy_program(&program_); }
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

  nvrtcResult compile(const std::vector<std::string>& options) {
    std::vector<const char*> pointers;
    for (const std::string& option : options) pointers.push_back(option.c_str());
    return api_.compile_program(program_, static_cast<int>(pointers.size()), pointers.data());
  }
  std::string log() { return text(api_.get_program_log_size, api_.get_program_log); }
  std::string cubin() { return text(api_.get_cubin_size, api_.get_cubin, false); }
  std::string ptx() { return text(api_.get_ptx_size, api_.get_ptx); }

 private:
  template <class Size, class Get>
  std::string text(Size size_of, Get get, bool drop_terminator = true) {
    size_t size = 0;
    if (size_of(program_, &size) != NVRTC_SUCCESS) return "";
    std::string bytes(size, '\0');
    if (size == 0 || get(program_, bytes.data()) != NVRTC_SUCCESS) return "";
    if (drop_terminator && bytes.back() == '\0') bytes.pop_back();
    return bytes;
  }

  const NvrtcApi& api_;
  nvrtcProgram program_ = nullptr;
};

/// The first line of `log` that is an error; the first line at all when none says so.
std::string first_error(const std::string& log) {
  std::istringstream lines(log);
  std::string first;
  for (std::string line; std::getline(lines, line);) {
    if (line.find("error") != std::string::npos || line.find("fatal") != std::string::npos) return line;
    if (first.empty()) first = line;
  }
  return first.empty() ? "the compiler gave no log" : first;
}

std::string archs_text(const std::vector<int>& archs) {
  std::string text;
  for (const int arch : archs) text += fmt::format("{}sm_{}", text.empty() ? "" : " ", arch);
  return text;
}

int number_after(const std::string& line, const std::string& word) {
  const size_t at = line.find(word);
  return at == std::string::npos ? 0 : std::atoi(line.c_str() + at + word.size());
}

/// The number in front of `word`: "8 bytes spill stores".
int number_before(const std::string& line, const std::string& word) {
  const size_t at = line.find(word);
  if (at == std::string::npos || at == 0) return 0;
  const size_t end = line.find_last_of("0123456789", at - 1);
  if (end == std::string::npos) return 0;
  const size_t start = line.find_last_not_of("0123456789", end);
  return std::atoi(line.c_str() + (start == std::string::npos ? 0 : start + 1));
}

}  // namespace

std::optional<CompileTarget> choose_target(int compute_capability, const std::vector<int>& archs) {
  int best = 0;
  for (const int arch : archs) {
    if (arch <= compute_capability) best = std::max(best, arch);
  }
  if (best == 0) return std::nullopt;
  if (best == compute_capability) {
    return CompileTarget{fmt::format("sm_{}{}", best, best >= 90 ? "a" : ""), false, ""};
  }
  const bool same_major = best / 10 == compute_capability / 10;
  return CompileTarget{fmt::format("{}_{}", same_major ? "sm" : "compute", best), !same_major,
                       fmt::format("this NVRTC has no sm_{}: compiled for {}_{}", compute_capability,
                                   same_major ? "sm" : "compute", best)};
}

std::vector<std::string> compile_options(const KernelSpec& spec, const CompileTarget& target,
                                         NvrtcVersion nvrtc) {
  std::vector<std::string> options{
      "--gpu-architecture=" + target.arch, "--std=c++20", "-lineinfo",
      "-default-device"};  // plain functions shared with the host are device functions
  if (!target.ptx) options.push_back("--ptxas-options=-v");
  // NVRTC's own cache gives code without the log, which says what was spilled; and there is ours
  // (CubinCache).
  if (nvrtc >= NvrtcVersion{12, 9}) options.push_back("--no-cache");
  for (const auto& [name, value] : spec.defines) options.push_back("-D" + name + "=" + value);
  return options;
}

CompiledCubin compile_for_arch(const KernelSpec& spec, int compute_capability, const CubinCache& cache,
                               const std::vector<EmbeddedFile>& sources) {
  const NvrtcApi* api = nvrtc_api();
  if (!api) throw CaseError(fmt::format("cannot compile {}: {}", spec.source, nvrtc_missing()));
  const EmbeddedFile* root = find_source(sources, spec.source);
  if (!root) throw CaseError(fmt::format("no device source named {} is built in", spec.source));
  const std::optional<CompileTarget> target = choose_target(compute_capability, api->archs);
  const std::string versions = fmt::format("NVRTC {}.{}, {}", api->major, api->minor, driver_text());
  if (!target) {
    throw CaseError(fmt::format(
        "cannot compile {} for sm_{}: {} generates code for {} only; use the NVRTC of a toolkit that "
        "still has sm_{} (set CUDA_HOME or ATTNPROF_CUDA_LIBS)",
        spec.source, compute_capability, versions, archs_text(api->archs), compute_capability));
  }

  const std::vector<const EmbeddedFile*> files = dependencies(sources, *root);
  const std::vector<std::string> options = compile_options(spec, *target, {api->major, api->minor});
  std::string identity = fmt::format("nvrtc {}.{}\n", api->major, api->minor);
  for (const std::string& option : options) identity += option + '\n';
  for (const EmbeddedFile* file : files) {
    identity += fmt::format("{} {}\n", file->path, file->text.size()) + file->text;
  }

  CompiledCubin result;
  result.target = *target;
  result.key = content_hash(identity);
  if (std::optional<CachedBinary> cached = cache.find(result.key)) {
    result.code = std::move(cached->code);
    result.log = std::move(cached->log);
    result.resources = parse_ptxas(result.log);
    return result;
  }

  const auto start = std::chrono::steady_clock::now();
  Program program(*api, files);
  const nvrtcResult status = program.compile(options);
  result.compile_ms =
      std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
  result.log = program.log();
  if (status != NVRTC_SUCCESS) {
    const std::string path = cache.store_log(result.key, result.log);
    const bool bad_arch = status == NVRTC_ERROR_INVALID_OPTION;
    throw CaseError(
        fmt::format("{} does not compile for {} ({}): {}{}{}", describe(spec), target->arch, versions,
                    first_error(result.log),
                    bad_arch ? "; an NVRTC of the device's own CUDA version or newer would accept it" : "",
                    path.empty() ? "" : " (log: " + path + ")"));
  }
  result.code = target->ptx ? program.ptx() : program.cubin();
  result.resources = parse_ptxas(result.log);
  cache.store(result.key, {result.code, result.log});
  return result;
}

KernelResources parse_ptxas(const std::string& log) {
  KernelResources most;
  std::istringstream lines(log);
  for (std::string line; std::getline(lines, line);) {
    most.registers_per_thread = std::max(most.registers_per_thread, number_after(line, "Used "));
    most.spill_bytes = std::max<int64_t>(most.spill_bytes, number_before(line, " bytes spill stores") +
                                                               number_before(line, " bytes spill loads"));
    most.smem_bytes = std::max<int64_t>(most.smem_bytes, number_before(line, " bytes smem"));
  }
  return most;
}

std::string describe(const KernelSpec& spec) {
  std::string text = spec.source + ":" + spec.entry;
  for (const auto& [name, value] : spec.defines) text += " -D" + name + "=" + value;
  return text;
}

}  // namespace attnprof
