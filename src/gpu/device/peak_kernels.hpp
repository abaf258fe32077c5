// The kernels of peak.cu, and a matrix product, as work that can be timed.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>

#include "gpu/device/gpu_device.hpp"

namespace attnprof {

enum class MemoryUse { read, write, copy };

/// Goes over `bytes` (a power of two, at least 32 KiB) `passes` times in one launch.
class MemoryPasses final : public Prepared {
 public:
  MemoryPasses(GpuDevice& gpu, MemoryUse use, Buffer& to, Buffer& from, int64_t bytes, int64_t passes);
  void launch() override;
  /// That one launch moves: read plus written.
  double bytes() const;

 private:
  GpuDevice& gpu_;
  MemoryUse use_;
  const CompiledKernel& kernel_;
  void* to_;
  const void* from_;
  unsigned tiles_;
  unsigned passes_;
};

/// Multiply-adds ("fma_chains") or exponentials ("exp_chains") in registers, on a full device.
class ArithmeticChains final : public Prepared {
 public:
  ArithmeticChains(GpuDevice& gpu, const std::string& entry, int rounds);
  void launch() override;
  /// Operations of one launch; a multiply-add is one.
  double operations() const;

 private:
  GpuDevice& gpu_;
  const CompiledKernel& kernel_;
  int rounds_;
  unsigned blocks_;
  bool fma_;
};

/// C = A B of n x n matrices of `dtype`, random normal data; holds their memory. fp32 operands are rounded to
/// TF32: the tensor cores take no wider ones.
class SquareProduct final : public Prepared {
 public:
  /// Throws CaseError as Product does, OutOfMemory when the matrices do not fit.
  SquareProduct(GpuDevice& gpu, DType dtype, int64_t n);
  void launch() override { product_->launch(); }
  double flops() const { return flops_; }

 private:
  std::array<std::unique_ptr<Buffer>, 4> buffers_;  ///< A, B, C, scratch
  std::unique_ptr<Prepared> product_;
  double flops_;
};

/// `count` launches of an empty kernel.
class EmptyLaunches final : public Prepared {
 public:
  EmptyLaunches(GpuDevice& gpu, int count);
  void launch() override;

 private:
  GpuDevice& gpu_;
  const CompiledKernel& kernel_;
  int count_;
};

}  // namespace attnprof
