// cuDNN as an implementation: what it refuses (no GPU needed), and its results against float64.
#include <cmath>
#include <string>

#include "catch.hpp"
#include "gpu_case.hpp"
#include "implementations.hpp"

using namespace attnprof;
using gpu_test::GpuCase;
using gpu_test::problem;

namespace {

DeviceInfo hopper() {
  DeviceInfo info;
  info.kind = DeviceKind::gpu;
  info.compute_capability = 90;
  return info;
}

const Implementation* cudnn_row() {
  for (const Implementation& row : registry()) {
    if (row.name == "cudnn" && row.device == DeviceKind::gpu) return &row;
  }
  return nullptr;
}

std::string refusal(const Problem& p, const DeviceInfo& info = hopper()) {
  return attnprof::refusal(*cudnn_row(), {p, "cudnn", {}}, info).value_or("");
}

/// True (after saying so) where there is no GPU, or no cuDNN, to test on.
bool cannot_run() {
  if (gpu_test::device_or_skip() == nullptr) return true;
  const std::string reason = refusal(problem(DType::bf16, 64, 64), gpu_test::device()->info());
  if (reason.empty()) return false;
  WARN("skipped: " << reason);
  return true;
}

void require_right(const Problem& p) {
  INFO(describe(p));
  GpuCase gpu_case(p);
  const Unsupported refused = gpu_case.run(*cudnn_row());
  INFO(refused.value_or(""));
  REQUIRE(!refused);
  const VerifyResult result = gpu_case.verify(cudnn_row()->materializes);
  INFO(result.message << " rel_err " << result.rel_err << " tolerance " << result.tolerance);
  REQUIRE(result.passed);
}

}  // namespace

TEST_CASE("cudnn is listed, as a fused implementation that writes LSE", "[cudnn]") {
  REQUIRE(cudnn_row() != nullptr);
  REQUIRE(cudnn_row()->omits.empty());
  REQUIRE(!cudnn_row()->materializes);
}

TEST_CASE("cudnn refuses by name what it cannot compute", "[cudnn]") {
  const Problem good = problem(DType::bf16, 128, 64);

  Problem p = good;
  p.dtype = DType::fp32;
  REQUIRE(refusal(p).find("fp32") != std::string::npos);

  p = good;
  p.pass = Pass::bwd;
  REQUIRE(refusal(p).find("bwd") != std::string::npos);

  p = good;
  p.head_dim = 100;
  REQUIRE(refusal(p).find("head_dim in steps of 8, not 100") != std::string::npos);

  p = good;
  p.causal = true;
  p.seqlen_q = 129;
  REQUIRE(refusal(p).find("129 > 128") != std::string::npos);

  DeviceInfo old = hopper();
  old.compute_capability = 75;
  REQUIRE(refusal(good, old).find("7.5") != std::string::npos);
}

TEST_CASE("cudnn takes a plain problem, or says which library is missing", "[cudnn]") {
  Problem p = problem(DType::fp16, 128, 64);
  p.seqlen_q = 300;  // longer than the keys, which only a mask would make unfit
  const std::string reason = refusal(p);
  INFO(reason);
  REQUIRE((reason.empty() || reason.find("libcudnn.so.9") != std::string::npos));
}

TEST_CASE("cudnn needs no workspace before it has a plan", "[cudnn]") {
  REQUIRE(cudnn_row()->workspace({problem(DType::bf16, 128, 64), "cudnn", {}}, hopper()) == 0);
}

TEST_CASE("cudnn matches float64, LSE included, full and causal", "[gpu][cudnn]") {
  if (cannot_run()) return;
  for (const DType dtype : {DType::bf16, DType::fp16}) {
    for (const int64_t head_dim : {40, 64, 128, 256}) {
      for (const bool causal : {false, true}) {
        Problem p = problem(dtype, 333, head_dim);
        p.batch = 2;
        p.heads = p.kv_heads = 3;
        p.causal = causal;
        require_right(p);
      }
    }
  }
}

TEST_CASE("cudnn reads the KV head of the group", "[gpu][cudnn]") {
  if (cannot_run()) return;
  for (const int64_t kv_heads : {1, 2, 6}) {
    Problem p = problem(DType::bf16, 200, 64);
    p.batch = 2;
    p.heads = 6;
    p.kv_heads = kv_heads;
    p.causal = true;
    require_right(p);
  }
}

TEST_CASE("cudnn aligns the diagonal bottom-right when lengths differ", "[gpu][cudnn]") {
  if (cannot_run()) return;
  for (const auto& [seqlen_q, seqlen_kv] :
       {std::pair<int64_t, int64_t>{1, 500}, {100, 501}, {256, 257}, {130, 64}}) {
    Problem p = problem(DType::bf16, seqlen_q, 64);
    p.seqlen_kv = seqlen_kv;
    p.heads = p.kv_heads = 2;
    require_right(p);
    p.causal = true;
    if (seqlen_q <= seqlen_kv) require_right(p);
  }
}

TEST_CASE("cudnn's windows hide what the definition hides", "[gpu][cudnn]") {
  if (cannot_run()) return;
  for (const int64_t window : {1, 7, 128, 299, 300, 301, 5000}) {
    for (const bool causal : {false, true}) {
      for (const int64_t seqlen_q : {300, 100}) {
        Problem p = problem(DType::bf16, seqlen_q, 64);
        p.seqlen_kv = 300;
        p.window = window;
        p.causal = causal;
        require_right(p);
      }
    }
  }
}

TEST_CASE("cudnn takes the scale that is asked for", "[gpu][cudnn]") {
  if (cannot_run()) return;
  Problem p = problem(DType::fp16, 160, 64);
  p.scale = 0.3;
  require_right(p);
}

TEST_CASE("cudnn reports the workspace that it allocated, and its version", "[gpu][cudnn]") {
  if (cannot_run()) return;
  // One query against many keys: the keys are split, and the parts are merged through memory.
  Problem p = problem(DType::bf16, 1, 128);
  p.seqlen_kv = 8192;
  p.heads = p.kv_heads = 8;
  GpuCase gpu_case(p);
  REQUIRE(!gpu_case.run(*cudnn_row()));
  REQUIRE(gpu_case.verify(false).passed);
  REQUIRE(gpu_case.own_workspace_bytes() > 0);
  REQUIRE(gpu_case.library().starts_with("cuDNN 9."));
}
