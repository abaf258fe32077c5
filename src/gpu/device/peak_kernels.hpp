// The kernels of kernels/peak.cu as work that can be timed.
#pragma once

#include <array>
#include <cstdint>
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
