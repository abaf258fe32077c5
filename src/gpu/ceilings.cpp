#include "gpu/ceilings.hpp"

#include <fmt/format.h>

#include <array>

#include "core/error.hpp"
#include "core/stats.hpp"
#include "gpu/gpu_device.hpp"
#include "gpu/memory_kernels.hpp"

namespace attnprof {
namespace {

constexpr int64_t kMemoryBytes = int64_t{1} << 30;
constexpr int64_t kMatrixSize = 8192;
constexpr int64_t kMatmulWorkspaceBytes = int64_t{64} << 20;
constexpr int kWarmups = 3;
constexpr int kSamples = 20;

double median_us(GpuDevice& gpu, Prepared& work, CacheMode cache) {
  for (int i = 0; i < kWarmups; ++i) gpu.run(work);
  return stats::median(gpu.sample_us(work, cache, kSamples));
}

void require(cublasStatus_t status, const char* attempt) {
  if (status != CUBLAS_STATUS_SUCCESS) throw CaseError(fmt::format("{}: {}", attempt, describe(status)));
}

/// C = A B, all kMatrixSize squared, row or column order alike.
class SquareProduct final : public Prepared {
 public:
  SquareProduct(GpuDevice& gpu, cudaDataType_t type, const void* a, const void* b, void* c, void* workspace)
      : gpu_(gpu),
        api_(gpu.cublas_lt()),
        handle_(gpu.cublas_lt_handle()),
        a_(a),
        b_(b),
        c_(c),
        workspace_(workspace) {
    require(api_.matmul_desc_create(&product_, CUBLAS_COMPUTE_32F, CUDA_R_32F), "describing the product");
    require(api_.matrix_layout_create(&layout_, type, kMatrixSize, kMatrixSize, kMatrixSize),
            "describing the matrices");
    cublasLtMatmulPreference_t preference = nullptr;
    require(api_.matmul_preference_create(&preference), "choosing an algorithm");
    const size_t workspace_bytes = kMatmulWorkspaceBytes;
    api_.matmul_preference_set_attribute(preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES,
                                         &workspace_bytes, sizeof workspace_bytes);
    int found = 0;
    const cublasStatus_t status = api_.matmul_algo_get_heuristic(handle_, product_, layout_, layout_, layout_,
                                                                 layout_, preference, 1, &choice_, &found);
    api_.matmul_preference_destroy(preference);
    require(status, "choosing an algorithm");
    if (found == 0) throw CaseError("cuBLASLt has no algorithm for the product");
  }
  ~SquareProduct() override {
    api_.matrix_layout_destroy(layout_);
    api_.matmul_desc_destroy(product_);
  }

  void launch() override {
    const float one = 1;
    const float zero = 0;
    require(api_.matmul(handle_, product_, &one, a_, layout_, b_, layout_, &zero, c_, layout_, c_, layout_,
                        &choice_.algo, workspace_, kMatmulWorkspaceBytes, gpu_.stream()),
            "launching the product");
  }

 private:
  GpuDevice& gpu_;
  const CublasLtApi& api_;
  cublasLtHandle_t handle_;
  const void* a_;
  const void* b_;
  void* c_;
  void* workspace_;
  cublasLtMatmulDesc_t product_ = nullptr;
  cublasLtMatrixLayout_t layout_ = nullptr;
  cublasLtMatmulHeuristicResult_t choice_{};
};

void measure_memory(GpuDevice& gpu, GpuCeilings& ceilings) {
  const std::unique_ptr<Buffer> from = gpu.allocate(kMemoryBytes);
  const std::unique_ptr<Buffer> to = gpu.allocate(kMemoryBytes);
  gpu.fill_normal(from->data(), DType::fp32, kMemoryBytes / 4, 1, 0);
  DeviceCopy copy(gpu, to->data(), from->data(), kMemoryBytes);
  ceilings.copy_gbps = 2.0 * static_cast<double>(kMemoryBytes) / median_us(gpu, copy, CacheMode::cold) / 1000;
  DeviceRead read(gpu, from->data(), kMemoryBytes);
  ceilings.read_gbps = static_cast<double>(kMemoryBytes) / median_us(gpu, read, CacheMode::cold) / 1000;
}

double matrix_tflops(GpuDevice& gpu, DType dtype) {
  const int64_t bytes = kMatrixSize * kMatrixSize * dtype_bytes(dtype);
  std::array<std::unique_ptr<Buffer>, 3> matrices;
  for (size_t i = 0; i < matrices.size(); ++i) {
    matrices[i] = gpu.allocate(bytes);
    gpu.fill_normal(matrices[i]->data(), dtype, kMatrixSize * kMatrixSize, 1, static_cast<uint32_t>(i));
  }
  const std::unique_ptr<Buffer> workspace = gpu.allocate(kMatmulWorkspaceBytes);
  SquareProduct product(gpu, dtype == DType::bf16 ? CUDA_R_16BF : CUDA_R_16F, matrices[0]->data(),
                        matrices[1]->data(), matrices[2]->data(), workspace->data());
  const double flops = 2.0 * kMatrixSize * kMatrixSize * kMatrixSize;
  return flops / median_us(gpu, product, CacheMode::hot) / 1e6;
}

}  // namespace

GpuCeilings measure_ceilings(Device& device) {
  GpuDevice& gpu = as_gpu(device);
  GpuCeilings ceilings;
  const auto attempt = [&](const char* what, const auto& measure) {
    try {
      measure();
    } catch (const Error& error) {
      ceilings.message += fmt::format("{}{}: {}", ceilings.message.empty() ? "" : "; ", what, error.what());
    }
  };
  attempt("memory", [&] { measure_memory(gpu, ceilings); });
  attempt("bf16 matrix product", [&] { ceilings.bf16_matrix_tflops = matrix_tflops(gpu, DType::bf16); });
  attempt("fp16 matrix product", [&] { ceilings.fp16_matrix_tflops = matrix_tflops(gpu, DType::fp16); });
  return ceilings;
}

}  // namespace attnprof
