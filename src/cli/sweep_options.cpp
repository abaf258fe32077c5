#include "cli/sweep_options.hpp"

#include <fmt/format.h>

#include "cli/typed.hpp"
#include "core/error.hpp"
#include "measure/shard.hpp"

namespace attnprof {
namespace {

std::string not_empty(std::string& text) {
  return text.empty() ? "names no file; give a path, or - for stdout" : "";
}

void setup_common(CLI::App& app, SweepOptions& o) {
  const CLI::Validator path(not_empty, "");
  setup_axis_options(app, o.axes);
  app.add_option("--device", o.device, "auto, cpu, gpu, or a GPU number")->group("Device");
  app.add_option("--threads", o.threads, "CPU threads (default: all)")
      ->check(CLI::Range(0, 4096))
      ->group("Device");
  app.add_option("--csv", o.csv, "Write rows to FILE as they are measured; - for stdout")
      ->type_name("FILE")
      ->check(path)
      ->group("Output");
  app.add_option("--json", o.json, "Write JSON lines to FILE; - for stdout")
      ->type_name("FILE")
      ->check(path)
      ->group("Output");
  app.add_flag("--dry-run", o.dry_run,
               "Print the planned rows with predicted bytes, memory and time; measure nothing")
      ->group("Output");
  app.add_option("--shard", o.shard,
                 "Measure part i of n of the planned problems; `attnprof merge` joins the files of all n")
      ->type_name("i/n")
      ->group("Output");
  app.add_flag("--quiet", o.quiet, "No table, no progress; warnings and errors only")->group("Output");
  app.add_option("--verify-rows", o.run.verify_rows, "Random rows of each output checked against float64")
      ->check(CLI::Range(1, 1 << 20))
      ->group("Measuring");
}

void setup_timing(CLI::App& app, SweepOptions& o) {
  app.add_flag("--resume", o.resume,
               "Continue --csv FILE: rows that it holds are not measured again; a damaged one is refused, "
               "naming its place")
      ->group("Output");
  app.add_option("--cache", o.cache,
                 "cold: evict the last-level cache before each launch (default); hot: do not")
      ->check(CLI::IsMember({"cold", "hot"}))
      ->group("Measuring");
  app.add_option("--rest", o.run.rest,
                 "Pause before each sample, as a multiple of its time (3: the device idles three quarters of "
                 "the time): the chip keeps its clock below the power limit, and times repeat. 0: back to "
                 "back, as under load. On a CPU caches and clocks cool down meanwhile")
      ->check(number_within(0.0, 100.0))
      ->capture_default_str()
      ->group("Measuring");
  app.add_option(
         "--min-samples", o.run.stopping.min_samples,
         "At least this many timings of each case (fewer when they would take three times --max-time)")
      ->check(CLI::Range(1, 100000))
      ->capture_default_str()
      ->group("Measuring");
  app.add_option("--max-samples", o.run.stopping.max_samples, "At most this many")
      ->check(CLI::Range(1, 1000000))
      ->capture_default_str()
      ->group("Measuring");
  app.add_option("--max-time", o.run.stopping.budget_s,
                 "Seconds for one case, when it does not converge earlier")
      ->check(number_within(0.001, 86400.0))
      ->capture_default_str()
      ->group("Measuring");
  app.add_option("--precision", o.run.stopping.target_half_width,
                 "Stop when the 95% interval of the median is within +- this share of it")
      ->check(number_within(1e-6, 1.0))
      ->capture_default_str()
      ->group("Measuring");
  app.add_option("--warmups", o.run.warmups, "Untimed launches before the first timing")
      ->check(CLI::Range(1, 10000))
      ->capture_default_str()
      ->group("Measuring");
  app.add_option("--counters", o.counters, "auto, or off: no hardware counters")
      ->check(CLI::IsMember({"auto", "off"}))
      ->group("Measuring");
  app.add_flag("--require-counters", o.require_counters, "Exit with 3 when hardware counters cannot be had")
      ->group("Measuring");
  app.add_flag(
         "--per-kernel", o.run.per_kernel,
         "Add a row for every kernel of implementations that launch several (column kernel: qk, softmax, pv)")
      ->group("Measuring");
  app.add_flag("--no-ceilings", o.no_ceilings,
               "Do not measure what the device can do at most when `attnprof ceilings` has not done so yet "
               "(about a second); cached figures are used all the same")
      ->group("Measuring");
  app.add_flag("--no-drain", o.no_drain, "Leave dirty L2 lines out of hbm_write_bytes, as ncu does")
      ->group("Measuring");
}

constexpr const char* kFooter =
    "Exit codes: 130 interrupted; else 4 a result failed verification or could not be measured; else 3 not "
    "one row is ok (all out of memory, unsupported or skipped), or counters were required and are not there; "
    "else 0. 2 for bad input.";

}  // namespace

void setup(CLI::App& command, SweepOptions& o) {
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
  if (o.require_counters && o.counters == "off") {
    throw UsageError("--require-counters contradicts --counters off");
  }
  if (o.run.stopping.min_samples > o.run.stopping.max_samples) {
    throw UsageError(fmt::format("--min-samples {} is above --max-samples {}", o.run.stopping.min_samples,
                                 o.run.stopping.max_samples));
  }
}

}  // namespace attnprof
