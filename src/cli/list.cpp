// attnprof list: implementations, devices, presets, columns.
#include <fmt/format.h>

#include <memory>

#include "cli/commands.hpp"
#include "core/axes.hpp"
#include "gpu/gpu.hpp"
#include "host/host_device.hpp"
#include "implementations.hpp"
#include "rows/columns.hpp"
#include "rows/table.hpp"

namespace attnprof {
namespace {

void list_implementations() {
  fmt::print("Implementations (--impl)\n");
  for (const Implementation& row : registry()) {
    fmt::print("  {:<12} {:<4} {}\n", row.name, row.device == DeviceKind::gpu ? "gpu" : "cpu", row.summary);
  }
  fmt::print("  {:<12} {:<4} {}\n", "fused", "gpu", "the best fused kernel of the GPU at hand");
}

void list_devices() {
  fmt::print("Devices (--device)\n");
  const DeviceInfo host = open_host(0)->info();
  fmt::print("  cpu      {}, {} threads, {} RAM\n", host.name, host.multiprocessors,
             human_bytes(static_cast<double>(host.memory_bytes)));
  const GpuList gpus = list_gpus();
  for (const DeviceInfo& gpu : gpus.gpus) {
    fmt::print("  {:<8} {}, compute capability {}.{}, {} SMs, {} L2, {} memory, driver {}\n", gpu.index,
               gpu.name, gpu.compute_capability / 10, gpu.compute_capability % 10, gpu.multiprocessors,
               human_bytes(static_cast<double>(gpu.last_level_cache_bytes)),
               human_bytes(static_cast<double>(gpu.memory_bytes)), gpu.driver_version);
  }
  if (gpus.gpus.empty()) fmt::print("  no GPU: {}\n", gpus.why_none);
}

void list_presets() {
  fmt::print("Presets (--preset)\n");
  for (const Preset& p : presets()) {
    fmt::print("  {:<14} heads {:>3}/{:<3} head_dim {:>3} seqlen {:>5} batch {:>2} {:<6} {}\n", p.name,
               p.heads, p.kv_heads, p.head_dim, p.seqlen, p.batch, p.causal ? "causal" : "full", p.summary);
  }
}

int run_list(const std::string& what) {
  if (what == "columns") {
    fmt::print("{}", columns_markdown());
    return 0;
  }
  const bool all = what == "all";
  if (all || what == "implementations") list_implementations();
  if (all || what == "devices") list_devices();
  if (all || what == "presets") list_presets();
  return 0;
}

}  // namespace

void add_list(CommandLine& line) {
  auto what = std::make_shared<std::string>("all");
  Command& command = line.add("list", "List implementations, devices, presets or CSV columns");
  command.option("what", *what, "all, implementations, devices, presets, columns")
      .one_of({"all", "implementations", "devices", "presets", "columns"});
  command.action([what] { return run_list(*what); });
}

}  // namespace attnprof
