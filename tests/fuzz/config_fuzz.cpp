// --config on any bytes: a UsageError, or options that the axis parsers then take or refuse.
#include <string_view>

#include "cli/config_file.hpp"
#include "cli/sweep_options.hpp"
#include "core/error.hpp"

using namespace attnprof;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  CommandLine line("fuzz", "", "");
  line.add("verify", "");
  Command& command = line.add("sweep", "");
  SweepOptions options;
  setup(command, options);
  try {
    apply_config(command, {reinterpret_cast<const char*>(data), size}, "f.toml");
    check(options);
    parse_axes(options.axes, DeviceKind::host);
  } catch (const UsageError&) {
  }
  return 0;
}
