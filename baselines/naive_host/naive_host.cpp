// Attention as three library calls would do it: S = Q K^T to main memory, P = softmax(S) from and to main
// memory, O = P V.
//
// Layout as in core/problem.hpp; S and P are [batch, heads, seqlen_q, seqlen_kv] in the input dtype (fp32,
// bf16, fp16), and both exist at once, over all heads. Products accumulate in fp32 with the same
// register-blocked kernel and packing that the fused implementation uses, and the softmax with the same exp2,
// so that the two differ in their schedule and in nothing else. The products know no mask, as no library
// product does; the softmax pass applies it: it reads the visible scores only and writes zeros elsewhere. No
// LSE is written: nothing in this scheme needs it.
//
// Bytes in the two-level model (working set smaller than S, larger than K or V of one head): Q once, K and V
// once per query head, S written once and its visible part read once, P written and read once, O written
// once.
#include "baselines/naive_host/naive_host.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <vector>

#include "baselines/naive_host/passes.hpp"
#include "core/error.hpp"
#include "core/theory.hpp"
#include "host/host_device.hpp"
#include "host/thread_traffic.hpp"

namespace attnprof {
namespace {

/// S and P.
int64_t workspace_bytes(const Case& c, const DeviceInfo&) {
  return 2 * score_matrix_bytes(c.problem);
}

std::vector<ModelledStep> steps(const Case& c, const DeviceInfo&) {
  const Problem& p = c.problem;
  const int64_t heads = p.batch * p.heads;
  const int64_t visible = heads * visible_pairs(p);
  const int64_t keys = heads * p.seqlen_kv * p.head_dim * dtype_bytes(p.dtype);  // K or V, per query head
  const int64_t product_flops = 2 * heads * p.seqlen_q * p.seqlen_kv * p.head_dim;
  return {{"qk", {.hbm = {q_bytes(p) + keys, score_matrix_bytes(p)}, .executed_flops = product_flops}},
          {"softmax", {.hbm = {visible * dtype_bytes(p.dtype), score_matrix_bytes(p)}, .exp_count = visible}},
          {"pv", {.hbm = {score_matrix_bytes(p) + keys, o_bytes(p)}, .executed_flops = product_flops}}};
}

class NaiveHost : public Prepared {
 public:
  NaiveHost(const NaiveLaunch& launch, HostDevice& device)
      : launch_(launch),
        pool_(device.pool()),
        floats_per_thread_(naive_scratch_floats(launch.problem)),
        scratch_(device.allocate(pool_.size() * floats_per_thread_ * static_cast<int64_t>(sizeof(float)))),
        counted_(static_cast<size_t>(pool_.size())) {}

  void launch() override {
    pass(0, naive_scores, launch_.row_blocks());
    pass(1, naive_softmax, launch_.softmax_blocks());
    pass(2, naive_output, launch_.row_blocks());
  }

  std::optional<Traffic> counted() const override {
    Traffic sum;
    for (const StepReading& reading : readings_) {
      sum.read_bytes += reading.traffic.read_bytes;
      sum.write_bytes += reading.traffic.write_bytes;
    }
    return sum;
  }
  std::vector<StepReading> step_readings() const override { return {readings_.begin(), readings_.end()}; }

 private:
  using PassFunction = void (*)(const NaiveLaunch&, int64_t head, int64_t block, float* scratch, Traffic&);

  void pass(size_t step, PassFunction function, int64_t blocks) {
    const auto start = std::chrono::steady_clock::now();
    std::fill(counted_.begin(), counted_.end(), ThreadTraffic{});
    pool_.parallel_for(launch_.heads() * blocks, [&](int64_t index, int thread) {
      function(launch_, index / blocks, index % blocks,
               static_cast<float*>(scratch_->data()) + thread * floats_per_thread_,
               counted_[static_cast<size_t>(thread)].traffic);
    });
    const std::chrono::duration<double, std::micro> spent = std::chrono::steady_clock::now() - start;
    readings_[step] = {spent.count(), total(counted_)};
  }

  NaiveLaunch launch_;
  ThreadPool& pool_;
  int64_t floats_per_thread_;
  std::unique_ptr<Buffer> scratch_;
  std::vector<ThreadTraffic> counted_;  ///< of the pass that runs
  std::array<StepReading, 3> readings_;
};

std::unique_ptr<Prepared> prepare(const Case& c, const Tensors& tensors, Device& device) {
  HostDevice& host = as_host(device);
  require_host_tensors(c, tensors, {"lse"});
  if (tensors.workspace == nullptr) throw CaseError("naive: the workspace for S and P is missing");
  NaiveLaunch launch;
  launch.problem = c.problem;
  launch.tensors = tensors;
  launch.block_rows = balanced_rows(c.problem, kNaiveBlockRows, host.pool().size());
  launch.s = tensors.workspace;
  launch.p = static_cast<char*>(tensors.workspace) + score_matrix_bytes(c.problem);
  return std::make_unique<NaiveHost>(launch, host);
}

}  // namespace

Implementation naive_host() {
  return {.name = "naive",
          .device = DeviceKind::host,
          .summary = "three passes: S and P in main memory; SIMD, threaded",
          .takes = {"fp32", "fp16", "bf16", "causal", "window", "gqa"},
          .workspace_bytes = workspace_bytes,
          .steps = steps,
          .prepare = prepare,
          .omits = {"lse"},
          .materializes = true};
}

}  // namespace attnprof
