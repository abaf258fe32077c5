// Batched matrix products on the tensor cores through cuBLASLt, in this project's row-major terms.
#pragma once

#include <cublasLt.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/problem.hpp"
#include "gpu/device/gpu_device.hpp"

namespace attnprof {

/// C = alpha A op(B) for each of `batch` matrices, all row-major: A [m, k], C [m, n], B [k, n] or,
/// transposed, [n, k]. A pitch is the distance between rows in elements; matrices of a batch follow each
/// other at rows * pitch.
struct ProductShape {
  DType dtype = DType::bf16;  ///< of all three; fp32 accumulation, and true fp32 (not TF32) for fp32
  int64_t batch = 1;
  int64_t m = 0, n = 0, k = 0;
  int64_t a_pitch = 0, b_pitch = 0, c_pitch = 0;
  bool b_transposed = false;
  float alpha = 1.0f;
};

/// A product whose algorithm has been chosen: every one that cuBLASLt's heuristic proposes is timed on the
/// real operands, and the fastest kept. Construction therefore runs on the device, and writes C.
class BatchedProduct {
 public:
  /// `name` is for messages ("Q K^T"). Throws CaseError when cuBLASLt has no algorithm for the shape.
  BatchedProduct(GpuDevice& gpu, std::string name, const ProductShape& shape, const void* a, const void* b,
                 void* c, void* workspace, int64_t workspace_bytes);
  ~BatchedProduct();
  BatchedProduct(const BatchedProduct&) = delete;
  BatchedProduct& operator=(const BatchedProduct&) = delete;

  /// Enqueues the product. Throws CaseError.
  void launch();

 private:
  struct Part;  ///< a share of the batch that one call can take

  void enqueue(const Part& part, const cublasLtMatmulAlgo_t& algorithm);
  std::unique_ptr<Part> plan(int64_t first_matrix, int64_t matrices);
  std::vector<cublasLtMatmulHeuristicResult_t> candidates(const Part& part);
  cublasLtMatmulAlgo_t fastest(const Part& part, const std::vector<cublasLtMatmulHeuristicResult_t>& found);

  GpuDevice& gpu_;
  std::string name_;
  ProductShape shape_;
  const char* a_;
  const char* b_;
  char* c_;
  void* workspace_;
  int64_t workspace_bytes_;
  std::vector<std::unique_ptr<Part>> parts_;
};

}  // namespace attnprof
