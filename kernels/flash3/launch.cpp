// Launching flash3.cu: tensor maps, grid, arguments.
#include "kernels/flash3/launch.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "core/error.hpp"
#include "gpu/api/driver_api.hpp"
#include "gpu/device/gpu_device.hpp"
#include "kernels/device/fused_launch.hpp"
#include "kernels/flash3/tile.hpp"

namespace attnprof {
namespace {

/// A tensor seen as (head_dim, rows, heads), copied in boxes of one 64-column panel, 128-byte swizzle.
/// Columns and rows beyond the tensor arrive as zeros.
CUtensorMap panel_map(const DriverApi& driver, const Problem& p, const void* address, int64_t rows,
                      int64_t heads, int box_rows) {
  const int64_t row_bytes = p.head_dim * dtype_bytes(p.dtype);
  const cuuint64_t sizes[] = {static_cast<cuuint64_t>(p.head_dim), static_cast<cuuint64_t>(rows),
                              static_cast<cuuint64_t>(heads)};
  const cuuint64_t strides[] = {static_cast<cuuint64_t>(row_bytes),
                                static_cast<cuuint64_t>(rows * row_bytes)};
  const cuuint32_t box[] = {64, static_cast<cuuint32_t>(box_rows), 1};
  const cuuint32_t every[] = {1, 1, 1};
  CUtensorMap map;
  check(
      driver,
      driver.tensor_map_encode_tiled(
          &map, p.dtype == DType::bf16 ? CU_TENSOR_MAP_DATA_TYPE_BFLOAT16 : CU_TENSOR_MAP_DATA_TYPE_FLOAT16,
          3, const_cast<void*>(address), sizes, strides, box, every, CU_TENSOR_MAP_INTERLEAVE_NONE,
          CU_TENSOR_MAP_SWIZZLE_128B, CU_TENSOR_MAP_L2_PROMOTION_L2_128B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE),
      fmt::format("tensor map of {} x {} x {}, box {} rows", heads, rows, p.head_dim, box_rows));
  return map;
}

class Flash3OnGpu final : public Prepared {
 public:
  Flash3OnGpu(const Case& c, const Tensors& t, GpuDevice& gpu, const KernelSpec& spec, int64_t smem_bytes)
      : gpu_(gpu), kernel_(gpu.kernel(spec)), params_(attention_params(c.problem, t)) {
    const Problem& p = c.problem;
    const int64_t kv_heads = p.batch * p.kv_heads;
    q_map_ = panel_map(gpu.driver(), p, t.q, flash3::packed_rows(p), kv_heads, 64);
    k_map_ = panel_map(gpu.driver(), p, t.k, p.seqlen_kv, kv_heads, c.config.tile_n);
    v_map_ = panel_map(gpu.driver(), p, t.v, p.seqlen_kv, kv_heads, c.config.tile_n);
    shape_ = {.grid_x = static_cast<unsigned>(flash3::blocks(p, c.config, gpu.info().multiprocessors)),
              .block_x = static_cast<unsigned>(32 * c.config.warps),
              .dynamic_smem_bytes = static_cast<unsigned>(smem_bytes)};
  }

  void launch() override { gpu_.launch(kernel_, shape_, {&params_, &q_map_, &k_map_, &v_map_}); }
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
  CUtensorMap q_map_, k_map_, v_map_;
  LaunchShape shape_;
};

}  // namespace

std::unique_ptr<Prepared> prepare_flash3(const Case& c, const Tensors& t, Device& device,
                                         const KernelSpec& spec, int64_t smem_bytes) {
  require_16_byte_operands(c.impl, t);
  if (as_gpu(device).driver().tensor_map_encode_tiled == nullptr) {
    throw CaseError(
        fmt::format("{} needs cuTensorMapEncodeTiled: CUDA 12.0's driver (525) or newer", c.impl));
  }
  return std::make_unique<Flash3OnGpu>(c, t, as_gpu(device), spec, smem_bytes);
}

}  // namespace attnprof
