// Materialising attention on the GPU, as fast as it can be: S = scale Q K^T to HBM (cuBLASLt, tensor cores,
// fp32 accumulation), P = softmax(S) to HBM (softmax.cu), O = P V (cuBLASLt). S and P are rounded to the
// dtype, as they are wherever attention is written this way.
//
// Masks are the softmax's affair: the products compute the full square, the softmax reads no hidden score and
// writes zero probabilities. Query heads that share a KV head are adjacent in BHSD, so GQA is one product
// with more rows.
#include "baselines/naive/naive.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "baselines/naive/softmax_params.cuh"
#include "core/l2_model.hpp"
#include "core/theory.hpp"
#include "kernels/device/arguments.hpp"

namespace attnprof {

namespace {

/// Scratch of cuBLASLt, behind S and P in the workspace.
constexpr int64_t kScratchBytes = int64_t{32} << 20;

/// Elements from one row of S or P to the next: rows are padded to 16 bytes, so that the softmax's accesses
/// are aligned in every row.
int64_t score_pitch(const Problem& p) {
  const int64_t elements = 16 / dtype_bytes(p.dtype);
  return (p.seqlen_kv + elements - 1) / elements * elements;
}

/// Bytes of S (or P) with that padding, rounded up to 256.
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

Unsupported limits(const Case& c, const DeviceInfo& device) {
  const Problem& p = c.problem;
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

int64_t workspace_bytes(const Case& c, const DeviceInfo&) {
  return 2 * padded_scores_bytes(c.problem) + kScratchBytes;
}

/// Each step reads its operands once and writes its result once. What the step before left of S and P in L2
/// is not read from HBM: between writing a line and reading it again lie all of one matrix and on average
/// half of the other (both are gone through in the same order). All that is written reaches HBM in the end.
std::vector<ModelledStep> steps(const Case& c, const DeviceInfo& device) {
  const Problem& p = c.problem;
  const int64_t heads = p.batch * p.heads;
  const double l2_bytes = static_cast<double>(device.last_level_cache_bytes);
  const double matrix_bytes = static_cast<double>(padded_scores_bytes(p));
  const double missing = l2_miss_share(1.5 * matrix_bytes, l2_bytes);
  const double visible_bytes = static_cast<double>(heads * visible_pairs(p) * dtype_bytes(p.dtype));
  double s_reads = missing * visible_bytes;
  if (!softmax_shape(p).resident) {
    // A row that does not fit into registers is read a second time, with as many others as run meanwhile in
    // between.
    constexpr double kBlocksPerSm = 2;
    const double row_bytes = static_cast<double>(score_pitch(p) * dtype_bytes(p.dtype));
    s_reads += visible_bytes * l2_miss_share(kBlocksPerSm * device.multiprocessors * row_bytes, l2_bytes);
  }
  const int64_t softmax_reads = std::llround(s_reads);
  const int64_t p_reads = std::llround(missing * static_cast<double>(score_matrix_bytes(p)));
  const int64_t product_flops =
      2 * heads * p.seqlen_q * p.seqlen_kv * p.head_dim;   // full square, masked or not
  const int64_t exp_count = 2 * heads * visible_pairs(p);  // once for the sum, once for the probabilities
  return {
      {"qk", {.hbm = {q_bytes(p) + kv_bytes(p), score_matrix_bytes(p)}, .executed_flops = product_flops}},
      // P with its padding
      {"softmax", {.hbm = {softmax_reads, padded_scores_bytes(p) + lse_bytes(p)}, .exp_count = exp_count}},
      {"pv", {.hbm = {p_reads + kv_bytes(p), o_bytes(p)}, .executed_flops = product_flops}}};
}

KernelLaunch softmax(const Problem& p, const void* scores, void* probabilities, float* lse) {
  const SoftmaxShape shape = softmax_shape(p);
  const SoftmaxParams params{.scores = scores,
                             .probabilities = probabilities,
                             .lse = lse,
                             .rows = p.batch * p.heads * p.seqlen_q,
                             .seqlen_q = static_cast<int>(p.seqlen_q),
                             .seqlen_kv = static_cast<int>(p.seqlen_kv),
                             .pitch = static_cast<int>(score_pitch(p)),
                             .window = static_cast<int>(mask_of(p).window)};
  return {.kernel = {.source = "baselines/naive/softmax.cu",
                     .entry = "softmax_rows",
                     .defines = {macro("DTYPE_BITS", 8 * dtype_bytes(p.dtype)),
                                 macro("BF16", p.dtype == DType::bf16), macro("THREADS", shape.threads),
                                 macro("ROWS_PER_BLOCK", shape.rows_per_block),
                                 macro("VECTORS", shape.vectors), macro("RESIDENT", shape.resident),
                                 macro("CAUSAL", p.causal), macro("WINDOW", p.window > 0)}},
          .shape = {.grid_x = static_cast<unsigned>((params.rows + shape.rows_per_block - 1) /
                                                    shape.rows_per_block),
                    .block_x = static_cast<unsigned>(shape.threads * shape.rows_per_block)},
          .arguments = {by_value(params)}};
}

std::vector<Launch> launches(const Case& c, const DeviceInfo&, const Tensors& t) {
  require_16_byte_operands("naive", t);
  const Problem& p = c.problem;
  char* const workspace = static_cast<char*>(t.workspace);
  const auto part = [&](int64_t offset) { return workspace == nullptr ? nullptr : workspace + offset; };
  void* const scores = workspace;
  void* const probabilities = part(padded_scores_bytes(p));
  void* const scratch = part(2 * padded_scores_bytes(p));
  const int64_t matrices = p.batch * p.kv_heads, rows = p.heads / p.kv_heads * p.seqlen_q;
  const ProductShape qk{.dtype = p.dtype,
                        .batch = matrices,
                        .m = rows,
                        .n = p.seqlen_kv,
                        .k = p.head_dim,
                        .a_pitch = p.head_dim,
                        .b_pitch = p.head_dim,
                        .c_pitch = score_pitch(p),
                        .b_transposed = true,
                        .alpha = static_cast<float>(softmax_scale(p))};
  const ProductShape pv{.dtype = p.dtype,
                        .batch = matrices,
                        .m = rows,
                        .n = p.head_dim,
                        .k = p.seqlen_kv,
                        .a_pitch = score_pitch(p),
                        .b_pitch = p.head_dim,
                        .c_pitch = p.head_dim};
  return {ProductLaunch{"Q K^T", qk, t.at("q"), t.at("k"), scores, scratch, kScratchBytes},
          softmax(p, scores, probabilities, t.lse()),
          ProductLaunch{"P V", pv, probabilities, t.at("v"), t.at("o"), scratch, kScratchBytes}};
}

}  // namespace

Implementation naive_gpu() {
  return {.name = "naive",
          .device = DeviceKind::gpu,
          .summary = "S and P in HBM: cuBLASLt product, softmax, cuBLASLt product",
          .takes = {"fp32", "fp16", "bf16", "causal", "window", "gqa"},
          .limits = limits,
          .workspace_bytes = workspace_bytes,
          .steps = steps,
          .launches = launches,
          .materializes = true};
}

}  // namespace attnprof
