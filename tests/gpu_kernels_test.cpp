// The GPU implementations against float64. Cases that a fused kernel and the materialising baseline share run
// on both.
#include <cmath>
#include <string>

#include "catch.hpp"
#include "gpu_case.hpp"
#include "implementations.hpp"

using namespace attnprof;
using gpu_test::GpuCase;
using gpu_test::problem;

namespace {

/// True (after saying so) where there is no GPU to test on.
bool no_gpu() {
  return gpu_test::device_or_skip() == nullptr;
}

const Implementation& named(std::string_view name) {
  return find_implementation(name, gpu_test::device()->info(), Pass::fwd);
}

void require_right(const Problem& p, std::string_view impl, const KernelConfig& config = {}) {
  INFO(impl << " " << describe(p) << " tile " << config.tile_m << "x" << config.tile_n << " stages "
            << config.stages << " warps " << config.warps);
  GpuCase gpu_case(p);
  const Unsupported refused = gpu_case.run(named(impl), config);
  INFO(refused.value_or(""));
  REQUIRE(!refused);
  const VerifyResult result = gpu_case.verify(named(impl).materializes);
  INFO(result.message << " rel_err " << result.rel_err << " tolerance " << result.tolerance);
  REQUIRE(result.passed);
}

/// Compiles in parallel what flash2 needs for these cases, where it takes them.
void compile_ahead(const std::vector<std::pair<Problem, KernelConfig>>& cases) {
  const Implementation& flash2 = named("flash2");
  const DeviceInfo& info = gpu_test::device()->info();
  std::vector<KernelSpec> specs;
  for (const auto& [p, config] : cases) {
    const Case planned{p, "flash2", flash2.resolve(p, config, info)};
    if (refusal(flash2, planned, info)) continue;
    for (const KernelSpec& spec : kernels_of(flash2.launches(planned, info, {}))) specs.push_back(spec);
  }
  compile_kernels(*gpu_test::device(), specs, {});
}

constexpr const char* kBoth[] = {"naive", "flash2"};

}  // namespace

TEST_CASE("flash2 matches float64 at every head_dim from 32 to 256", "[gpu][flash2]") {
  if (no_gpu()) return;
  std::vector<std::pair<Problem, KernelConfig>> cases;
  for (int64_t d = 32; d <= 256; d += 8) {
    Problem p = problem(d % 16 == 0 ? DType::bf16 : DType::fp16, 333, d);
    p.heads = p.kv_heads = 2;
    p.causal = d % 24 == 0;
    cases.emplace_back(p, KernelConfig{});
  }
  compile_ahead(cases);
  for (const auto& [p, config] : cases) require_right(p, "flash2", config);
}

TEST_CASE("A signal in the last column alone arrives, whatever the width", "[gpu][flash2]") {
  if (no_gpu()) return;
  for (const int64_t d : {8, 40, 72, 80, 96, 128, 160, 192, 256}) {
    for (const char* impl : kBoth) {
      INFO(impl << " head_dim " << d);
      const Problem p = problem(DType::bf16, 70, d);
      GpuCase gpu_case(p);
      const auto last = [d](int64_t, int64_t row, int64_t column) {
        return column == d - 1 ? 1.0 + static_cast<double>(row % 5) : 0.0;
      };
      gpu_case.set_q(last);
      gpu_case.set_k(last);
      gpu_case.set_v(last);
      REQUIRE(!gpu_case.run(named(impl)));
      REQUIRE(gpu_case.verify(named(impl).materializes).passed);
      REQUIRE(gpu_case.output(0, 0, 0) == 0.0f);
    }
  }
}

TEST_CASE("Widths that a kernel cannot take are refused by name", "[gpu][flash2]") {
  if (no_gpu()) return;
  for (const int64_t d : {1, 63, 100, 264}) {
    const Problem p = problem(DType::bf16, 64, d);
    const Implementation& flash2 = named("flash2");
    const DeviceInfo& info = gpu_test::device()->info();
    const Unsupported reason = refusal(flash2, {p, "flash2", flash2.resolve(p, {}, info)}, info);
    REQUIRE(reason);
    REQUIRE(reason->find("head_dim") != std::string::npos);
    REQUIRE(reason->find(std::to_string(d)) != std::string::npos);
  }
  const Problem p = problem(DType::fp32, 64, 64);
  const Unsupported reason =
      refusal(named("flash2"), {p, "flash2", {128, 48, 2, 4}}, gpu_test::device()->info());
  REQUIRE(reason);
  REQUIRE(reason->find("fp32") != std::string::npos);
}

TEST_CASE("naive takes odd widths and true fp32", "[gpu][naive]") {
  if (no_gpu()) return;
  for (const int64_t d : {1, 63, 100, 64}) {
    Problem p = problem(DType::fp32, 77, d);
    p.causal = d == 63;
    require_right(p, "naive");
    if (d % 2 == 0) require_right(problem(DType::bf16, 77, d), "naive");
  }
}

TEST_CASE("Every sequence length works, masked or not", "[gpu][flash2][naive]") {
  if (no_gpu()) return;
  const int64_t lengths[] = {1, 2, 63, 64, 65, 127, 129, 1000};
  for (const char* impl : kBoth) {
    for (const int64_t q : lengths) {
      for (const int64_t kv : lengths) {
        for (const bool causal : {false, true}) {
          Problem p = problem(DType::bf16, q, 64);
          p.seqlen_kv = kv;
          p.causal = causal;
          require_right(p, impl);
        }
      }
    }
  }
}

TEST_CASE("Windows of every size, with and without causal", "[gpu][flash2][naive]") {
  if (no_gpu()) return;
  for (const char* impl : kBoth) {
    for (const int64_t window : {1, 2, 16, 100, 129, 5000}) {
      for (const bool causal : {false, true}) {
        for (const int64_t kv : {130, 500, 700}) {
          Problem p = problem(DType::fp16, 500, 128);
          p.seqlen_kv = kv;
          p.window = window;
          p.causal = causal;
          require_right(p, impl);
        }
      }
    }
  }
}

TEST_CASE("Long rows: in registers of a whole block, and beyond", "[gpu][naive][flash2]") {
  if (no_gpu()) return;
  for (const int64_t kv : {5001, 16384, 65536, 65537, 140000}) {
    Problem p = problem(DType::bf16, 3, 64);
    p.seqlen_kv = kv;
    require_right(p, "naive");
    require_right(p, "flash2");
    p.causal = true;
    p.window = 70000;
    require_right(p, "naive");
    require_right(p, "flash2");
  }
}

TEST_CASE("Query heads read the KV head of their group", "[gpu][flash2][naive][small]") {
  if (no_gpu()) return;
  const std::pair<int64_t, int64_t> groups[] = {{6, 2}, {28, 4}, {12, 12}, {8, 1}};
  for (const char* impl : kBoth) {
    for (const auto& [heads, kv_heads] : groups) {
      Problem p = problem(DType::bf16, 65, 64);
      p.batch = 2;
      p.heads = heads;
      p.kv_heads = kv_heads;
      GpuCase gpu_case(p);
      const int64_t count = kv_heads;
      gpu_case.set_v([count](int64_t head, int64_t, int64_t) { return static_cast<double>(head % count); });
      REQUIRE(!gpu_case.run(named(impl)));
      for (int64_t head = 0; head < 2 * heads; ++head) {
        INFO(impl << " " << heads << "/" << kv_heads << " head " << head);
        REQUIRE(gpu_case.output(head, 64, 5) ==
                Approx(static_cast<double>(head % heads / (heads / kv_heads))).epsilon(1e-2));
      }
    }
  }
}

TEST_CASE("A row that sees no key is zero, and its log-sum-exp minus infinity",
          "[gpu][flash2][naive][small]") {
  if (no_gpu()) return;
  for (const char* impl : kBoth) {
    Problem p = problem(DType::bf16, 5, 64);
    p.seqlen_kv = 2;
    p.causal = true;
    GpuCase gpu_case(p);
    gpu_case.set_q([](int64_t, int64_t, int64_t) { return 0.0; });
    gpu_case.set_v([](int64_t, int64_t row, int64_t) { return static_cast<double>(row); });
    REQUIRE(!gpu_case.run(named(impl)));
    const float expected[] = {0.0f, 0.0f, 0.0f, 0.0f, 0.5f};
    for (int64_t row = 0; row < 5; ++row) {
      INFO(impl << " row " << row);
      REQUIRE(gpu_case.output(0, row, 63) == expected[row]);
      REQUIRE(std::isinf(gpu_case.lse(row)) == (row < 3));
    }
  }
}

TEST_CASE("Huge equal scores give the plain mean", "[gpu][flash2][naive]") {
  if (no_gpu()) return;
  for (const char* impl : kBoth) {
    for (const double fill : {4.0, 32.0}) {
      INFO(impl << " fill " << fill);
      const Problem p = problem(DType::fp16, 101, 64);
      GpuCase gpu_case(p);
      const auto constant = [fill](int64_t, int64_t, int64_t) { return fill; };
      gpu_case.set_q(constant);
      gpu_case.set_k(constant);
      gpu_case.set_v([](int64_t, int64_t row, int64_t) { return static_cast<double>(row); });
      REQUIRE(!gpu_case.run(named(impl)));
      REQUIRE(gpu_case.output(0, 17, 3) == Approx(50.0).epsilon(2e-3));
    }
    const Problem p = problem(DType::bf16, 1, 64);
    GpuCase gpu_case(p);
    const auto huge = [](int64_t, int64_t, int64_t) { return 133120.0; };
    gpu_case.set_q(huge);
    gpu_case.set_k(huge);
    gpu_case.set_v(huge);
    REQUIRE(!gpu_case.run(named(impl)));
    REQUIRE(gpu_case.output(0, 0, 0) == 133120.0f);
    REQUIRE(gpu_case.output(0, 0, 63) == 133120.0f);
  }
}

TEST_CASE("The result does not depend on the tile", "[gpu][flash2][small]") {
  if (no_gpu()) return;
  const KernelConfig tiles[] = {{16, 128, 0, 0}, {128, 16, 0, 0}, {48, 80, 0, 0},   {256, 64, 0, 0},
                                {64, 64, 3, 0},  {128, 32, 4, 8}, {128, 128, 1, 4}, {512, 16, 0, 0}};
  std::vector<std::pair<Problem, KernelConfig>> cases;
  for (const int64_t d : {64, 128, 256}) {
    for (const KernelConfig& tile : tiles) {
      Problem p = problem(DType::bf16, 100, d);  // shorter than some of the tiles
      p.seqlen_kv = 300;
      p.causal = true;
      cases.emplace_back(p, tile);
    }
  }
  compile_ahead(cases);
  const DeviceInfo& info = gpu_test::device()->info();
  for (const auto& [p, tile] : cases) {
    const Case planned{p, "flash2", named("flash2").resolve(p, tile, info)};
    if (refusal(named("flash2"), planned, info)) {
      REQUIRE(p.head_dim > 64);  // all of them fit at head_dim 64
    } else {
      require_right(p, "flash2", tile);
    }
  }
}

TEST_CASE("Tiles that cannot be are refused with the numbers, before anything is compiled", "[gpu][flash2]") {
  if (no_gpu()) return;
  const Implementation& flash2 = named("flash2");
  const DeviceInfo& info = gpu_test::device()->info();
  const auto reason = [&](int64_t d, const KernelConfig& tile) {
    const Problem p = problem(DType::fp16, 256, d);
    return refusal(flash2, {p, "flash2", flash2.resolve(p, tile, info)}, info).value_or("");
  };
  REQUIRE(reason(64, {1, 1, 0, 0}).find("tile_n in steps of 16, not 1") != std::string::npos);
  REQUIRE(reason(64, {7, 16, 0, 0}).find("tile_m in steps of 16, not 7") != std::string::npos);
  const std::string memory = reason(256, {256, 64, 4, 0});
  INFO(memory);
  REQUIRE(memory.find("bytes of shared memory") != std::string::npos);
  REQUIRE(memory.find(std::to_string(info.smem_per_block_bytes)) != std::string::npos);
  REQUIRE(reason(128, {64, 512, 0, 0}).find("accumulators") != std::string::npos);
}

TEST_CASE("Twenty runs give the same bits, and so does a larger batch", "[gpu][flash2]") {
  if (no_gpu()) return;
  for (const int64_t d : {64, 256}) {
    Problem p = problem(DType::bf16, 777, d);
    p.heads = p.kv_heads = 3;
    p.causal = true;
    GpuCase gpu_case(p);
    REQUIRE(!gpu_case.run(named("flash2")));
    const std::vector<char> first = gpu_case.output_bytes();
    for (int run = 1; run < 20; ++run) {
      REQUIRE(!gpu_case.run(named("flash2")));
      REQUIRE(gpu_case.output_bytes() == first);
    }
    const auto pattern = [](int64_t head, int64_t row, int64_t column) {
      return std::sin(static_cast<double>(head % 3 * 7919 + row * 131 + column));
    };
    std::vector<char> one;
    for (const int64_t batch : {1, 4}) {
      p.batch = batch;
      GpuCase copies(p);
      copies.set_q(pattern);
      copies.set_k(pattern);
      copies.set_v(pattern);
      REQUIRE(!copies.run(named("flash2")));
      const std::vector<char> out = copies.output_bytes();
      if (batch == 1) one = out;
      for (int64_t b = 0; b < batch; ++b)
        REQUIRE(std::equal(one.begin(), one.end(), out.begin() + b * static_cast<int64_t>(one.size())));
    }
  }
}

TEST_CASE("More heads than a grid's second dimension holds", "[gpu][flash2][naive]") {
  if (no_gpu()) return;
  const std::pair<int64_t, int64_t> sizes[] = {{10922, 6}, {10923, 6}, {65536, 1}};
  for (const char* impl : kBoth) {
    for (const auto& [batch, heads] : sizes) {
      Problem p = problem(DType::bf16, 16, 16);
      p.batch = batch;
      p.heads = p.kv_heads = heads;
      require_right(p, impl);
    }
  }
}

TEST_CASE("The default kernels do not spill", "[gpu][flash2]") {
  if (no_gpu()) return;
  std::vector<std::pair<Problem, KernelConfig>> cases;
  for (const int64_t d : {32, 64, 96, 128, 192, 256}) {
    for (const bool causal : {false, true}) {
      for (const int64_t window : {0, 64}) {
        Problem p = problem(DType::bf16, 128, d);
        p.causal = causal;
        p.window = window;
        cases.emplace_back(p, KernelConfig{});
      }
    }
  }
  compile_ahead(cases);
  for (const auto& [p, config] : cases) {
    INFO(describe(p));
    GpuCase gpu_case(p);
    const KernelConfig k = named("flash2").resolve(p, config, gpu_test::device()->info());
    REQUIRE(!gpu_case.run(named("flash2"), config));
    REQUIRE(gpu_case.resources());
    INFO(k.tile_m << "x" << k.tile_n << ", " << k.stages << " stages, " << k.warps << " warps, "
                  << gpu_case.resources()->registers_per_thread << " registers");
    REQUIRE(gpu_case.resources()->spill_bytes == 0);
  }
}

TEST_CASE("A tensor that does not stand on 16 bytes is refused by name", "[gpu][flash2][naive]") {
  if (no_gpu()) return;
  const Problem p = problem(DType::bf16, 64, 64);
  const DeviceInfo& info = gpu_test::device()->info();
  const std::unique_ptr<Buffer> memory = gpu_test::device()->allocate(1 << 20);
  char* const aligned = static_cast<char*>(memory->data());
  for (const char* impl : kBoth) {
    for (const char* odd : {"q", "k", "v", "o"}) {
      Tensors tensors{{{"q", aligned}, {"k", aligned}, {"v", aligned}, {"o", aligned}, {"lse", aligned}},
                      aligned};
      for (auto& [name, address] : tensors.places)
        if (name == odd) address = aligned + 8;
      std::string message;
      try {
        named(impl).launches({p, impl, named(impl).resolved(p, {}, info)}, info, tensors);
      } catch (const CaseError& error) {
        message = error.what();
      }
      CHECK(message.find(std::string(impl) + " needs " + odd + " aligned to 16 bytes") == 0);
    }
  }
}
