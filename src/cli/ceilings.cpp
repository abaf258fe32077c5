// attnprof ceilings: what this machine can do at most, measured, not read off a datasheet.
#include <fmt/format.h>

#include <memory>

#include "cli/commands.hpp"
#include "cli/device_choice.hpp"
#include "cli/say.hpp"
#include "core/error.hpp"
#include "host/system.hpp"
#include "state/device_ceilings.hpp"

namespace attnprof {
namespace {

struct CeilingOptions {
  std::string device = "auto";
  int threads = 0;
  std::string format = "table";
  bool refresh = false;
};

int run_ceilings(const CeilingOptions& o) {
  const DeviceChoice choice = choose_device(o.device);
  const std::unique_ptr<Device> device = open_device(choice, o.threads);
  CeilingRequest request;
  request.refresh = o.refresh;
  request.hostname = host_name();
  request.tool_version = ATTNPROF_VERSION;
  if (!choice.note.empty()) say("{}", choice.note);
  request.warn = [](const std::string& text) { say("{}", text); };
  const CeilingReport report = device_ceilings(*device, request);
  if (report.age_s && o.format != "table") {
    say("ceilings: cached, measured at {}; --refresh measures anew", report.measured_at);
  }
  fmt::print("{}", o.format == "csv"    ? ceilings_csv(report)
                   : o.format == "json" ? ceilings_json(report)
                                        : ceilings_table(report));
  if (!report.list.message.empty()) say("ceilings: {}", report.list.message);
  if (report.list.values.empty()) throw UnavailableError("no ceiling could be measured");
  return 0;
}

}  // namespace

void add_ceilings(CommandLine& line) {
  auto options = std::make_shared<CeilingOptions>();
  Command& command =
      line.add("ceilings",
               "Measure what the device can do at most: memory by size, arithmetic, exponentials, launches");
  add_device_options(command, options->device, options->threads);
  command.option("--format", options->format, "table (default), csv or json")
      .one_of({"table", "csv", "json"});
  command.flag("--refresh", options->refresh,
               "Measure anew; otherwise what was measured before on this device, with this driver, CUDA, "
               "power limit and version, comes from the cache folder ($XDG_CACHE_HOME/attnprof or "
               "~/.cache/attnprof)");
  command.action([options] { return run_ceilings(*options); });
}

}  // namespace attnprof
