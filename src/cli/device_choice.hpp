// --device auto|cpu|gpu|N: which device a command runs on, and why.
#pragma once

#include <memory>
#include <string>

#include "core/device.hpp"

namespace attnprof {

/// Opens the device. `auto` takes the first GPU, or the CPU when there is none, and says which on stderr
/// (unless `quiet`). Throws UsageError for a word that names no device, UnavailableError (exit 3) for a GPU
/// that is not there: never a silent fallback.
std::unique_ptr<Device> choose_device(const std::string& device, int threads, bool quiet);

/// Same choice, but only the identity: no context is created.
DeviceInfo choose_device_info(const std::string& device);

}  // namespace attnprof
