#include "gpu/device/square_product.hpp"

#include "core/error.hpp"

namespace attnprof {
namespace {

constexpr int64_t kWorkspaceBytes = int64_t{64} << 20;

void require(cublasStatus_t status, const char* attempt) {
  if (status != CUBLAS_STATUS_SUCCESS) throw CaseError(std::string(attempt) + ": " + describe(status));
}

}  // namespace

SquareProduct::SquareProduct(GpuDevice& gpu, DType dtype, int64_t n)
    : gpu_(gpu), api_(gpu.cublas_lt()), handle_(gpu.cublas_lt_handle()), n_(n) {
  for (size_t i = 0; i < matrices_.size(); ++i) {
    matrices_[i] = gpu.allocate(n * n * dtype_bytes(dtype));
    gpu.fill_normal(matrices_[i]->data(), dtype, n * n, 1, static_cast<uint32_t>(i));
  }
  workspace_ = gpu.allocate(kWorkspaceBytes);
  const bool tf32 = dtype == DType::fp32;
  const cudaDataType_t type = tf32 ? CUDA_R_32F : dtype == DType::bf16 ? CUDA_R_16BF : CUDA_R_16F;
  const uint64_t rows = static_cast<uint64_t>(n);
  require(api_.matmul_desc_create(&product_, tf32 ? CUBLAS_COMPUTE_32F_FAST_TF32 : CUBLAS_COMPUTE_32F,
                                  CUDA_R_32F),
          "describing the product");
  require(api_.matrix_layout_create(&layout_, type, rows, rows, n), "describing the matrices");
  cublasLtMatmulPreference_t preference = nullptr;
  require(api_.matmul_preference_create(&preference), "choosing an algorithm");
  const size_t workspace_bytes = kWorkspaceBytes;
  api_.matmul_preference_set_attribute(preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, &workspace_bytes,
                                       sizeof workspace_bytes);
  int found = 0;
  const cublasStatus_t status = api_.matmul_algo_get_heuristic(handle_, product_, layout_, layout_, layout_,
                                                               layout_, preference, 1, &choice_, &found);
  api_.matmul_preference_destroy(preference);
  require(status, "choosing an algorithm");
  if (found == 0) throw CaseError("cuBLASLt has no algorithm for the product");
}

SquareProduct::~SquareProduct() {
  api_.matrix_layout_destroy(layout_);
  api_.matmul_desc_destroy(product_);
}

void SquareProduct::launch() {
  const float one = 1;
  const float zero = 0;
  require(api_.matmul(handle_, product_, &one, matrices_[0]->data(), layout_, matrices_[1]->data(), layout_,
                      &zero, matrices_[2]->data(), layout_, matrices_[2]->data(), layout_, &choice_.algo,
                      workspace_->data(), kWorkspaceBytes, gpu_.stream()),
          "launching the product");
}

}  // namespace attnprof
