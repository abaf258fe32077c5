// The launch of flash2: operands bound, arguments packed.
#include "kernels/flash2/launch.hpp"

#include "gpu/device/gpu_device.hpp"
#include "kernels/device/fused_launch.hpp"

namespace attnprof {

namespace {

class Flash2OnGpu final : public Prepared {
 public:
  Flash2OnGpu(const Case& c, const Tensors& t, GpuDevice& gpu)
      : gpu_(gpu), kernel_(gpu.kernel(flash2_spec(c))), params_(attention_params(c.problem, t)) {
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
  GpuDevice& gpu_;
  const CompiledKernel& kernel_;
  AttentionParams params_;
  LaunchShape shape_;
};

}  // namespace

std::unique_ptr<Prepared> prepare_flash2(const Case& c, const Tensors& t, Device& device) {
  require_16_byte_operands("flash2", t);
  return std::make_unique<Flash2OnGpu>(c, t, as_gpu(device));
}

}  // namespace attnprof
