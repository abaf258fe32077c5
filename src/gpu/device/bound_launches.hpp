// The launches of a case on one GPU: compiled, planned, their arguments packed once.
#pragma once

#include <cuda.h>

#include <variant>
#include <vector>

#include "gpu/device/gpu_device.hpp"
#include "gpu/device/product.hpp"

namespace attnprof {

/// A kernel with its arguments, as the driver takes them.
class BoundKernel {
 public:
  /// Throws CaseError when the kernel does not compile, or the driver has no tensor maps.
  BoundKernel(GpuDevice& gpu, const KernelLaunch& what);
  BoundKernel(BoundKernel&&) noexcept = default;  ///< a copy's addresses would be those of the original

  void launch() const { gpu_->launch_kernel(*kernel_, shape_, addresses_.data()); }
  KernelResources resources() const;
  double compile_ms() const { return kernel_->compile_ms; }

 private:
  GpuDevice* gpu_;
  const CompiledKernel* kernel_;
  LaunchShape shape_;
  std::vector<std::variant<ArgumentBytes, CUtensorMap>> arguments_;
  std::vector<const void*> addresses_;  ///< of each argument
};

class BoundLaunches final : public Prepared {
 public:
  /// Products choose their algorithms by running on the operands, so what comes before them runs as well.
  BoundLaunches(GpuDevice& gpu, const std::vector<Launch>& launches);

  void launch() override {
    for (size_t i = 0; i < steps_.size(); ++i) launch_step(i);
  }
  void launch_step(size_t index) override;
  /// The largest of the kernels' own, dynamic shared memory included.
  std::optional<KernelResources> resources() const override;
  double compile_ms() const override;

 private:
  std::vector<std::variant<BoundKernel, Product>> steps_;
};

}  // namespace attnprof
