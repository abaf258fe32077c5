// One large matrix product through cuBLASLt: the yardstick for the matrix rate and for the tensor counters.
#pragma once

#include <array>
#include <cstdint>
#include <memory>

#include "gpu/api/cublas_lt_api.hpp"
#include "gpu/device/gpu_device.hpp"

namespace attnprof {

/// C = A B of n x n matrices of `dtype`, fp32 accumulation, random normal data; holds their memory. fp32
/// operands are rounded to TF32: the tensor cores take no wider ones. Throws CaseError when cuBLASLt is
/// missing or has no algorithm, OutOfMemory when they do not fit.
class SquareProduct final : public Prepared {
 public:
  SquareProduct(GpuDevice& gpu, DType dtype, int64_t n);
  ~SquareProduct() override;

  void launch() override;
  double flops() const {
    return 2.0 * static_cast<double>(n_) * static_cast<double>(n_) * static_cast<double>(n_);
  }

 private:
  GpuDevice& gpu_;
  const CublasLtApi& api_;
  cublasLtHandle_t handle_;
  int64_t n_;
  std::array<std::unique_ptr<Buffer>, 3> matrices_;  ///< A, B, C
  std::unique_ptr<Buffer> workspace_;
  cublasLtMatmulDesc_t product_ = nullptr;
  cublasLtMatrixLayout_t layout_ = nullptr;
  cublasLtMatmulHeuristicResult_t choice_{};
};

}  // namespace attnprof
