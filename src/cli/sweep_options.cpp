#include "cli/sweep_options.hpp"

#include <fmt/format.h>

#include "cli/device_choice.hpp"
#include "cli/typed.hpp"
#include "core/error.hpp"
#include "measure/shard.hpp"

namespace attnprof {
namespace {

constexpr const char* kNoFile = "names no file; give a path, or - for stdout";

void setup_common(Command& command, SweepOptions& o) {
  setup_axis_options(command, o.axes);
  command.group("Device");
  add_device_options(command, o.device, o.threads);
  command.group("Output");
  command.option("--csv", o.csv, "Write rows to FILE as they are measured; - for stdout")
      .type_name("FILE")
      .not_empty(kNoFile);
  command.option("--json", o.json, "Write JSON lines to FILE; - for stdout")
      .type_name("FILE")
      .not_empty(kNoFile);
  command.flag("--overwrite", o.overwrite,
               "Write --csv and --json files anew, also when they hold something, which is lost");
  command.flag("--dry-run", o.dry_run,
               "Print the planned rows with predicted bytes, memory and time; measure nothing");
  command
      .option("--shard", o.shard,
              "Measure part i of n of the planned problems; `attnprof merge` joins the files of all n")
      .type_name("i/n");
  command.flag("--quiet", o.quiet, "No table, no progress; warnings and errors only");
  command.group("Measuring");
  command.option("--verify-rows", o.run.verify_rows, "Random rows of each output checked against float64")
      .within(1, 1 << 20);
}

void setup_timing(Command& command, SweepOptions& o) {
  command.group("Output");
  command.flag("--resume", o.resume,
               "Continue --csv FILE: rows that it holds are not measured again; a damaged one is refused, "
               "naming its place");
  command.group("Measuring");
  command
      .option("--cache", o.cache,
              "cold: evict the last-level cache before each launch (default); hot: do not")
      .one_of({"cold", "hot"});
  command
      .option("--rest", o.run.rest,
              "Pause before each sample, as a multiple of its time (3: the device idles three quarters of "
              "the time): the chip keeps its clock below the power limit, and times repeat. 0: back to "
              "back, as under load. On a CPU caches and clocks cool down meanwhile")
      .within(0.0, 100.0)
      .shows_default();
  command
      .option("--min-samples", o.run.stopping.min_samples,
              "At least this many timings of each case (fewer when they would take three times --max-time)")
      .within(1, 100000)
      .shows_default();
  command.option("--max-samples", o.run.stopping.max_samples, "At most this many")
      .within(1, 1000000)
      .shows_default();
  command
      .option("--max-time", o.run.stopping.budget_s,
              "Seconds for one case, when it does not converge earlier")
      .within(0.001, 86400.0)
      .shows_default();
  command
      .option("--precision", o.run.stopping.target_half_width,
              "Stop when the 95% interval of the median is within +- this share of it")
      .within(1e-6, 1.0)
      .shows_default();
  command.option("--warmups", o.run.warmups, "Untimed launches before the first timing")
      .within(1, 10000)
      .shows_default();
  command.option("--counters", o.counters, "auto, or off: no hardware counters").one_of({"auto", "off"});
  command.flag("--require-counters", o.require_counters, "Exit with 3 when hardware counters cannot be had");
  command.flag(
      "--per-kernel", o.run.per_kernel,
      "Add a row for every kernel of implementations that launch several (column kernel: qk, softmax, pv)");
  command.flag("--no-ceilings", o.no_ceilings,
               "Do not measure what the device can do at most when `attnprof ceilings` has not done so yet "
               "(about a second); cached figures are used all the same");
  command.flag("--no-drain", o.no_drain, "Leave dirty L2 lines out of hbm_write_bytes, as ncu does");
}

constexpr const char* kFooter =
    "Exit codes: 130 interrupted; else 4 a result failed verification or could not be measured; else 3 not "
    "one row is ok (all out of memory, unsupported or skipped), or counters were required and are not there; "
    "else 0. 2 for bad input.";

}  // namespace

void setup(Command& command, SweepOptions& o) {
  command.footer(kFooter);
  setup_common(command, o);
  if (o.timed) setup_timing(command, o);
}

void check(const SweepOptions& o) {
  if (o.shard) parse_shard(*o.shard);
  if (o.csv == "-" && o.json == "-") {
    throw UsageError("--csv - and --json - both want stdout; send one to a file");
  }
  if (!o.csv.empty() && same_file(o.csv, o.json)) {
    throw UsageError(fmt::format("--csv and --json both name '{}'; give two files", o.csv));
  }
  if (o.resume && (o.csv.empty() || o.csv == "-")) {
    throw UsageError("--resume needs --csv FILE, the file to continue");
  }
  if (o.resume && !o.json.empty()) {
    throw UsageError("--resume continues a CSV; --json would hold the new rows only: drop one");
  }
  if (o.resume && o.overwrite) {
    throw UsageError("--resume keeps the rows of --csv FILE, --overwrite drops them; give one of the two");
  }
  if (o.require_counters && o.counters == "off") {
    throw UsageError("--require-counters contradicts --counters off");
  }
  if (o.run.stopping.min_samples > o.run.stopping.max_samples) {
    throw UsageError(fmt::format("--min-samples {} is above --max-samples {}", o.run.stopping.min_samples,
                                 o.run.stopping.max_samples));
  }
}

}  // namespace attnprof
