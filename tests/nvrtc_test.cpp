// Device code without a device: every kernel compiles for every architecture claimed, without spills.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <set>
#include <thread>

#include "catch.hpp"
#include "core/error.hpp"
#include "gpu/gpu.hpp"
#include "implementations.hpp"
#ifdef ATTNPROF_WITH_CUDA
#include "gpu/api/nvrtc_api.hpp"
#include "gpu/device/nvrtc_compiler.hpp"

using namespace attnprof;
namespace fs = std::filesystem;

namespace {

/// A folder that goes away with its test.
struct TemporaryFolder {
  fs::path path = fs::temp_directory_path() / fmt::format("attnprof-nvrtc-test-{}", getpid());
  TemporaryFolder() { fs::remove_all(path); }
  ~TemporaryFolder() { fs::remove_all(path); }
};

bool have_nvrtc() {
  if (nvrtc_api()) return true;
  WARN("skipped: " << nvrtc_missing());
  return false;
}

/// Limits that the kernels' choices depend on, as the boards of these architectures have them.
DeviceInfo board(int compute_capability) {
  DeviceInfo info;
  info.kind = DeviceKind::gpu;
  info.compute_capability = compute_capability;
  info.multiprocessors = compute_capability == 80 ? 108 : 132;
  info.smem_per_block_bytes = (compute_capability == 80 ? 163 : 227) * 1024;
  info.last_level_cache_bytes = int64_t{40} << 20;
  info.memory_bytes = int64_t{80} << 30;
  return info;
}

/// Cases that between them use every kernel at every width that has a tile of its own, each dtype and each
/// mask; not their product, which would take minutes.
std::vector<Case> representative_cases(const Implementation& implementation, const DeviceInfo& device) {
  struct Shape {
    DType dtype;
    int64_t head_dim;
    bool causal;
    int64_t window;
  };
  static constexpr Shape kShapes[] = {{DType::bf16, 64, false, 0},    {DType::bf16, 64, true, 256},
                                      {DType::bf16, 96, false, 0},    {DType::bf16, 128, false, 0},
                                      {DType::bf16, 128, true, 0},    {DType::bf16, 256, false, 0},
                                      {DType::bf16, 256, true, 0},    {DType::fp16, 32, true, 0},
                                      {DType::fp16, 128, false, 256}, {DType::fp32, 64, true, 0}};
  std::vector<Case> cases;
  for (const Pass pass : {Pass::fwd, Pass::bwd}) {
    for (const Shape& shape : kShapes) {
      Case c;
      c.problem = {.pass = pass,
                   .dtype = shape.dtype,
                   .batch = 2,
                   .heads = 4,
                   .kv_heads = 2,
                   .seqlen_q = 1024,
                   .seqlen_kv = 1024,
                   .head_dim = shape.head_dim,
                   .causal = shape.causal,
                   .window = shape.window};
      c.impl = implementation.name;
      c.config = implementation.resolved(c.problem, {}, device);
      if (!refusal(implementation, c, device)) cases.push_back(c);
    }
  }
  return cases;
}

/// All specs of the registry for a board, and the tool's own, each once.
std::map<std::string, KernelSpec> all_specs(const DeviceInfo& device) {
  std::map<std::string, KernelSpec> specs;
  const auto add = [&](const KernelSpec& spec) { specs.emplace(describe(spec), spec); };
  for (const char* entry : {"fill_normal_fp32", "fill_normal_bf16", "fill_normal_fp16"})
    add({"gpu/device/fill.cu", entry, {}});
  for (const char* entry : {"read_all", "copy_all", "spin"}) add({"gpu/device/flush.cu", entry, {}});
  for (const char* entry : {"read_over", "write_over", "copy_over", "fma_chains", "exp_chains", "nothing"})
    add({"gpu/device/peak.cu", entry, {}});
  for (const Implementation& implementation : registry()) {
    if (implementation.device != DeviceKind::gpu || !implementation.launches) continue;
    for (const Case& c : representative_cases(implementation, device)) {
      for (const KernelSpec& spec : kernels_of(implementation.launches(c, device, {}))) add(spec);
    }
  }
  return specs;
}

std::vector<EmbeddedFile> one_source(const std::string& text) {
  return {{"test.cu", text}};
}
const KernelSpec kTestKernel{"test.cu", "f", {}};

}  // namespace

TEST_CASE("every kernel compiles for sm_80, sm_90a and sm_100a without a spill", "[nvrtc]") {
  if (!have_nvrtc()) return;
  struct Job {
    KernelSpec spec;
    int compute_capability;
    CompiledCubin cubin;
    std::string error;
  };
  std::vector<Job> jobs;
  for (const int compute_capability : {80, 90, 100}) {
    const std::vector<int>& archs = nvrtc_api()->archs;
    if (std::find(archs.begin(), archs.end(), compute_capability) == archs.end()) {
      WARN("this NVRTC has no sm_" << compute_capability);
      continue;
    }
    for (const auto& [name, spec] : all_specs(board(compute_capability))) {
      jobs.push_back({spec, compute_capability, {}, {}});
    }
  }

  const CubinCache cache;
  std::atomic<size_t> next{0};
  const auto work = [&] {
    for (size_t i = next++; i < jobs.size(); i = next++) {
      try {
        jobs[i].cubin = compile_for_arch(jobs[i].spec, jobs[i].compute_capability, cache);
      } catch (const Error& error) {
        jobs[i].error = error.what();
      }
    }
  };
  std::vector<std::jthread> workers;
  for (unsigned i = 0; i < std::max(1u, std::thread::hardware_concurrency()); ++i) workers.emplace_back(work);
  workers.clear();  // joins

  CHECK(jobs.size() > 6);
  for (const Job& job : jobs) {
    INFO(describe(job.spec) << " for sm_" << job.compute_capability << "\n" << job.cubin.log);
    CHECK(job.error == "");
    if (!job.error.empty()) continue;
    CHECK(job.cubin.code.substr(1, 3) == "ELF");
    CHECK(job.cubin.resources.registers_per_thread > 0);
    CHECK(job.cubin.resources.spill_bytes == 0);
    for (const char* complaint : {"serialized", "ignored", "injected"}) {
      CHECK(job.cubin.log.find(complaint) == std::string::npos);
    }
  }
}

TEST_CASE("a second compilation comes from the cache and gives the same code", "[nvrtc]") {
  if (!have_nvrtc()) return;
  const TemporaryFolder folder;
  const CubinCache cache(folder.path);
  const auto sources = one_source("extern \"C\" __global__ void f(int* p) { *p = VALUE; }");
  const KernelSpec one{"test.cu", "f", {{"VALUE", "1"}}};
  const KernelSpec two{"test.cu", "f", {{"VALUE", "2"}}};
  const CompiledCubin first = compile_for_arch(one, 80, cache, sources);
  CHECK(first.compile_ms > 0);
  const CompiledCubin second = compile_for_arch(one, 80, cache, sources);
  CHECK(second.compile_ms == 0);
  CHECK(second.code == first.code);
  CHECK(second.resources.registers_per_thread == first.resources.registers_per_thread);
  CHECK(compile_for_arch(two, 80, cache, sources).compile_ms > 0);
  CHECK(compile_for_arch(one, 90, cache, sources).compile_ms > 0);
  CHECK(compile_for_arch(one, 80, cache, one_source(sources[0].text + "\n")).compile_ms > 0);
}

TEST_CASE("a change in an included header is another entry of the cache", "[nvrtc]") {
  if (!have_nvrtc()) return;
  const TemporaryFolder folder;
  const CubinCache cache(folder.path);
  std::vector<EmbeddedFile> sources{
      {"test.cu", "#include \"a.cuh\"\nextern \"C\" __global__ void f(int* p) { *p = value(); }"},
      {"a.cuh", "#include \"b.cuh\"\n__device__ int value() { return kValue; }"},
      {"b.cuh", "constexpr int kValue = 1;"}};
  const std::string key = compile_for_arch(kTestKernel, 80, cache, sources).key;
  sources[2].text = "constexpr int kValue = 2;";
  const CompiledCubin changed = compile_for_arch(kTestKernel, 80, cache, sources);
  CHECK(changed.key != key);
  CHECK(changed.compile_ms > 0);
}

TEST_CASE("a damaged file in the cache is compiled again", "[nvrtc]") {
  if (!have_nvrtc()) return;
  const TemporaryFolder folder;
  const CubinCache cache(folder.path);
  const auto sources = one_source("extern \"C\" __global__ void f(int* p) { *p = 3; }");
  const CompiledCubin first = compile_for_arch(kTestKernel, 80, cache, sources);
  fs::resize_file(folder.path / (first.key + ".bin"), first.code.size() / 2);
  const CompiledCubin again = compile_for_arch(kTestKernel, 80, cache, sources);
  CHECK(again.compile_ms > 0);
  CHECK(again.code == first.code);
}

TEST_CASE("a cache folder that cannot be written costs time only", "[nvrtc]") {
  if (!have_nvrtc()) return;
  const CubinCache cache("/proc/attnprof-cannot-be-here");
  const auto sources = one_source("extern \"C\" __global__ void f(int* p) { *p = 4; }");
  CHECK(compile_for_arch(kTestKernel, 80, cache, sources).compile_ms > 0);
  CHECK(compile_for_arch(kTestKernel, 80, cache, sources).compile_ms > 0);
}

TEST_CASE("source that does not compile gives the first error line and keeps the log", "[nvrtc]") {
  if (!have_nvrtc()) return;
  const TemporaryFolder folder;
  const CubinCache cache(folder.path);
  const auto sources = one_source("extern \"C\" __global__ void f(int* p) {\n  *p = nonsense;\n}\n");
  std::string message;
  try {
    compile_for_arch(kTestKernel, 80, cache, sources);
  } catch (const CaseError& error) {
    message = error.what();
  }
  CHECK(message.find("test.cu(2): error: identifier \"nonsense\" is undefined") != std::string::npos);
  CHECK(message.find("sm_80") != std::string::npos);
  CHECK(message.find("NVRTC") != std::string::npos);
  CHECK(message.find('\n') == std::string::npos);
  const size_t log = message.find("(log: ");
  REQUIRE(log != std::string::npos);
  CHECK(fs::exists(message.substr(log + 6, message.rfind(')') - log - 6)));
}

TEST_CASE("a device older than the compiler is refused by name and version", "[nvrtc]") {
  if (!have_nvrtc()) return;
  try {
    compile_for_arch(kTestKernel, 30, CubinCache(fs::path()), one_source(""));
    FAIL("compiled for sm_30");
  } catch (const CaseError& error) {
    const std::string message = error.what();
    CHECK(message.find("sm_30") != std::string::npos);
    CHECK(message.find(fmt::format("NVRTC {}.{}", nvrtc_api()->major, nvrtc_api()->minor)) !=
          std::string::npos);
    CHECK(message.find("CUDA_HOME") != std::string::npos);
  }
}

TEST_CASE("the target is the device's own architecture, or the nearest that runs there", "[nvrtc]") {
  const std::vector<int> archs{75, 80, 86, 89, 90};
  CHECK(choose_target(80, archs)->arch == "sm_80");
  CHECK(choose_target(89, archs)->arch == "sm_89");
  CHECK(choose_target(90, archs)->arch == "sm_90a");
  CHECK(choose_target(90, archs)->note.empty());
  CHECK(choose_target(87, archs)->arch == "sm_86");
  CHECK_FALSE(choose_target(87, archs)->ptx);
  CHECK(choose_target(100, archs)->arch == "compute_90");
  CHECK(choose_target(100, archs)->ptx);
  CHECK(choose_target(100, archs)->note.find("sm_100") != std::string::npos);
  CHECK_FALSE(choose_target(70, archs));
}

TEST_CASE("PTX for a device newer than the compiler is text that names its target", "[nvrtc]") {
  if (!have_nvrtc()) return;
  const auto sources = one_source("extern \"C\" __global__ void f(int* p) { *p = 5; }");
  const CompiledCubin ptx = compile_for_arch(kTestKernel, 999, CubinCache(fs::path()), sources);
  CHECK(ptx.target.ptx);
  CHECK(ptx.code.find(".target sm_") != std::string::npos);
}

TEST_CASE("the compiler's own cache, which gives no log, is not asked where there is one", "[nvrtc]") {
  const auto asks_no_cache = [](NvrtcVersion version) {
    const auto options = compile_options(kTestKernel, {"sm_90a", false, ""}, version);
    return std::count(options.begin(), options.end(), "--no-cache") == 1;
  };
  CHECK_FALSE(asks_no_cache({12, 6}));  // does not know the option
  CHECK_FALSE(asks_no_cache({12, 8}));
  CHECK(asks_no_cache({12, 9}));
  CHECK(asks_no_cache({13, 0}));
}

TEST_CASE("registers, spills and shared memory are read off the ptxas text", "[nvrtc]") {
  const KernelResources r = parse_ptxas(
      "ptxas info    : 0 bytes gmem\n"
      "ptxas info    : Compiling entry function 'a' for 'sm_90a'\n"
      "ptxas         .     48 bytes stack frame, 40 bytes spill stores, 24 bytes spill loads\n"
      "ptxas info    : Used 168 registers, used 1 barriers, 48 bytes cumulative stack size, 1024 bytes smem\n"
      "ptxas         .     0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads\n"
      "ptxas info    : Used 32 registers\n");
  CHECK(r.registers_per_thread == 168);
  CHECK(r.spill_bytes == 64);
  CHECK(r.smem_bytes == 1024);
}

TEST_CASE("embedded sources are the files of the tree, byte for byte", "[nvrtc]") {
  std::set<std::string> paths;
  for (const EmbeddedFile& source : device_sources()) {
    INFO(source.path);
    CHECK(paths.insert(source.path).second);
    const fs::path root = ATTNPROF_SOURCE_DIR;
    std::ifstream in(fs::exists(root / source.path) ? root / source.path : root / "src" / source.path,
                     std::ios::binary);
    const std::string text(std::istreambuf_iterator<char>(in), {});
    CHECK(text == source.text);
  }
  for (const char* shared : {"core/random.hpp", "core/mask.hpp", "kernels/flash3/layout.hpp"})
    CHECK(paths.count(shared) == 1);
}
#endif

TEST_CASE("a machine without a GPU is told what is missing", "[gpu-list]") {
  const attnprof::GpuList list = attnprof::list_gpus();
  if (!list.gpus.empty()) {
    SUCCEED("there is a GPU");
    return;
  }
  CHECK(list.why_none.size() > 20);
  CHECK_THROWS_AS(attnprof::open_gpu(0), attnprof::UnavailableError);
}
