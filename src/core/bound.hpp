// A lower bound on time from named rates: the roofline of one case.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "core/implementation.hpp"
#include "core/problem.hpp"

namespace attnprof {

/// A GPU as its datasheet describes it. For predictions only: nothing measured is ever held against these
/// figures.
struct GpuModel {
  std::string_view name;
  int compute_capability;
  double hbm_gbps;     ///< 1e9 bytes per second
  double bf16_tflops;  ///< dense, fp32 accumulation; the same for fp16
  double fp32_tflops;  ///< without tensor cores
  int multiprocessors;
  double boost_ghz;  ///< highest clock, the one that fp32_tflops assumes
  int64_t l2_bytes;
  int64_t memory_bytes;
  int64_t smem_per_block_bytes;  ///< opt-in limit (CUDA programming guide, compute capabilities)
  int64_t onchip_bytes;          ///< L1 and shared memory of one SM together: M of the papers' IO analysis
};

const std::vector<GpuModel>& gpu_models();

/// Case does not matter. Throws UsageError listing the names.
const GpuModel& find_gpu_model(std::string_view name);

/// The model that the device's name begins with, after the vendor's words ("NVIDIA H200",
/// "NVIDIA A100-SXM4-80GB"); empty when none fits. Namesakes with another memory (H100 NVL, laptops) do not.
std::optional<GpuModel> match_gpu_model(const DeviceInfo& device);

/// Exponentials per second, 1e9: 16 per clock and SM on every model of the table (CUDA programming guide,
/// throughput of arithmetic instructions).
double exp_gops(const GpuModel& gpu);

/// What implementations are asked with when there is no such GPU here. Its name says that it is a
/// datasheet's.
DeviceInfo device_info(const GpuModel& gpu);

/// Times that no schedule can beat at these rates, microseconds.
struct Prediction {
  double hbm_us = 0;       ///< modelled bytes over HBM bandwidth
  double matrix_us = 0;    ///< executed FLOPs of the products over the matrix rate of the dtype
  double exp_us = 0;       ///< exponentials over the special function units' rate, 16 per clock and SM
  double total_us = 0;     ///< the largest of them: perfect overlap
  std::string_view bound;  ///< which one: "memory", "matrix", "exp"
};
Prediction predict(const Problem& p, const ModelledWork& work, const GpuModel& gpu);

}  // namespace attnprof
