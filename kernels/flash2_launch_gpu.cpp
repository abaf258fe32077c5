// The launch of flash2: operands bound, arguments packed.
#include "kernels/flash2_launch_gpu.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/error.hpp"
#include "gpu/gpu_device.hpp"
#include "kernels/params.cuh"

namespace attnprof {

namespace {

class Flash2OnGpu final : public Prepared {
 public:
  Flash2OnGpu(const Case& c, const Tensors& t, GpuDevice& gpu)
      : gpu_(gpu), kernel_(gpu.kernel(flash2_spec(c))), params_(params(c.problem, t)) {
    const int64_t m_tiles = (c.problem.seqlen_q + c.config.tile_m - 1) / c.config.tile_m;
    shape_ = {.grid_x = static_cast<unsigned>(c.problem.batch * c.problem.heads * m_tiles),
              .block_x = static_cast<unsigned>(32 * c.config.warps),
              .dynamic_smem_bytes = static_cast<unsigned>(flash2_smem_bytes(c.problem, c.config))};
  }

  void launch() override { gpu_.launch(kernel_, shape_, {&params_}); }
  std::optional<KernelResources> resources() const override {
    KernelResources all = kernel_.resources;
    all.smem_bytes += shape_.dynamic_smem_bytes;
    return all;
  }
  double compile_ms() const override { return kernel_.compile_ms; }

 private:
  static AttentionParams params(const Problem& p, const Tensors& t) {
    constexpr double kLog2E = 1.4426950408889634;
    return {.q = t.q,
            .k = t.k,
            .v = t.v,
            .o = t.o,
            .lse = t.lse,
            .batch = static_cast<int>(p.batch),
            .heads = static_cast<int>(p.heads),
            .kv_heads = static_cast<int>(p.kv_heads),
            .seqlen_q = static_cast<int>(p.seqlen_q),
            .seqlen_kv = static_cast<int>(p.seqlen_kv),
            .head_dim = static_cast<int>(p.head_dim),
            // A window wider than everything is none at all, and must not overflow a column number.
            .window = static_cast<int>(std::min(p.window, p.seqlen_q + p.seqlen_kv)),
            .scale_log2 = static_cast<float>(softmax_scale(p) * kLog2E)};
  }

  GpuDevice& gpu_;
  const CompiledKernel& kernel_;
  AttentionParams params_;
  LaunchShape shape_;
};

}  // namespace

std::unique_ptr<Prepared> prepare_flash2(const Case& c, const Tensors& t, Device& device) {
  for (const auto& [name, address] :
       {std::pair{"Q", t.q}, {"K", t.k}, {"V", t.v}, {"O", const_cast<const void*>(t.o)}}) {
    if (reinterpret_cast<uintptr_t>(address) % 16 != 0) {
      throw CaseError(fmt::format("flash2 needs {} aligned to 16 bytes, not at {}", name, address));
    }
  }
  return std::make_unique<Flash2OnGpu>(c, t, as_gpu(device));
}

}  // namespace attnprof
