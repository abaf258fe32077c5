// --config on any bytes: a UsageError, or options that the axis parsers then take or refuse.
#include <CLI/CLI.hpp>
#include <sstream>
#include <string>

#include "cli/sweep_options.hpp"
#include "core/error.hpp"

using namespace attnprof;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  CLI::App app{"fuzz"};
  app.add_subcommand("verify", "");
  CLI::App* command = app.add_subcommand("sweep", "");
  SweepOptions options;
  setup(*command, options);
  std::istringstream in(std::string(reinterpret_cast<const char*>(data), size));
  try {
    apply_config(*command, in, "f.toml");
    check(options);
    parse_axes(options.axes, DeviceKind::host);
  } catch (const UsageError&) {
  }
  return 0;
}
