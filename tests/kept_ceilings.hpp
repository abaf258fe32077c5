// Ceilings in a cache folder as if this machine had measured them: a test must not depend on how busy it is.
#pragma once

#include <filesystem>

#include "host/host_device.hpp"
#include "host/system.hpp"
#include "state/device_ceilings.hpp"

/// For the CPU with one thread, under $XDG_CACHE_HOME `cache`. Returns the file.
inline std::filesystem::path keep_ceilings(const std::filesystem::path& cache, double fp32_tflops) {
  using namespace attnprof;
  CeilingRequest request;
  request.folder = cache / "attnprof";
  request.refresh = true;
  request.hostname = host_name();
  request.tool_version = ATTNPROF_VERSION;
  const std::unique_ptr<Device> device = open_host(1);
  device_ceilings(*device, request, {}, [fp32_tflops](Device&, CeilingScope scope) {
    CeilingList list;
    list.scope = scope;
    list.add({"copy", std::nullopt, 1e4, "GB/s", "64 MiB, made up"});
    list.add({"fp32_fma", std::nullopt, fp32_tflops, "TFLOP/s", "made up"});
    list.add({"exp", std::nullopt, 1e4, "Gexp/s", "made up"});
    list.add({"launch_interval", std::nullopt, 0.01, "us", "made up"});
    return list;
  });
  return ceilings_file(request.folder,
                       ceiling_identity(device->info(), request.hostname, request.tool_version));
}
