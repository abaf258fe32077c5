// attnprof ceilings: what this machine can do at most, measured, not read off a datasheet.
#include "gpu/ceilings.hpp"

#include <fmt/format.h>

#include <memory>
#include <optional>

#include "cli/commands.hpp"
#include "cli/device_choice.hpp"
#include "cli/say.hpp"
#include "host/peak.hpp"

namespace attnprof {
namespace {

void print_rate(const char* name, std::optional<double> rate, const char* unit, const char* how) {
  if (rate) fmt::print("  {:<22} {:>9.1f} {:<8} {}\n", name, *rate, unit, how);
}

int run_ceilings(const std::string& device_option, int threads) {
  const std::unique_ptr<Device> device = open_device(choose_device(device_option), threads);
  const DeviceInfo& info = device->info();
  fmt::print("{}: measured now\n", info.name);
  if (info.kind == DeviceKind::host) {
    const HostPeak peak = measure_host_peak(*device);
    print_rate("fp32 FMA", peak.fma_flops_per_s / 1e9, "GFLOP/s", "all threads; a multiply-add counts 2");
    print_rate("fp32 FMA, one thread", peak.one_thread_flops_per_s / 1e9, "GFLOP/s", "alone");
    print_rate("memory copy", peak.copy_bytes_per_s / 1e9, "GB/s",
               "read plus written, larger than the last-level cache");
    return 0;
  }
  const GpuCeilings peak = measure_ceilings(*device);
  print_rate("HBM copy", peak.copy_gbps, "GB/s", "1 GiB, read plus written");
  print_rate("HBM read", peak.read_gbps, "GB/s", "1 GiB");
  print_rate("bf16 matrix product", peak.bf16_matrix_tflops, "TFLOP/s", "cuBLASLt 8192^3, random data");
  print_rate("fp16 matrix product", peak.fp16_matrix_tflops, "TFLOP/s", "cuBLASLt 8192^3, random data");
  if (!peak.message.empty()) say("ceilings: {}", peak.message);
  return 0;
}

}  // namespace

void add_ceilings(CLI::App& app, Action& action) {
  struct Options {
    std::string device = "auto";
    int threads = 0;
  };
  auto options = std::make_shared<Options>();
  CLI::App* command =
      app.add_subcommand("ceilings", "Measure memory bandwidth and arithmetic peak of the device");
  command->add_option("--device", options->device, "auto, cpu, gpu, or a GPU number");
  command->add_option("--threads", options->threads, "CPU threads (default: all)")
      ->check(CLI::Range(0, 4096));
  command->callback(
      [options, &action] { action = [options] { return run_ceilings(options->device, options->threads); }; });
}

}  // namespace attnprof
