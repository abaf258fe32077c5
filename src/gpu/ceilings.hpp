// What this GPU can do at most, measured here and now: the yardsticks that rows are held against.
#pragma once

#include <optional>
#include <string>

#include "core/device.hpp"

namespace attnprof {

/// Rates seen, decimal units. Empty where it could not be measured; `message` then says why.
struct GpuCeilings {
  std::optional<double>
      copy_gbps;  ///< 1 GiB copy, the faster of our kernel and the driver's: bytes read plus written, GB/s
  std::optional<double> read_gbps;  ///< 1 GiB read, nothing written
  std::optional<double>
      bf16_matrix_tflops;  ///< cuBLASLt, 8192^3, bf16 in, fp32 accumulation, random normal data
  std::optional<double> fp16_matrix_tflops;
  std::string message;
};

/// `gpu` is a device from open_gpu. Takes about a second and 2.4 GB of its memory. Medians of 20 launches, L2
/// cold for the memory rates, back to back for the matrix rates. Never throws for a missing library: see
/// `message`.
GpuCeilings measure_ceilings(Device& gpu);

}  // namespace attnprof
