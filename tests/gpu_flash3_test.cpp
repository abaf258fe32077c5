// flash3 against float64, on a Hopper GPU; what it refuses, and its defaults, anywhere.
#include <cmath>
#include <string>
#include <tuple>

#include "catch.hpp"
#include "gpu_case.hpp"
#include "kernels/flash3/flash3.hpp"

using namespace attnprof;
using gpu_test::GpuCase;
using gpu_test::problem;

namespace {

/// True (after saying so) where there is no Hopper GPU to test on.
bool no_hopper() {
  std::string why;
  Device* gpu = gpu_test::device(&why);
  if (gpu != nullptr && gpu->info().compute_capability == 90) return false;
  WARN("skipped, no GPU of compute capability 9.0: " << (gpu ? gpu->info().name : why));
  return true;
}

/// What an H100 or H200 reports.
DeviceInfo hopper() {
  DeviceInfo info;
  info.kind = DeviceKind::gpu;
  info.compute_capability = 90;
  info.multiprocessors = 132;
  info.last_level_cache_bytes = int64_t{60} << 20;
  info.smem_per_block_bytes = 232448;
  return info;
}

Implementation proper() {
  return flash3().front();
}

Unsupported refused(const Problem& p, const KernelConfig& tile, const DeviceInfo& device = hopper()) {
  return refusal(proper(), {p, "flash3", proper().resolve(p, tile, device)}, device);
}

/// Compiles, on all cores, what the cases of a test need; one after the other would take a second each.
class Kernels {
 public:
  void add(const Problem& p, const KernelConfig& tile = {}, const Implementation& impl = proper()) {
    const DeviceInfo& info = gpu_test::device()->info();
    const Case planned{p, impl.name, impl.resolve(p, tile, info)};
    if (refusal(impl, planned, info)) return;
    for (const KernelSpec& spec : kernels_of(impl.launches(planned, info, {}))) specs_.push_back(spec);
  }
  void compile() { compile_kernels(*gpu_test::device(), specs_, {}); }

 private:
  std::vector<KernelSpec> specs_;
};

void require_right(const Problem& p, const KernelConfig& config = {}, const Implementation& impl = proper()) {
  INFO(impl.name << " " << describe(p) << " tile " << config.tile_m << "x" << config.tile_n << " stages "
                 << config.stages);
  GpuCase gpu_case(p);
  const Unsupported reason = gpu_case.run(impl, config);
  INFO(reason.value_or(""));
  REQUIRE(!reason);
  const VerifyResult result = gpu_case.verify(false);
  INFO(result.message << " rel_err " << result.rel_err << " tolerance " << result.tolerance);
  REQUIRE(result.passed);
}

}  // namespace

TEST_CASE("flash3 has a default for every head_dim from 8 to 256 that a block can hold", "[flash3]") {
  for (int64_t d = 8; d <= 256; d += 8) {
    for (const bool causal : {false, true}) {
      for (const int64_t seqlen : {512, 16384}) {
        Problem p = problem(DType::bf16, seqlen, d);
        p.causal = causal;
        INFO(describe(p) << " " << refused(p, {}).value_or(""));
        REQUIRE(!refused(p, {}));
      }
    }
  }
}

TEST_CASE("flash3 refuses by name and number what it cannot run", "[flash3]") {
  const Problem p = problem(DType::bf16, 256, 128);
  const auto says = [](const Unsupported& reason, const std::string& part) {
    INFO(reason.value_or("(accepted)"));
    return reason && reason->find(part) != std::string::npos;
  };
  DeviceInfo ampere = hopper();
  ampere.compute_capability = 80;
  REQUIRE(says(refused(p, {}, ampere), "compute capability 9.0"));
  REQUIRE(says(refused(p, {}, ampere), "8.0"));
  DeviceInfo blackwell = hopper();
  blackwell.compute_capability = 100;
  REQUIRE(says(refused(p, {}, blackwell), "10.0"));
  REQUIRE(says(refused(problem(DType::fp32, 256, 128), {}), "fp32"));
  for (const int64_t d : {1, 63, 100, 264}) {
    REQUIRE(says(refused(problem(DType::fp16, 256, d), {}), "not " + std::to_string(d)));
  }
  REQUIRE(says(refused(p, {100, 0, 0, 0}), "not 100"));
  REQUIRE(says(refused(p, {128, 40, 0, 0}), "not 40"));
  REQUIRE(says(refused(p, {128, 128, 1, 0}), "2 to 16 stages, not 1"));
  REQUIRE(says(refused(p, {128, 128, 2, 4}), "12 warps, not 4"));
  REQUIRE(says(refused(p, {128, 128, 4, 0}), "232448"));
  REQUIRE(says(refused(p, {128, 256, 2, 0}), "registers"));
  Problem backward = p;
  backward.pass = Pass::bwd;
  REQUIRE(says(refused(backward, {}), "bwd"));
}

TEST_CASE("flash3 models each operand crossing once while K and V in flight fit L2", "[flash3]") {
  Problem p = problem(DType::bf16, 4096, 128);
  p.heads = p.kv_heads = 16;
  const Implementation impl = proper();
  const Case c{p, "flash3", impl.resolve(p, {}, hopper())};
  const ModelledWork work = impl.model(c, hopper());
  REQUIRE(work.hbm.read_bytes == compulsory_traffic(p).read_bytes);
  REQUIRE(work.hbm.write_bytes == compulsory_traffic(p).write_bytes);
  REQUIRE(work.executed_flops >= algorithmic_flops(p));
}

TEST_CASE("flash3 leaves multiprocessors idle where heads then stay in step in as many waves", "[flash3]") {
  const auto blocks = [](int64_t seqlen, int64_t heads, bool causal) {
    Problem p = problem(DType::bf16, seqlen, 256);
    p.heads = p.kv_heads = heads;
    p.causal = causal;
    const Case c{p, "flash3", proper().resolve(p, {.tile_m = 128, .tile_n = 80}, hopper())};
    return std::get<KernelLaunch>(proper().launches(c, hopper(), {}).at(0)).shape.grid_x;
  };
  CHECK(blocks(16384, 8, false) == 128);   // 8 waves of one head each, as with 132
  CHECK(blocks(4096, 8, false) == 128);    // 2 waves of four heads
  CHECK(blocks(16384, 33, false) == 132);  // 33 waves of 128, but 32 of 132
  CHECK(blocks(16384, 8, true) == 132);    // tiles differ in length
  CHECK(blocks(1024, 3, false) == 24);     // fewer tiles than multiprocessors
}

TEST_CASE("flash3: K and V cross HBM once, causal or not, while those in flight fit L2",
          "[gpu][flash3][cupti]") {
  if (no_hopper()) return;
  for (const auto& [seqlen, heads, head_dim] :
       {std::tuple<int64_t, int64_t, int64_t>{8192, 16, 256}, {4096, 128, 64}}) {
    for (const bool causal : {false, true}) {
      Problem p = problem(DType::bf16, seqlen, head_dim);
      p.heads = p.kv_heads = heads;
      p.causal = causal;
      GpuCase gpu_case(p);
      Counters counters;
      REQUIRE(!gpu_case.run(proper(), {}, &counters));
      if (!counters.hbm_read_bytes) {
        WARN("skipped, no counters: " << counters.status);
        return;
      }
      INFO(describe(p));
      CHECK(static_cast<double>(*counters.hbm_read_bytes) <
            1.05 * static_cast<double>(compulsory_traffic(p).read_bytes));
    }
  }
}

TEST_CASE("flash3 matches float64 at every head_dim from 8 to 256", "[gpu][flash3]") {
  if (no_hopper()) return;
  Kernels kernels;
  std::vector<Problem> problems;
  for (int64_t d = 8; d <= 256; d += 8) {
    Problem p = problem(d % 16 == 0 ? DType::bf16 : DType::fp16, 333, d);
    p.heads = p.kv_heads = 2;
    p.causal = d % 24 == 0;
    problems.push_back(p);
    kernels.add(p);
  }
  kernels.compile();
  for (const Problem& p : problems) require_right(p);
}

TEST_CASE("flash3: ragged lengths, groups of heads, masks, both types", "[gpu][flash3][small]") {
  if (no_hopper()) return;
  struct Shape {
    int64_t batch, heads, kv_heads, seqlen_q, seqlen_kv, window;
    bool causal;
  };
  const Shape shapes[] = {{1, 1, 1, 1, 1, 0, true},        {2, 6, 2, 200, 333, 0, true},
                          {1, 3, 1, 77, 1000, 0, false},   {1, 2, 2, 700, 130, 0, true},
                          {3, 8, 2, 1, 515, 0, true},      {1, 28, 4, 65, 65, 0, false},
                          {2, 4, 4, 500, 500, 40, true},   {1, 4, 1, 300, 420, 100, false},
                          {1, 2, 1, 1000, 1000, 1, false}, {1, 1, 1, 5000, 5000, 0, true}};
  Kernels kernels;
  std::vector<Problem> problems;
  for (const int64_t d : {64, 128, 256}) {
    for (const Shape& s : shapes) {
      Problem p = problem(s.batch % 2 == 0 ? DType::fp16 : DType::bf16, s.seqlen_q, d);
      p.batch = s.batch;
      p.heads = s.heads;
      p.kv_heads = s.kv_heads;
      p.seqlen_kv = s.seqlen_kv;
      p.window = s.window;
      p.causal = s.causal;
      problems.push_back(p);
      kernels.add(p);
    }
  }
  kernels.compile();
  for (const Problem& p : problems) require_right(p);
}

TEST_CASE("flash3: a signal in the last column alone arrives, whatever the width", "[gpu][flash3]") {
  if (no_hopper()) return;
  const int64_t widths[] = {8, 40, 72, 80, 96, 128, 160, 192, 256};
  Kernels kernels;
  for (const int64_t d : widths) kernels.add(problem(DType::bf16, 70, d));
  kernels.compile();
  for (const int64_t d : widths) {
    INFO("head_dim " << d);
    GpuCase gpu_case(problem(DType::bf16, 70, d));
    const auto last = [d](int64_t, int64_t row, int64_t column) {
      return column == d - 1 ? static_cast<double>(1 + row % 5) : 0.0;
    };
    gpu_case.set_q(last);
    gpu_case.set_k(last);
    gpu_case.set_v(last);
    REQUIRE(!gpu_case.run(proper()));
    REQUIRE(gpu_case.verify(false).passed);
    REQUIRE(gpu_case.output(0, 0, 0) == 0.0f);
  }
}

TEST_CASE("flash3: the result does not depend on the tile, nor on the rung", "[gpu][flash3][small]") {
  if (no_hopper()) return;
  struct Run {
    Problem problem;
    KernelConfig tile;
    Implementation impl;
  };
  std::vector<Run> runs;
  for (const bool causal : {false, true}) {
    Problem p = problem(DType::bf16, 400, 64);
    p.heads = 4;
    p.kv_heads = 2;
    p.seqlen_kv = 300;
    p.causal = causal;
    for (const KernelConfig& tile :
         {KernelConfig{64, 16, 4, 0}, KernelConfig{64, 64, 2, 0}, KernelConfig{128, 48, 3, 0},
          KernelConfig{192, 16, 2, 0}, KernelConfig{192, 64, 3, 0}, KernelConfig{256, 64, 4, 0}}) {
      runs.push_back({p, tile, proper()});
    }
    for (const int64_t d : {64, 128}) {
      p.head_dim = d;
      for (const Implementation& rung : flash3())
        if (rung.name != "flash3") runs.push_back({p, {128, 64, 2, 0}, rung});
    }
  }
  Kernels kernels;
  for (const Run& run : runs) kernels.add(run.problem, run.tile, run.impl);
  kernels.compile();
  for (const Run& run : runs) require_right(run.problem, run.tile, run.impl);
}

TEST_CASE("flash3: rows that see no key are zero, their log-sum-exp minus infinity", "[gpu][flash3][small]") {
  if (no_hopper()) return;
  Problem p = problem(DType::bf16, 5, 64);
  p.seqlen_kv = 2;
  p.causal = true;
  GpuCase gpu_case(p);
  gpu_case.set_q([](int64_t, int64_t, int64_t) { return 0.0; });
  gpu_case.set_v([](int64_t, int64_t row, int64_t) { return static_cast<double>(row); });
  REQUIRE(!gpu_case.run(proper()));
  const float expected[] = {0.0f, 0.0f, 0.0f, 0.0f, 0.5f};
  for (int64_t row = 0; row < 5; ++row) {
    INFO("row " << row);
    REQUIRE(gpu_case.output(0, row, 63) == expected[row]);
    REQUIRE(std::isinf(gpu_case.lse(row)) == (row < 3));
  }
}

TEST_CASE("flash3: huge equal scores give the plain mean", "[gpu][flash3]") {
  if (no_hopper()) return;
  for (const double fill : {4.0, 32.0}) {
    INFO("fill " << fill);
    GpuCase gpu_case(problem(DType::fp16, 101, 64));
    const auto constant = [fill](int64_t, int64_t, int64_t) { return fill; };
    gpu_case.set_q(constant);
    gpu_case.set_k(constant);
    gpu_case.set_v([](int64_t, int64_t row, int64_t) { return static_cast<double>(row); });
    REQUIRE(!gpu_case.run(proper()));
    REQUIRE(gpu_case.output(0, 17, 3) == Approx(50.0).epsilon(2e-3));
  }
  GpuCase gpu_case(problem(DType::bf16, 1, 64));
  const auto huge = [](int64_t, int64_t, int64_t) { return 133120.0; };
  gpu_case.set_q(huge);
  gpu_case.set_k(huge);
  gpu_case.set_v(huge);
  REQUIRE(!gpu_case.run(proper()));
  REQUIRE(gpu_case.output(0, 0, 0) == 133120.0f);
  REQUIRE(gpu_case.output(0, 0, 63) == 133120.0f);
}

TEST_CASE("flash3: twenty runs give the same bits, whichever block takes which tile", "[gpu][flash3]") {
  if (no_hopper()) return;
  for (const int64_t d : {64, 128, 256}) {
    Problem p = problem(DType::bf16, 2000, d);
    p.heads = p.kv_heads = 24;
    p.causal = true;
    GpuCase gpu_case(p);
    REQUIRE(!gpu_case.run(proper()));
    const std::vector<char> first = gpu_case.output_bytes();
    for (int run = 1; run < 20; ++run) {
      REQUIRE(!gpu_case.run(proper()));
      REQUIRE(gpu_case.output_bytes() == first);
    }
  }
}

TEST_CASE("flash3: more heads than a grid's second dimension holds", "[gpu][flash3]") {
  if (no_hopper()) return;
  const std::pair<int64_t, int64_t> sizes[] = {{10922, 6}, {10923, 6}, {65536, 1}};
  for (const auto& [batch, heads] : sizes) {
    Problem p = problem(DType::bf16, 16, 16);
    p.batch = batch;
    p.heads = p.kv_heads = heads;
    require_right(p);
  }
}

TEST_CASE("flash3: the default kernels do not spill", "[gpu][flash3]") {
  if (no_hopper()) return;
  Kernels kernels;
  std::vector<Problem> problems;
  for (const int64_t d : {64, 96, 128, 192, 256}) {
    for (const bool causal : {false, true}) {
      for (const int64_t seqlen : {128, 4096}) {
        Problem p = problem(DType::bf16, seqlen, d);
        p.causal = causal;
        p.window = d == 64 ? 64 : 0;
        problems.push_back(p);
        kernels.add(p);
      }
    }
  }
  kernels.compile();
  for (const Problem& p : problems) {
    GpuCase gpu_case(p);
    REQUIRE(!gpu_case.run(proper()));
    INFO(describe(p));
    REQUIRE(gpu_case.resources());
    REQUIRE(gpu_case.resources()->spill_bytes == 0);
  }
}
