#include "core/bound.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <string>

#include "core/error.hpp"

namespace attnprof {
namespace {

constexpr int64_t kKiB = 1024;
constexpr int64_t kMiB = 1024 * kKiB;
constexpr int64_t kGiB = 1024 * kMiB;
constexpr double kExpPerClockPerSm = 16;

std::string folded(std::string_view text) {
  std::string result;
  for (char c : text) {
    if (std::isalnum(static_cast<unsigned char>(c)) != 0) {
      result += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    }
  }
  return result;
}

}  // namespace

const std::vector<GpuModel>& gpu_models() {
  // name, capability, HBM GB/s, bf16 and fp32 TFLOP/s, SMs, GHz, L2, memory, shared memory of a block,
  // on-chip memory of an SM
  static const std::vector<GpuModel> table{
      {"A100-40GB", 80, 1555, 312, 19.5, 108, 1.41, 40 * kMiB, 40 * kGiB, 166912, 192 * kKiB},
      {"A100-80GB", 80, 2039, 312, 19.5, 108, 1.41, 40 * kMiB, 80 * kGiB, 166912, 192 * kKiB},
      {"H100", 90, 3350, 989, 66.9, 132, 1.98, 50 * kMiB, 80 * kGiB, 232448, 256 * kKiB},
      {"H200", 90, 4800, 989, 66.9, 132, 1.98, 60 * kMiB, 141'000'000'000, 232448, 256 * kKiB},
      {"L40S", 89, 864, 362, 91.6, 142, 2.52, 96 * kMiB, 48 * kGiB, 101376, 128 * kKiB},
      {"RTX4090", 89, 1008, 165, 82.6, 128, 2.52, 72 * kMiB, 24 * kGiB, 101376, 128 * kKiB},
      {"B200", 100, 8000, 2250, 75, 148, 1.965, 126 * kMiB, 180'000'000'000, 232448, 256 * kKiB},
  };
  return table;
}

const GpuModel& find_gpu_model(std::string_view name) {
  std::string known;
  for (const GpuModel& gpu : gpu_models()) {
    if (folded(gpu.name) == folded(name)) return gpu;
    known += fmt::format("{}{}", known.empty() ? "" : ", ", gpu.name);
  }
  throw UsageError(fmt::format("--gpu '{}' is not known; known: {}", name, known));
}

std::optional<GpuModel> match_gpu_model(const DeviceInfo& device) {
  if (device.kind != DeviceKind::gpu) return std::nullopt;
  std::string name = folded(device.name);
  for (const std::string_view vendor : {"nvidia", "geforce"}) {
    if (name.starts_with(vendor)) name.erase(0, vendor.size());
  }
  for (const std::string_view namesake : {"nvl", "laptop"}) {
    if (name.find(namesake) != std::string::npos) return std::nullopt;
  }
  for (const GpuModel& gpu : gpu_models()) {
    // At the start, so that "NVIDIA GH200" is no H200. "A100-SXM4-80GB" has the form factor between model and
    // size.
    const size_t dash = gpu.name.find('-');
    const bool model = name.starts_with(folded(gpu.name.substr(0, dash)));
    const bool size =
        dash == std::string_view::npos || name.find(folded(gpu.name.substr(dash + 1))) != std::string::npos;
    if (model && size) return gpu;
  }
  return std::nullopt;
}

DeviceInfo device_info(const GpuModel& gpu) {
  DeviceInfo info;
  info.kind = DeviceKind::gpu;
  info.name = fmt::format("{} (datasheet)", gpu.name);
  info.index = 0;
  info.compute_capability = gpu.compute_capability;
  info.multiprocessors = gpu.multiprocessors;
  info.last_level_cache_bytes = gpu.l2_bytes;
  info.smem_per_block_bytes = gpu.smem_per_block_bytes;
  info.memory_bytes = gpu.memory_bytes;
  return info;
}

double exp_gops(const GpuModel& gpu) {
  return kExpPerClockPerSm * gpu.multiprocessors * gpu.boost_ghz;
}

Prediction predict(const Problem& p, const ModelledWork& work, const GpuModel& gpu) {
  Prediction time;
  const double tflops = p.dtype == DType::fp32 ? gpu.fp32_tflops : gpu.bf16_tflops;
  time.hbm_us = static_cast<double>(work.hbm.total()) / (gpu.hbm_gbps * 1e3);
  time.matrix_us = static_cast<double>(work.executed_flops) / (tflops * 1e6);
  time.exp_us = static_cast<double>(work.exp_count) / (exp_gops(gpu) * 1e3);
  time.total_us = time.hbm_us;
  time.bound = "memory";
  if (time.matrix_us > time.total_us) {
    time.total_us = time.matrix_us;
    time.bound = "matrix";
  }
  if (time.exp_us > time.total_us) {
    time.total_us = time.exp_us;
    time.bound = "exp";
  }
  return time;
}

}  // namespace attnprof
