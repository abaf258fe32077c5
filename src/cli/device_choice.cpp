#include "cli/device_choice.hpp"

#include <fmt/format.h>

#include <charconv>

#include "cli/say.hpp"
#include "core/error.hpp"
#include "gpu/gpu.hpp"
#include "host/host_device.hpp"
#include "host/system.hpp"

namespace attnprof {

void add_device_options(Command& command, std::string& device, int& threads) {
  command.option("--device", device, "auto, cpu, gpu, or a GPU number");
  command.option("--threads", threads, "CPU threads (default: all)").within(1, 4096);
}

DeviceChoice choose_device(const std::string& device) {
  if (device == "cpu") return {};
  int index = 0;
  if (device != "gpu" && device != "auto") {
    const auto [end, error] = std::from_chars(device.data(), device.data() + device.size(), index);
    if (error != std::errc() || end != device.data() + device.size() || index < 0) {
      throw UsageError(fmt::format("--device '{}' is not auto, cpu, gpu or a GPU number such as 0", device));
    }
  }
  const GpuList list = list_gpus();
  if (index < static_cast<int>(list.gpus.size())) {
    const std::string& name = list.gpus[static_cast<size_t>(index)].name;
    return {index, device == "auto" ? fmt::format("device: GPU {}, {}", index, name) : ""};
  }
  if (device == "auto") return {-1, fmt::format("device: CPU ({})", list.why_none)};
  if (list.gpus.empty())
    throw UnavailableError(fmt::format("--device {}: no GPU: {}", device, list.why_none));
  throw UnavailableError(
      fmt::format("--device {}: this machine has {} GPU(s), numbered from 0", device, list.gpus.size()));
}

std::unique_ptr<Device> open_device(const DeviceChoice& choice, int threads) {
  if (choice.index >= 0) return open_gpu(choice.index);
  if (const int usable = usable_threads(); threads > usable)
    say("--threads {}: this process may use {} at once, so threads will wait for each other", threads,
        usable);
  return open_host(threads);
}

}  // namespace attnprof
