// The launch of the materialising baseline: product, softmax, product.
#include "baselines/naive/launch.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "baselines/naive/softmax_params.cuh"
#include "gpu/device/batched_product.hpp"
#include "gpu/device/gpu_device.hpp"
#include "kernels/device/fused_launch.hpp"

namespace attnprof {

namespace {

class NaiveOnGpu final : public Prepared {
 public:
  NaiveOnGpu(const Problem& p, const Tensors& t, GpuDevice& gpu)
      : gpu_(gpu), softmax_(gpu.kernel(softmax_spec(p))), softmax_params_(params(p, t)) {
    const SoftmaxShape shape = softmax_shape(p);
    grid_ = {.grid_x = static_cast<unsigned>((softmax_params_.rows + shape.rows_per_block - 1) /
                                             shape.rows_per_block),
             .block_x = static_cast<unsigned>(shape.threads * shape.rows_per_block)};

    void* const scores = t.workspace;
    void* const probabilities = softmax_params_.probabilities;
    void* const scratch = static_cast<char*>(t.workspace) + 2 * padded_scores_bytes(p);
    const int64_t rows = p.heads / p.kv_heads * p.seqlen_q;
    const ProductShape qk{.dtype = p.dtype,
                          .batch = p.batch * p.kv_heads,
                          .m = rows,
                          .n = p.seqlen_kv,
                          .k = p.head_dim,
                          .a_pitch = p.head_dim,
                          .b_pitch = p.head_dim,
                          .c_pitch = score_pitch(p),
                          .b_transposed = true,
                          .alpha = static_cast<float>(softmax_scale(p))};
    const ProductShape pv{.dtype = p.dtype,
                          .batch = p.batch * p.kv_heads,
                          .m = rows,
                          .n = p.head_dim,
                          .k = p.seqlen_kv,
                          .a_pitch = score_pitch(p),
                          .b_pitch = p.head_dim,
                          .c_pitch = p.head_dim};
    // In order, so that each product's algorithms are timed on the data that it will see.
    qk_.emplace(gpu, "Q K^T", qk, t.q, t.k, scores, scratch, kProductWorkspaceBytes);
    launch_softmax();
    pv_.emplace(gpu, "P V", pv, probabilities, t.v, t.o, scratch, kProductWorkspaceBytes);
  }

  void launch() override {
    for (size_t step = 0; step < 3; ++step) launch_step(step);
  }
  void launch_step(size_t index) override {
    if (index == 0) return qk_->launch();
    if (index == 1) return launch_softmax();
    pv_->launch();
  }
  std::optional<KernelResources> resources() const override { return softmax_.resources; }
  double compile_ms() const override { return softmax_.compile_ms; }

 private:
  static SoftmaxParams params(const Problem& p, const Tensors& t) {
    return {.scores = t.workspace,
            .probabilities = static_cast<char*>(t.workspace) + padded_scores_bytes(p),
            .lse = t.lse,
            .rows = p.batch * p.heads * p.seqlen_q,
            .seqlen_q = static_cast<int>(p.seqlen_q),
            .seqlen_kv = static_cast<int>(p.seqlen_kv),
            .pitch = static_cast<int>(score_pitch(p)),
            .window = static_cast<int>(std::min(p.window, p.seqlen_q + p.seqlen_kv))};
  }

  void launch_softmax() { gpu_.launch(softmax_, grid_, {&softmax_params_}); }

  GpuDevice& gpu_;
  const CompiledKernel& softmax_;
  SoftmaxParams softmax_params_;
  LaunchShape grid_;
  std::optional<BatchedProduct> qk_, pv_;
};

}  // namespace

std::unique_ptr<Prepared> prepare_naive(const Case& c, const Tensors& t, Device& device) {
  require_16_byte_operands("naive", t);
  return std::make_unique<NaiveOnGpu>(c.problem, t, as_gpu(device));
}

}  // namespace attnprof
