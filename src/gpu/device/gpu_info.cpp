#include "gpu/device/gpu_info.hpp"

#include <fmt/format.h>

#include <array>

#include "core/error.hpp"
#include "gpu/api/nvml_api.hpp"
#include "gpu/api/nvrtc_api.hpp"
#include "gpu/gpu.hpp"

namespace attnprof {
namespace {

/// Sixteen bytes as 8-4-4-4-12 hex digits.
std::string uuid_text(const CUuuid& uuid) {
  std::string text;
  for (int i = 0; i < 16; ++i) {
    if (i == 4 || i == 6 || i == 8 || i == 10) text += '-';
    text += fmt::format("{:02x}", static_cast<unsigned char>(uuid.bytes[i]));
  }
  return text;
}

std::string cuda_version_text(int version) {
  return fmt::format("{}.{}", version / 1000, version % 1000 / 10);
}

}  // namespace

DeviceInfo read_gpu_info(const DriverApi& driver, int ordinal) {
  DeviceInfo info;
  info.kind = DeviceKind::gpu;
  info.index = ordinal;
  CUdevice device = 0;
  check(driver, driver.device_get(&device, ordinal), fmt::format("opening GPU {}", ordinal));
  const auto attribute = [&](CUdevice_attribute which) {
    int value = 0;
    check(driver, driver.device_get_attribute(&value, which, device),
          fmt::format("reading limits of GPU {}", ordinal));
    return value;
  };

  std::array<char, 256> name{};
  check(driver, driver.device_get_name(name.data(), static_cast<int>(name.size()), device),
        "reading the GPU's name");
  info.name = name.data();
  info.compute_capability = attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR) * 10 +
                            attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
  info.multiprocessors = attribute(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
  info.last_level_cache_bytes = attribute(CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE);
  info.smem_per_block_bytes = attribute(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN);
  size_t memory = 0;
  check(driver, driver.device_total_mem(&memory, device), "reading the GPU's memory size");
  info.memory_bytes = static_cast<int64_t>(memory);

  CUuuid uuid{};
  check(driver, driver.device_get_uuid(&uuid, device), "reading the GPU's UUID");
  info.uuid = "GPU-" + uuid_text(uuid);
  const NvmlDevice board(info.uuid);
  info.ecc = board.ecc();
  info.power_limit_w = board.power_limit_w();

  int driver_cuda = 0;
  driver.driver_get_version(&driver_cuda);
  info.driver_version = nvml_driver_version();
  if (info.driver_version.empty()) info.driver_version = "for CUDA " + cuda_version_text(driver_cuda);
  const NvrtcApi* nvrtc = nvrtc_api();
  info.cuda_version =
      nvrtc ? fmt::format("{}.{}", nvrtc->major, nvrtc->minor) : cuda_version_text(driver_cuda);
  return info;
}

GpuList list_gpus() {
  GpuList list;
  const DriverApi* driver = driver_api();
  if (!driver) {
    list.why_none = driver_missing();
    return list;
  }
  try {
    int count = 0;
    check(*driver, driver->device_get_count(&count), "counting GPUs");
    for (int i = 0; i < count; ++i) list.gpus.push_back(read_gpu_info(*driver, i));
    if (count == 0) list.why_none = "the NVIDIA driver is there, but shows no GPU (CUDA_VISIBLE_DEVICES?)";
  } catch (const Error& error) {
    if (list.gpus.empty()) list.why_none = error.what();
  }
  return list;
}

}  // namespace attnprof
