// Materialising attention on the GPU, as fast as it can be: S = scale Q K^T to HBM (cuBLASLt, tensor cores,
// fp32 accumulation), P = softmax(S) to HBM (softmax.cu), O = P V (cuBLASLt). S and P are rounded to the
// dtype, as they are wherever attention is written this way.
//
// Masks are the softmax's affair: the products compute the full square, the softmax reads no hidden score and
// writes zero probabilities. Query heads that share a KV head are adjacent in BHSD, so GQA is one product
// with more rows.
#include "baselines/naive_gpu.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "baselines/batched_product_gpu.hpp"
#include "baselines/softmax_params.cuh"
#include "core/error.hpp"
#include "core/theory.hpp"
#include "gpu/gpu_device.hpp"

namespace attnprof {

namespace {

constexpr int64_t kProductWorkspaceBytes = int64_t{32} << 20;

/// S and P rows are padded to 16 bytes, so that the softmax's accesses are aligned in every row.
int64_t score_pitch(const Problem& p) {
  const int64_t elements = 16 / dtype_bytes(p.dtype);
  return (p.seqlen_kv + elements - 1) / elements * elements;
}

int64_t padded_scores_bytes(const Problem& p) {
  const int64_t bytes = p.batch * p.heads * p.seqlen_q * score_pitch(p) * dtype_bytes(p.dtype);
  return (bytes + 255) / 256 * 256;
}

/// How many threads share a row of the softmax, and how much of it each keeps in registers.
struct SoftmaxShape {
  int threads = 32;
  int rows_per_block = 1;
  int vectors = 8;
  bool resident = true;
};

SoftmaxShape softmax_shape(const Problem& p) {
  constexpr int kMaxVectors = 8, kMaxThreads = 1024, kBlockThreads = 256;
  const int64_t row_vectors = score_pitch(p) * dtype_bytes(p.dtype) / 16;
  SoftmaxShape shape;
  while (shape.threads < kMaxThreads && shape.threads * kMaxVectors < row_vectors) shape.threads *= 2;
  const int64_t vectors = (row_vectors + shape.threads - 1) / shape.threads;
  shape.resident = vectors <= kMaxVectors;
  shape.vectors = shape.resident ? static_cast<int>(vectors) : 1;
  if (shape.threads == 32) shape.rows_per_block = kBlockThreads / 32;
  return shape;
}

Unsupported supports(const Case& c, const DeviceInfo& device) {
  const Problem& p = c.problem;
  if (p.pass != Pass::fwd)
    return fmt::format("naive on the GPU computes fwd only, not {}", to_string(p.pass));
  if (p.dtype == DType::bf16 && device.compute_capability < 80) {
    return fmt::format("bf16 needs compute capability 8.0, this GPU has {}.{}",
                       device.compute_capability / 10, device.compute_capability % 10);
  }
  constexpr int64_t kMaxSide = int64_t{1} << 30;  // row and column numbers are 32-bit on the device
  const int64_t rows = p.heads / p.kv_heads * p.seqlen_q;
  const int64_t largest = std::max({rows, p.seqlen_kv, p.head_dim});
  if (largest > kMaxSide)
    return fmt::format("naive needs matrix sides of at most {}, not {}", kMaxSide, largest);
  return std::nullopt;
}

KernelConfig resolve(const Problem&, const KernelConfig&, const DeviceInfo&) {
  return {};
}

int64_t workspace_bytes(const Case& c, const DeviceInfo&) {
  return 2 * padded_scores_bytes(c.problem) + kProductWorkspaceBytes;
}

/// Each step reads its operands once and writes its result once; S and P are far larger than the L2 where it
/// matters, so what the step before left there is not counted on.
ModelledWork model(const Case& c, const DeviceInfo&) {
  const Problem& p = c.problem;
  const int64_t heads = p.batch * p.heads;
  const int64_t visible_bytes = heads * visible_pairs(p) * dtype_bytes(p.dtype);
  const int64_t softmax_reads = softmax_shape(p).resident ? visible_bytes : 2 * visible_bytes;
  ModelledWork work;
  work.hbm.read_bytes = q_bytes(p) + kv_bytes(p)                            // Q, K
                        + softmax_reads                                     // visible S
                        + score_matrix_bytes(p) + kv_bytes(p);              // P, V
  work.hbm.write_bytes = score_matrix_bytes(p)                              // S
                         + padded_scores_bytes(p) + lse_bytes(p)            // P, padding included; LSE
                         + o_bytes(p);                                      // O
  work.executed_flops = 4 * heads * p.seqlen_q * p.seqlen_kv * p.head_dim;  // the full square, masked or not
  work.exp_count = 2 * heads * visible_pairs(p);  // once for the sum, once for the probabilities
  return work;
}

KernelSpec softmax_spec(const Problem& p) {
  const SoftmaxShape shape = softmax_shape(p);
  const auto flag = [](bool b) { return std::string(b ? "1" : "0"); };
  return {.source = "softmax.cu",
          .entry = "softmax_rows",
          .defines = {{"ATTNPROF_DTYPE_BITS", std::to_string(8 * dtype_bytes(p.dtype))},
                      {"ATTNPROF_BF16", flag(p.dtype == DType::bf16)},
                      {"ATTNPROF_THREADS", std::to_string(shape.threads)},
                      {"ATTNPROF_ROWS_PER_BLOCK", std::to_string(shape.rows_per_block)},
                      {"ATTNPROF_VECTORS", std::to_string(shape.vectors)},
                      {"ATTNPROF_RESIDENT", flag(shape.resident)},
                      {"ATTNPROF_CAUSAL", flag(p.causal)},
                      {"ATTNPROF_WINDOW", flag(p.window > 0)}}};
}

std::vector<KernelSpec> kernels(const Case& c, const DeviceInfo&) {
  return {softmax_spec(c.problem)};
}

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
    qk_->launch();
    launch_softmax();
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

std::unique_ptr<Prepared> prepare(const Case& c, const Tensors& t, Device& device) {
  for (const auto& [name, address] :
       {std::pair{"Q", t.q}, {"K", t.k}, {"V", t.v}, {"O", const_cast<const void*>(t.o)}}) {
    if (reinterpret_cast<uintptr_t>(address) % 16 != 0) {
      throw CaseError(fmt::format("naive needs {} aligned to 16 bytes, not at {}", name, address));
    }
  }
  return std::make_unique<NaiveOnGpu>(c.problem, t, as_gpu(device));
}

}  // namespace

Implementation naive_gpu() {
  return {.name = "naive",
          .device = DeviceKind::gpu,
          .summary = "S and P in HBM: cuBLASLt product, softmax, cuBLASLt product",
          .supports = supports,
          .resolve = resolve,
          .workspace_bytes = workspace_bytes,
          .model = model,
          .kernels = kernels,
          .prepare = prepare,
          .materializes = true};
}

}  // namespace attnprof
