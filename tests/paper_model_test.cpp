#include "core/paper_model.hpp"

#include "catch.hpp"
#include "core/axes.hpp"
#include "core/bound.hpp"
#include "core/theory.hpp"

using namespace attnprof;

namespace {

Problem gpt2_medium(Pass pass) {
  const Preset& preset = find_preset("gpt2-medium");
  Problem p;
  p.pass = pass;
  p.batch = preset.batch;
  p.heads = preset.heads;
  p.kv_heads = preset.kv_heads;
  p.seqlen_q = p.seqlen_kv = preset.seqlen;
  p.head_dim = preset.head_dim;
  return p;
}

}  // namespace

TEST_CASE(
    "GPT-2 medium: the paper's 40.3 GB is the count with mask and dropout as steps, its 4.4 GB near "
    "the fused one",
    "[model][seeds]") {
  const Problem p = gpt2_medium(Pass::fwd_bwd);
  CHECK(static_cast<double>(standard_traffic(p).total()) / 1e9 == Approx(25.2).margin(0.05));
  CHECK(static_cast<double>(unfused_traffic(p).total()) / 1e9 == Approx(40.27).margin(0.01));
  const int64_t fused = flash_traffic(p, find_gpu_model("A100-40GB").onchip_bytes).total();
  CHECK(static_cast<double>(fused) / 1e9 == Approx(4.10).margin(0.01));
}

TEST_CASE("standard attention forward moves the score matrix four times", "[model]") {
  const Problem p = gpt2_medium(Pass::fwd);
  const int64_t operands = q_bytes(p) + 2 * kv_bytes(p) + o_bytes(p);
  CHECK(standard_traffic(p).total() == operands + 4 * score_matrix_bytes(p));
}

TEST_CASE("forward and backward add up", "[model]") {
  for (auto traffic : {standard_traffic, unfused_traffic}) {
    CHECK(traffic(gpt2_medium(Pass::fwd_bwd)).total() ==
          traffic(gpt2_medium(Pass::fwd)).total() + traffic(gpt2_medium(Pass::bwd)).total());
  }
}

TEST_CASE("more on-chip memory never costs FlashAttention bytes, and enough of it leaves one visit per query",
          "[model]") {
  const Problem p = gpt2_medium(Pass::fwd);
  int64_t before = flash_traffic(p, 1024).total();
  for (int64_t onchip = 2048; onchip <= 64 << 20; onchip *= 2) {
    const int64_t now = flash_traffic(p, onchip).total();
    CHECK(now <= before);
    before = now;
  }
  CHECK(before == 2 * kv_bytes(p) + 3 * q_bytes(p) + 4 * lse_bytes(p));
}

TEST_CASE("a causal mask lets FlashAttention skip blocks, and standard attention nothing", "[model]") {
  Problem full = gpt2_medium(Pass::fwd), causal = full;
  causal.causal = true;
  CHECK(flash_traffic(causal, 192 * 1024).total() < flash_traffic(full, 192 * 1024).total());
  CHECK(standard_traffic(causal).total() == standard_traffic(full).total());
  causal.pass = Pass::fwd_bwd;
  CHECK(static_cast<double>(flash_traffic(causal, 192 * 1024).total()) / 1e9 == Approx(2.87).margin(0.01));
}

TEST_CASE("a window narrower than a block costs FlashAttention at most two visits per query", "[model]") {
  Problem p = gpt2_medium(Pass::fwd);
  p.causal = true;
  p.window = 16;
  const int64_t one_visit = 3 * q_bytes(p) + 4 * lse_bytes(p);
  const int64_t rows = flash_traffic(p, 192 * 1024).total() - 2 * kv_bytes(p);  // blocks of 384 keys
  CHECK(rows > one_visit);
  CHECK(rows < one_visit + one_visit * 2 * 16 / 1024);  // only the rows just below two block edges pay twice
}
