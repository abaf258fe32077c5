// The two kernels of known traffic (flush.cu) as work that can be timed and counted.
#pragma once

#include <cstdint>

#include "gpu/device/gpu_device.hpp"

namespace attnprof {

/// Copies `bytes`, a multiple of 16, from one device address to another: reads and writes exactly that many.
class DeviceCopy final : public Prepared {
 public:
  DeviceCopy(GpuDevice& gpu, void* to, const void* from, int64_t bytes)
      : gpu_(gpu),
        kernel_(gpu.kernel({"gpu/device/flush.cu", "copy_all", {}})),
        to_(to),
        from_(from),
        count_(bytes / 16) {}
  void launch() override {
    gpu_.launch(kernel_, {.grid_x = static_cast<unsigned>(gpu_.info().multiprocessors) * 4, .block_x = 512},
                {&to_, &from_, &count_});
  }

 private:
  GpuDevice& gpu_;
  const CompiledKernel& kernel_;
  void* to_;
  const void* from_;
  int64_t count_;
};

/// Reads `bytes`, a multiple of 16, and writes nothing.
class DeviceRead final : public Prepared {
 public:
  DeviceRead(GpuDevice& gpu, void* from, int64_t bytes)
      : gpu_(gpu),
        kernel_(gpu.kernel({"gpu/device/flush.cu", "read_all", {}})),
        from_(from),
        count_(bytes / 16) {}
  void launch() override {
    gpu_.launch(kernel_, {.grid_x = static_cast<unsigned>(gpu_.info().multiprocessors) * 4, .block_x = 512},
                {&from_, &count_, &from_});
  }

 private:
  GpuDevice& gpu_;
  const CompiledKernel& kernel_;
  void* from_;
  int64_t count_;
};

}  // namespace attnprof
