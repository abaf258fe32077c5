// Identity and limits of a GPU, read from driver and NVML without creating a context.
#pragma once

#include "core/device.hpp"
#include "gpu/api/driver_api.hpp"

namespace attnprof {

/// Throws CaseError when the driver does not answer for `ordinal`.
DeviceInfo read_gpu_info(const DriverApi& driver, int ordinal);

}  // namespace attnprof
