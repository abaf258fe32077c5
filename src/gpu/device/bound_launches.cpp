#include "gpu/device/bound_launches.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/error.hpp"
#include "gpu/api/driver_api.hpp"

namespace attnprof {
namespace {

CUtensorMapDataType data_type(DType t) {
  switch (t) {
    case DType::fp32:
      return CU_TENSOR_MAP_DATA_TYPE_FLOAT32;
    case DType::fp16:
      return CU_TENSOR_MAP_DATA_TYPE_FLOAT16;
    case DType::bf16:
      return CU_TENSOR_MAP_DATA_TYPE_BFLOAT16;
  }
  return CU_TENSOR_MAP_DATA_TYPE_FLOAT32;
}

CUtensorMap encoded(const DriverApi& driver, const TensorMap& map) {
  if (driver.tensor_map_encode_tiled == nullptr) {
    throw CaseError("tensor maps need cuTensorMapEncodeTiled: CUDA 12.0's driver (525) or newer");
  }
  const auto row_bytes = static_cast<cuuint64_t>(map.columns * dtype_bytes(map.dtype));
  const auto rows = static_cast<cuuint64_t>(map.rows);
  const cuuint64_t sizes[] = {static_cast<cuuint64_t>(map.columns), rows, static_cast<cuuint64_t>(map.heads)};
  const cuuint64_t strides[] = {row_bytes, rows * row_bytes};
  const cuuint32_t box[] = {static_cast<cuuint32_t>(map.box_columns), static_cast<cuuint32_t>(map.box_rows),
                            1};
  const cuuint32_t every[] = {1, 1, 1};
  CUtensorMap result;
  check(driver,
        driver.tensor_map_encode_tiled(&result, data_type(map.dtype), 3, const_cast<void*>(map.address),
                                       sizes, strides, box, every, CU_TENSOR_MAP_INTERLEAVE_NONE,
                                       CU_TENSOR_MAP_SWIZZLE_128B, CU_TENSOR_MAP_L2_PROMOTION_L2_128B,
                                       CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE),
        fmt::format("tensor map of {} x {} x {}, box {} x {}", map.heads, map.rows, map.columns, map.box_rows,
                    map.box_columns));
  return result;
}

}  // namespace

BoundKernel::BoundKernel(GpuDevice& gpu, const KernelLaunch& what)
    : gpu_(&gpu), kernel_(&gpu.kernel(what.kernel)), shape_(what.shape) {
  for (const Argument& argument : what.arguments) {
    if (const auto* map = std::get_if<TensorMap>(&argument)) {
      arguments_.emplace_back(encoded(gpu.driver(), *map));
    } else {
      arguments_.emplace_back(std::get<ArgumentBytes>(argument));
    }
  }
  for (const auto& argument : arguments_) {
    const auto* bytes = std::get_if<ArgumentBytes>(&argument);
    addresses_.push_back(bytes ? static_cast<const void*>(bytes->data()) : &std::get<CUtensorMap>(argument));
  }
}

KernelResources BoundKernel::resources() const {
  KernelResources all = kernel_->resources;
  all.smem_bytes += shape_.dynamic_smem_bytes;
  return all;
}

BoundLaunches::BoundLaunches(GpuDevice& gpu, const std::vector<Launch>& launches) {
  const auto is_product = [](const Launch& launch) { return std::holds_alternative<ProductLaunch>(launch); };
  auto products_left = std::count_if(launches.begin(), launches.end(), is_product);
  for (const Launch& launch : launches) {
    if (const auto* product = std::get_if<ProductLaunch>(&launch)) {
      steps_.emplace_back(Product(gpu, *product));
      --products_left;
    } else {
      const auto& kernel =
          std::get<BoundKernel>(steps_.emplace_back(BoundKernel(gpu, std::get<KernelLaunch>(launch))));
      if (products_left > 0) kernel.launch();
    }
  }
}

void BoundLaunches::launch_step(size_t index) {
  std::visit([](const auto& step) { step.launch(); }, steps_[index]);
}

std::optional<KernelResources> BoundLaunches::resources() const {
  std::optional<KernelResources> most;
  for (const auto& step : steps_) {
    const auto* kernel = std::get_if<BoundKernel>(&step);
    if (!kernel) continue;
    const KernelResources own = kernel->resources();
    if (!most) most = own;
    most->registers_per_thread = std::max(most->registers_per_thread, own.registers_per_thread);
    most->spill_bytes = std::max(most->spill_bytes, own.spill_bytes);
    most->smem_bytes = std::max(most->smem_bytes, own.smem_bytes);
  }
  return most;
}

double BoundLaunches::compile_ms() const {
  double sum = 0;
  for (const auto& step : steps_) {
    if (const auto* kernel = std::get_if<BoundKernel>(&step)) sum += kernel->compile_ms();
  }
  return sum;
}

}  // namespace attnprof
