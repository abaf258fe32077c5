#include "cli/device_choice.hpp"

#include <fmt/format.h>

#include <charconv>
#include <cstdio>

#include "core/error.hpp"
#include "gpu/gpu.hpp"
#include "host/host_device.hpp"

namespace attnprof {
namespace {

/// -1: the host; otherwise a CUDA ordinal.
int choose_index(const std::string& device, bool quiet) {
  if (device == "cpu") return -1;
  int index = 0;
  const bool any_gpu = device == "gpu" || device == "auto";
  if (!any_gpu) {
    const auto [end, error] = std::from_chars(device.data(), device.data() + device.size(), index);
    if (error != std::errc() || end != device.data() + device.size() || index < 0) {
      throw UsageError(fmt::format("--device '{}' is not auto, cpu, gpu or a GPU number such as 0", device));
    }
  }
  const GpuList list = list_gpus();
  if (index < static_cast<int>(list.gpus.size())) {
    if (device == "auto" && !quiet) {
      fmt::print(stderr, "attnprof: device: GPU {}, {}\n", index, list.gpus[static_cast<size_t>(index)].name);
    }
    return index;
  }
  if (device == "auto") {
    if (!quiet) fmt::print(stderr, "attnprof: device: CPU ({})\n", list.why_none);
    return -1;
  }
  if (list.gpus.empty())
    throw UnavailableError(fmt::format("--device {}: no GPU: {}", device, list.why_none));
  throw UnavailableError(
      fmt::format("--device {}: this machine has {} GPU(s), numbered from 0", device, list.gpus.size()));
}

}  // namespace

std::unique_ptr<Device> choose_device(const std::string& device, int threads, bool quiet) {
  const int index = choose_index(device, quiet);
  return index < 0 ? open_host(threads) : open_gpu(index);
}

DeviceInfo choose_device_info(const std::string& device) {
  const int index = choose_index(device, true);
  if (index < 0) return open_host(0)->info();
  return list_gpus().gpus[static_cast<size_t>(index)];
}

}  // namespace attnprof
