// The measured rates that rows are held against.
#pragma once

#include <optional>

#include "core/problem.hpp"

namespace attnprof {

/// What the device can do at most, as `attnprof ceilings` measured it. Empty where it is not known.
struct DeviceCeilings {
  std::optional<double> copy_gbps;  ///< main memory, read plus written, 1e9 bytes/s
  std::optional<double>
      matrix_bf16_tflops;  ///< matrix product of 16-bit operands, fp32 accumulation, 1e12 FLOP/s
  std::optional<double> matrix_fp16_tflops;
  std::optional<double> fp32_tflops;  ///< fp32 multiply-adds outside the matrix units, 1e12 FLOP/s
  std::optional<double> exp_gops;     ///< exponentials, 1e9/s
  std::optional<double> launch_us;    ///< from one launch to the next when nothing else is done

  /// For products of `dtype` on this device: fp32 products run on the units that fp32_tflops measures.
  std::optional<double> matrix_tflops(DType dtype) const {
    switch (dtype) {
      case DType::bf16:
        return matrix_bf16_tflops;
      case DType::fp16:
        return matrix_fp16_tflops;
      case DType::fp32:
        return fp32_tflops;
    }
    return std::nullopt;
  }
};

}  // namespace attnprof
