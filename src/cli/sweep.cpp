// attnprof sweep: axes -> plan -> runner -> sinks. `verify` is the same sweep without the timing.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <map>
#include <memory>
#include <string>
#include <unordered_set>
#include <vector>

#include "cli/axis_options.hpp"
#include "cli/commands.hpp"
#include "cli/device_choice.hpp"
#include "cli/dry_run.hpp"
#include "cli/interrupt.hpp"
#include "cli/registry.hpp"
#include "cli/terminal.hpp"
#include "core/error.hpp"
#include "gpu/gpu.hpp"
#include "measure/runner.hpp"
#include "report/csv.hpp"
#include "report/resume.hpp"
#include "report/table.hpp"

namespace attnprof {
namespace {

struct SweepOptions {
  AxisOptions axes;
  std::string device = "auto";
  int threads = 0;
  std::string csv, json;
  bool resume = false;
  bool dry_run = false;
  bool quiet = false;
  std::string cache = "cold";
  std::string counters = "auto";
  bool require_counters = false;
  bool no_drain = false;
  RunOptions run;
};

bool writes_stdout(const SweepOptions& o) {
  return o.csv == "-" || o.json == "-";
}

void check_options(const SweepOptions& o) {
  if (o.csv == "-" && o.json == "-")
    throw UsageError("--csv - and --json - both want stdout; send one to a file");
  if (o.resume && (o.csv.empty() || o.csv == "-"))
    throw UsageError("--resume needs --csv FILE, the file to continue");
  if (o.resume && !o.json.empty())
    throw UsageError("--resume continues a CSV; --json would hold the new rows only: drop one");
  if (o.require_counters && o.counters == "off")
    throw UsageError("--require-counters contradicts --counters off");
  if (o.run.stopping.min_samples > o.run.stopping.max_samples) {
    throw UsageError(fmt::format("--min-samples {} is above --max-samples {}", o.run.stopping.min_samples,
                                 o.run.stopping.max_samples));
  }
}

RunConditions conditions(const SweepOptions& o) {
  RunConditions c;
  c.cache = o.cache == "cold" ? CacheMode::cold : CacheMode::hot;
  c.tool_version = ATTNPROF_VERSION;
  char host[256] = "";
  gethostname(host, sizeof host - 1);
  c.hostname = host;
  const std::time_t now = std::time(nullptr);
  char text[32];
  std::tm utc{};
  gmtime_r(&now, &utc);
  std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &utc);
  c.timestamp = text;
  return c;
}

/// Rows of a resumed file are not measured again. Returns how many were left out.
size_t drop_finished(std::vector<PlannedRow>& rows, const SweepOptions& o, const DeviceInfo& device,
                     const RunConditions& run) {
  const ResumeInfo finished = read_resume(o.csv);
  require_same_device(finished, device, o.csv);
  const size_t before = rows.size();
  std::erase_if(
      rows, [&](const PlannedRow& row) { return finished.has(record_key(blank_record(row, device, run))); });
  return before - rows.size();
}

/// Compiles what the rows need before anything is measured.
void compile_all(Device& device, const std::vector<PlannedRow>& rows, bool show_progress) {
  if (device.info().kind != DeviceKind::gpu) return;
  std::vector<KernelSpec> specs;
  for (const PlannedRow& row : rows) {
    if (row.status != Status::ok) continue;
    for (KernelSpec& spec : row.impl->kernels(row.planned, device.info())) {
      if (std::find(specs.begin(), specs.end(), spec) == specs.end()) specs.push_back(std::move(spec));
    }
  }
  if (specs.empty()) return;
  Progress progress(static_cast<int>(specs.size()), show_progress);
  compile_kernels(device, specs, [&](int done, int) { progress.step(done, "compiling kernels"); });
}

/// Says on stderr what the counts of each status are, when not all rows are ok.
void summarise(const std::vector<Record>& records, size_t resumed, bool rows_only) {
  std::map<Status, int> counts;
  for (const Record& r : records) ++counts[r.status];
  const size_t ok = static_cast<size_t>(counts[Status::ok]);
  if (ok == records.size() && resumed == 0 && !rows_only) return;  // the table has said it
  std::string line = fmt::format("{} rows: {} ok", records.size(), ok);
  for (const auto& [status, count] : counts) {
    if (status != Status::ok && count > 0) line += fmt::format(", {} {}", count, to_string(status));
  }
  if (resumed > 0) line += fmt::format("; {} were in the file already", resumed);
  fmt::print(stderr, "attnprof: {}\n", line);
}

bool all_ok(const std::vector<Record>& records) {
  return std::all_of(records.begin(), records.end(), [](const Record& r) { return r.status == Status::ok; });
}

ExitCode exit_code(const std::vector<Record>& records, const SweepOptions& o) {
  if (stop_requested()) return ExitCode::interrupted;
  bool failed = false, measured = records.empty(), counted = true;
  for (const Record& r : records) {
    failed = failed || r.status == Status::failed || r.status == Status::verify_failed ||
             r.status == Status::no_samples;
    measured = measured || r.status == Status::ok || r.status == Status::oom;
    if (r.status == Status::ok) counted = counted && r.counters.status == "ok";
  }
  if (failed) return ExitCode::verification;
  if (!measured) throw UsageError("nothing was measured: " + records.front().message);
  if (o.require_counters && !counted) return ExitCode::unavailable;
  return ExitCode::ok;
}

/// A sweep that lasts can meet another machine at its end than at its start (heat, neighbours): times the
/// first measured row once more and warns when the two intervals do not overlap and the medians differ by
/// more than 2%.
void check_drift(Runner& runner, const std::vector<PlannedRow>& rows, const std::vector<Record>& records) {
  const auto first = std::find_if(records.begin(), records.end(),
                                  [](const Record& r) { return r.status == Status::ok && r.time; });
  if (first == records.end() || stop_requested()) return;
  const auto again = runner.time_again(rows[static_cast<size_t>(first - records.begin())], stop_requested());
  if (!again) return;
  const double change = again->median_us / first->time->median_us - 1;
  const bool apart = again->lo_us > first->time->hi_us || again->hi_us < first->time->lo_us;
  if (apart && std::abs(change) > 0.02) {
    fmt::print(stderr,
               "attnprof: warning: the machine drifted: the first row took {:.4g} us at the start and {:.4g} "
               "us at the end "
               "({:+.1f}%)\n",
               first->time->median_us, again->median_us, 100 * change);
  }
}

int run_sweep(SweepOptions o, bool timed) {
  check_options(o);
  const bool tty_err = isatty(STDERR_FILENO) != 0;
  std::unique_ptr<Device> device = choose_device(o.device, o.threads, o.quiet);
  const RunConditions run = conditions(o);
  std::vector<PlannedRow> rows =
      plan(planned_cases(o.axes, device->info().kind), device->info(), find_implementation);
  if (o.dry_run) return print_dry_run(rows, device->info(), device->free_bytes());

  const size_t resumed = o.resume ? drop_finished(rows, o, device->info(), run) : 0;
  std::vector<std::unique_ptr<Sink>> sinks;
  if (!o.csv.empty()) sinks.push_back(open_csv(o.csv, o.resume));
  if (!o.json.empty()) sinks.push_back(open_json_lines(o.json, false));

  o.run.cache = run.cache;
  o.run.time = timed;
  o.run.drain = !o.no_drain;
  o.run.counters = timed && o.counters == "auto";
  std::unique_ptr<CounterSource> counters;
  if (device->info().kind == DeviceKind::gpu && o.run.counters) {
    counters = open_counters(*device);
    const std::string hint = counters->hint();
    if (!hint.empty() && o.require_counters) throw UnavailableError("--require-counters: " + hint);
    if (!hint.empty()) fmt::print(stderr, "attnprof: counters: {}\n", hint);
  }
  compile_all(*device, rows, tty_err && !o.quiet);

  Runner runner(*device, counters.get(), o.run, run);
  std::vector<Record> records;
  const auto start = std::chrono::steady_clock::now();
  {
    Progress progress(static_cast<int>(rows.size()), tty_err && !o.quiet);
    for (const auto& [begin, end] : group_by_problem(rows)) {
      if (stop_requested()) break;
      progress.step(static_cast<int>(begin), describe(rows[begin].planned.problem));
      for (Record& record : runner.run(&rows[begin], rows.data() + end, stop_requested())) {
        for (const auto& sink : sinks) sink->write(record);
        records.push_back(std::move(record));
      }
    }
  }
  const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - start;
  if (timed && spent.count() > 30) check_drift(runner, rows, records);
  if (!writes_stdout(o) && !o.quiet) {
    const TableStyle style = terminal_style();
    fmt::print("{}", results_table(records, style));
    if (timed) fmt::print("{}", comparison_table(records, style));
    if (std::fflush(stdout) != 0) throw UsageError("stdout: cannot write the table (closed or full)");
  }
  if (!o.quiet || !all_ok(records)) summarise(records, resumed, writes_stdout(o));
  return static_cast<int>(exit_code(records, o));
}

void setup_common(CLI::App& app, SweepOptions& o) {
  setup_axis_options(app, o.axes);
  app.add_option("--device", o.device, "auto, cpu, gpu, or a GPU number")->group("Device");
  app.add_option("--threads", o.threads, "CPU threads (default: all)")
      ->check(CLI::Range(0, 4096))
      ->group("Device");
  app.add_option("--csv", o.csv, "Write rows to FILE as they are measured; - for stdout")
      ->type_name("FILE")
      ->group("Output");
  app.add_option("--json", o.json, "Write JSON lines to FILE; - for stdout")
      ->type_name("FILE")
      ->group("Output");
  app.add_flag("--resume", o.resume, "Continue --csv FILE: rows that it holds are not measured again")
      ->group("Output");
  app.add_flag("--dry-run", o.dry_run,
               "Print the planned rows with predicted bytes, memory and time; measure nothing")
      ->group("Output");
  app.add_flag("--quiet", o.quiet, "No table, no progress; warnings and errors only")->group("Output");
  app.add_option("--verify-rows", o.run.verify_rows, "Random rows of each output checked against float64")
      ->check(CLI::Range(1, 1 << 20))
      ->group("Measuring");
}

void setup_timing(CLI::App& app, SweepOptions& o) {
  app.add_option("--cache", o.cache,
                 "cold: evict the last-level cache before each launch (default); hot: do not")
      ->check(CLI::IsMember({"cold", "hot"}))
      ->group("Measuring");
  app.add_option("--min-samples", o.run.stopping.min_samples, "At least this many timings of each case")
      ->check(CLI::Range(1, 100000))
      ->capture_default_str()
      ->group("Measuring");
  app.add_option("--max-samples", o.run.stopping.max_samples, "At most this many")
      ->check(CLI::Range(1, 1000000))
      ->capture_default_str()
      ->group("Measuring");
  app.add_option("--max-time", o.run.stopping.budget_s,
                 "Seconds for one case, when it does not converge earlier")
      ->check(CLI::Range(0.001, 86400.0))
      ->capture_default_str()
      ->group("Measuring");
  app.add_option("--precision", o.run.stopping.target_half_width,
                 "Stop when the 95% interval of the median is within +- this share of it")
      ->check(CLI::Range(1e-6, 1.0))
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
  app.add_flag("--no-drain", o.no_drain, "Leave dirty L2 lines out of hbm_write_bytes, as ncu does")
      ->group("Measuring");
}

void add_command(CLI::App& app, Action& action, const char* name, const char* help, bool timed) {
  auto options = std::make_shared<SweepOptions>();
  CLI::App* command = app.add_subcommand(name, help);
  setup_common(*command, *options);
  if (timed) setup_timing(*command, *options);
  command->callback([command, options, timed, &action] {
    action = [command, options, timed] {
      if (!options->axes.config_file.empty()) apply_config_file(*command, options->axes.config_file);
      return run_sweep(*options, timed);
    };
  });
}

}  // namespace

void add_sweep(CLI::App& app, Action& action) {
  add_command(app, action, "sweep", "Measure implementations over axes; rows to CSV, table to the terminal",
              true);
}

void add_verify(CLI::App& app, Action& action) {
  add_command(app, action, "verify", "Only check results against float64 over the axes", false);
}

}  // namespace attnprof
