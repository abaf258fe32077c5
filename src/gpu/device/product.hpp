// Matrix products on the tensor cores through cuBLASLt, in this project's row-major terms.
#pragma once

#include <cublasLt.h>

#include <memory>
#include <vector>

#include "core/launch.hpp"
#include "gpu/device/gpu_device.hpp"

namespace attnprof {

/// A product whose algorithm has been chosen: every one that cuBLASLt's heuristic proposes is timed on the
/// real operands, and the fastest kept. Construction therefore runs on the device, and writes C.
class Product {
 public:
  /// Throws CaseError when cuBLASLt is missing or has no algorithm for the shape.
  Product(GpuDevice& gpu, const ProductLaunch& what);
  ~Product();
  Product(Product&&) noexcept;

  /// Enqueues the product. Throws CaseError.
  void launch() const;

 private:
  struct Part;  ///< a share of the batch that one call can take

  void enqueue(const Part& part, const cublasLtMatmulAlgo_t& algorithm) const;
  std::unique_ptr<Part> plan(int64_t first_matrix, int64_t matrices) const;
  std::vector<cublasLtMatmulHeuristicResult_t> candidates(const Part& part) const;
  cublasLtMatmulAlgo_t fastest(const Part& part,
                               const std::vector<cublasLtMatmulHeuristicResult_t>& found) const;

  GpuDevice* gpu_;
  const CublasLtApi* lt_;
  cublasLtHandle_t handle_;
  ProductLaunch what_;
  std::vector<std::unique_ptr<Part>> parts_;
};

}  // namespace attnprof
