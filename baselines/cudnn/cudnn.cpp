// Attention as cuDNN wants to see it: not one operation but the arithmetic spelled out, S = Q K^T, scale,
// mask, softmax by maximum and sum, O = P V, LSE = maximum + log(sum). cuDNN recognises the pattern and runs
// a fused kernel; the order of operands and the types of the intermediates are part of what it recognises,
// and follow NVIDIA's cudnn-frontend, which frameworks build their graphs with
// (https://github.com/NVIDIA/cudnn-frontend, 1.x, its composite SDPA node).
#include "baselines/cudnn/cudnn.hpp"

#include <fmt/format.h>

#include <chrono>
#include <limits>
#include <memory>
#include <optional>

#include "baselines/cudnn/graph.hpp"
#include "core/error.hpp"
#include "core/theory.hpp"
#include "gpu/api/cudnn_api.hpp"
#include "kernels/device/arguments.hpp"

namespace attnprof {

namespace {

using cudnn::DataType;
using cudnn::Graph;
using cudnn::Pointwise;
using cudnn::Reduction;
using cudnn::TensorId;

/// The two sides of the mask as distances from the diagonal that ends in the last row's last key. A side that
/// hides nothing is left out, so that it costs nothing.
struct Band {
  std::optional<int64_t> right;  ///< keys j <= diagonal + right are visible
  std::optional<int64_t> left;   ///< keys j > diagonal - left are visible
};

Band band(const Problem& p) {
  Band b;
  if (p.causal) {
    b.right = 0;
  } else if (p.window > 0) {
    b.right = p.window - 1;
  }
  if (p.window > 0) b.left = p.window;
  // The diagonal runs from key seqlen_kv - seqlen_q in the first row to key seqlen_kv - 1 in the last.
  if (b.right && *b.right >= p.seqlen_q - 1) b.right.reset();
  if (b.left && *b.left >= p.seqlen_kv) b.left.reset();
  return b;
}

Unsupported limits(const Case& c, const DeviceInfo& device) {
  const Problem& p = c.problem;
  if (device.compute_capability < 80) {
    return fmt::format("cudnn's fused attention needs compute capability 8.0, this GPU has {}.{}",
                       device.compute_capability / 10, device.compute_capability % 10);
  }
  if (p.head_dim % 8 != 0) return fmt::format("cudnn needs head_dim in steps of 8, not {}", p.head_dim);
  const Band b = band(p);
  if ((b.left || b.right) && p.seqlen_q > p.seqlen_kv) {
    return fmt::format("cudnn masks only where seqlen_q <= seqlen_kv, not {} > {}", p.seqlen_q, p.seqlen_kv);
  }
  if (!cudnn::api()) return cudnn::missing();
  return std::nullopt;
}

/// What any fused kernel does at least; cuDNN's tiles, and with them its surplus, are not known.
std::vector<ModelledStep> steps(const Case& c, const DeviceInfo&) {
  const Problem& p = c.problem;
  return {{"forward",
           {.hbm = compulsory_traffic(p),
            .executed_flops = algorithmic_flops(p),
            .exp_count = p.batch * p.heads * visible_pairs(p)}}};
}

/// Scores outside the band become -inf (before 9.10: the lowest finite number, which those versions prefer).
TensorId mask(Graph& graph, TensorId scores, const Problem& p, bool infinite) {
  constexpr int64_t kRows = 2, kColumns = 3;
  const Band limits = band(p);
  const int32_t offset = static_cast<int32_t>(p.seqlen_kv - p.seqlen_q);
  const float hidden =
      infinite ? -std::numeric_limits<float>::infinity() : std::numeric_limits<float>::lowest();
  const Graph::PointwiseOptions integer{
      .result = DataType::int32, .compute = DataType::int32, .axis = kColumns};
  const Graph::PointwiseOptions real{.result = DataType::fp32, .compute = DataType::fp32, .axis = kColumns};
  const Graph::PointwiseOptions truth{.result = DataType::boolean, .compute = DataType::boolean};
  const auto index = [&](int64_t axis) {
    return graph.pointwise(Pointwise::index_along_axis, {.result = DataType::int32, .axis = axis}, scores);
  };
  const auto select = [&](TensorId visible) {
    scores = graph.pointwise(Pointwise::select, {}, scores, graph.scalar(hidden), visible);
  };
  if (limits.right) {  // row + offset + right >= column
    TensorId row = index(kRows);
    const TensorId column = index(kColumns);
    if (offset != 0) {
      row = graph.pointwise(Pointwise::add, integer, row, graph.scalar(static_cast<int32_t>(p.seqlen_kv)));
      row =
          graph.pointwise(Pointwise::subtract, integer, row, graph.scalar(static_cast<int32_t>(p.seqlen_q)));
    }
    if (*limits.right != 0) {
      row = graph.pointwise(Pointwise::add, integer, row, graph.scalar(static_cast<int32_t>(*limits.right)));
    }
    select(graph.pointwise(Pointwise::greater_or_equal, truth, row, column));
  }
  if (limits.left) {  // column + left - offset > row
    const TensorId row = index(kRows);
    const TensorId column = graph.pointwise(Pointwise::add, real, index(kColumns),
                                            graph.scalar(static_cast<float>(*limits.left - offset)));
    select(graph.pointwise(Pointwise::greater, truth, column, row));
  }
  return scores;
}

/// LSE is not computed when it has no place.
Graph attention(const cudnn::Api& api, const Problem& p, const Tensors& t) {
  const DataType type = p.dtype == DType::bf16 ? DataType::bf16 : DataType::fp16;
  const int64_t nq = p.seqlen_q, nkv = p.seqlen_kv, d = p.head_dim;
  Graph graph(api);
  const auto in_memory = [&](const cudnn::Sizes& sizes, const cudnn::Sizes& strides, void* address) {
    return graph.in_memory(type, sizes, strides, address);
  };
  const TensorId q = in_memory({p.batch, p.heads, nq, d}, {p.heads * nq * d, nq * d, d, 1}, t.at("q"));
  const TensorId k_transposed =
      in_memory({p.batch, p.kv_heads, d, nkv}, {p.kv_heads * nkv * d, nkv * d, 1, d}, t.at("k"));
  const TensorId v =
      in_memory({p.batch, p.kv_heads, nkv, d}, {p.kv_heads * nkv * d, nkv * d, d, 1}, t.at("v"));
  const TensorId o = in_memory({p.batch, p.heads, nq, d}, {p.heads * nq * d, nq * d, d, 1}, t.at("o"));

  TensorId scores = graph.matmul(q, k_transposed);
  scores =
      graph.pointwise(Pointwise::multiply, {}, scores, graph.scalar(static_cast<float>(softmax_scale(p))));
  scores = mask(graph, scores, p, api.get_version() >= 91000);

  const TensorId maximum = graph.reduce(Reduction::max, scores);
  const TensorId shifted = graph.pointwise(Pointwise::subtract, {}, scores, maximum);
  const TensorId powers = graph.pointwise(Pointwise::exp, {}, shifted);
  const TensorId sum = graph.reduce(Reduction::sum, powers);
  if (t.lse()) {
    const TensorId lse =
        graph.in_memory(DataType::fp32, {p.batch, p.heads, nq, 1}, {p.heads * nq, nq, 1, 1}, t.lse());
    const TensorId logarithm = graph.pointwise(Pointwise::log, {}, sum);
    graph.pointwise(Pointwise::add, {.into = lse}, maximum, logarithm);
  }
  const TensorId probabilities = graph.pointwise(Pointwise::divide, {.result = type}, powers, sum);
  graph.matmul(probabilities, v, o);
  return graph;
}

const cudnn::Api& require_cudnn() {
  const cudnn::Api* api = cudnn::api();
  if (!api) throw CaseError(cudnn::missing());
  return *api;
}

class HandleOwner {
 public:
  HandleOwner(const cudnn::Api& api, CUstream_st* stream) : api_(api) {
    cudnn::check(api_, api_.create(&handle_), "starting the library");
    if (const cudnn::Status status = api_.set_stream(handle_, stream); status != 0) {
      const std::string reason = cudnn::describe(api_, status);
      api_.destroy(handle_);
      throw CaseError("cuDNN: choosing the stream: " + reason);
    }
  }
  ~HandleOwner() { api_.destroy(handle_); }
  HandleOwner(const HandleOwner&) = delete;
  HandleOwner& operator=(const HandleOwner&) = delete;
  cudnn::Handle get() const { return handle_; }

 private:
  const cudnn::Api& api_;
  cudnn::Handle handle_ = nullptr;
};

class CudnnAttention final : public Prepared {
 public:
  CudnnAttention(const Problem& p, const Tensors& t, Device& gpu)
      : api_(require_cudnn()),
        handle_(api_, gpu.stream()),
        graph_(attention(api_, p, t)),
        started_(std::chrono::steady_clock::now()),
        plan_(cudnn::make_plan(api_, graph_, handle_.get())),
        build_ms_(
            std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - started_).count()),
        workspace_(plan_.workspace_bytes > 0 ? gpu.allocate(plan_.workspace_bytes) : nullptr),
        pack_(cudnn::bind(api_, graph_, workspace_ ? workspace_->data() : nullptr)) {}

  void launch() override {
    const cudnn::Status status = api_.execute(handle_.get(), plan_.descriptor.address(), pack_.address());
    if (status != 0) cudnn::check(api_, status, "launching attention");
  }
  /// cuDNN compiles some of its engines on the spot, and only while it builds a plan.
  double compile_ms() const override { return build_ms_; }
  int64_t own_workspace_bytes() const override { return plan_.workspace_bytes; }
  std::string library() const override { return "cuDNN " + cudnn::version_text(api_); }

 private:
  const cudnn::Api& api_;
  HandleOwner handle_;
  Graph graph_;
  std::chrono::steady_clock::time_point started_;
  cudnn::Plan plan_;
  double build_ms_;
  std::unique_ptr<Buffer> workspace_;
  cudnn::Descriptor pack_;
};

std::unique_ptr<Prepared> prepare_attention(const Case& c, const Tensors& t, Device& device) {
  require_16_byte_operands("cudnn", t);
  return std::make_unique<CudnnAttention>(c.problem, t, device);
}

}  // namespace

Implementation cudnn_gpu() {
  return {.name = "cudnn",
          .device = DeviceKind::gpu,
          .summary = "cuDNN's fused attention, through its graph API",
          .takes = {"fp16", "bf16", "causal", "window", "gqa"},
          .limits = limits,
          .steps = steps,
          .prepare = prepare_attention};
}

}  // namespace attnprof
