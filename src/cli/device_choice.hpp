// --device auto|cpu|gpu|N: which device a command runs on, and why.
#pragma once

#include <memory>
#include <string>

#include "cli/command.hpp"
#include "core/device.hpp"

namespace attnprof {

/// A device that is there, not opened yet.
struct DeviceChoice {
  int index = -1;    ///< CUDA ordinal; -1: the host
  std::string note;  ///< what `auto` took and why, for stderr; "" when the user named the device
  DeviceKind kind() const { return index < 0 ? DeviceKind::host : DeviceKind::gpu; }
};

/// --device and --threads.
void add_device_options(Command& command, std::string& device, int& threads);

/// `auto` takes the first GPU, or the CPU when there is none. Throws UsageError for a word that names no
/// device, UnavailableError (exit 3) for a GPU that is not there: never a silent fallback.
DeviceChoice choose_device(const std::string& device);

/// `threads` is for the host; 0: all.
std::unique_ptr<Device> open_device(const DeviceChoice& choice, int threads);

}  // namespace attnprof
