// attnprof sweep: axes -> plan -> runner -> sinks. `verify` is the same sweep without the timing.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "cli/commands.hpp"
#include "cli/compile.hpp"
#include "cli/config_file.hpp"
#include "cli/device_choice.hpp"
#include "cli/dry_run.hpp"
#include "cli/interrupt.hpp"
#include "cli/run_conditions.hpp"
#include "cli/say.hpp"
#include "cli/sweep_options.hpp"
#include "cli/terminal.hpp"
#include "cli/typed.hpp"
#include "compare/render.hpp"
#include "core/error.hpp"
#include "core/file_io.hpp"
#include "gpu/gpu.hpp"
#include "implementations.hpp"
#include "measure/runner.hpp"
#include "measure/shard.hpp"
#include "rows/csv.hpp"
#include "rows/derived.hpp"
#include "rows/table.hpp"
#include "state/continued_file.hpp"
#include "state/sweep_ceilings.hpp"
#include "state/tuned_files.hpp"

namespace attnprof {
namespace {

RunConditions conditions(const SweepOptions& o) {
  RunConditions c = run_conditions(o.cache);
  c.rest = o.run.rest;
  c.timed = o.timed;
  return c;
}

bool is_bad(const Row& r) {
  return r.status() == Status::failed || r.status() == Status::verify_failed ||
         r.status() == Status::no_samples;
}

std::vector<std::string> keys_of(const std::vector<PlannedRow>& rows, const DeviceInfo& device,
                                 const RunConditions& run) {
  std::vector<std::string> keys;
  for (const PlannedRow& row : rows) keys.push_back(record_key(blank_record(row, device, run)));
  return keys;
}

/// Leaves the rows of --shard, and says so when there are none.
void take_shard(std::vector<PlannedRow>& rows, RunConditions& run, const SweepOptions& o,
                const DeviceInfo& device) {
  const Shard shard = parse_shard(*o.shard);
  run.shard = fmt::format("{} of {}", shard.index, shard.count);
  const size_t problems = group_by_problem(rows).size();
  rows = rows_of_shard(rows, shard,
                       [&](const PlannedRow& row) { return predicted_seconds(row, device, o.run.stopping); });
  if (rows.empty()) say("shard {} has no rows: the plan has {} problems", run.shard, problems);
}

/// What a file holds is lost only when that was asked for.
void check_files(const SweepOptions& o) {
  const char* const instead =
      o.timed ? "--resume to continue it, or --overwrite" : "another file, or --overwrite";
  if (!o.csv.empty() && !o.resume && !o.overwrite) refuse_losing("--csv", o.csv, instead);
  if (!o.json.empty() && !o.overwrite) refuse_losing("--json", o.json, "another file, or --overwrite");
}

/// Files are opened, and emptied, only when nothing else can refuse the run any more. One that holds
/// something stays as it is when no row can come of this run.
std::vector<std::unique_ptr<Sink>> open_sinks(const SweepOptions& o, const std::vector<PlannedRow>& rows) {
  const bool hopeless =
      std::none_of(rows.begin(), rows.end(), [](const PlannedRow& r) { return r.status == Status::ok; });
  const auto wanted = [&](const std::string& path) {
    if (path.empty()) return false;
    if (!o.overwrite || !hopeless || !holds_something(path)) return true;
    say("'{}' stays as it is: no case of this run can be measured", path);
    return false;
  };
  const bool csv = wanted(o.csv), json = wanted(o.json);
  for (const std::string& path : {o.csv, o.json}) {
    if (!path.empty()) require_writable(path);
  }
  std::vector<std::unique_ptr<Sink>> sinks;
  if (csv) sinks.push_back(open_csv(o.csv, o.resume));
  if (json) sinks.push_back(open_json_lines(o.json));
  return sinks;
}

std::unique_ptr<CounterSource> open_counters_or_hint(Device& device, const SweepOptions& o) {
  if (device.info().kind != DeviceKind::gpu && o.require_counters) {
    throw UnavailableError(
        "--require-counters: on a CPU bytes are counted, not read from hardware; name a --device with "
        "counters");
  }
  if (device.info().kind != DeviceKind::gpu || !o.run.counters) return nullptr;
  std::unique_ptr<CounterSource> counters = open_counters(device);
  const std::string hint = counters->hint();
  if (!hint.empty() && o.require_counters) throw UnavailableError("--require-counters: " + hint);
  if (!hint.empty()) say("counters: {}", hint);
  return counters;
}

/// A row above a ceiling says so: bytes, time or ceiling are not what they seem.
Row with_ceiling_warning(Record& record, Row row) {
  const std::string warning = ceiling_warning(row);
  if (warning.empty()) return row;
  record.message += (record.message.empty() ? "" : "; ") + warning;
  return row_of(record);
}

/// Measures group after group; every row goes to the sinks as soon as its group is done, but those of `half`,
/// which the file has.
std::vector<Row> measure(Runner& runner, SweepCeilings& ceilings, const std::vector<PlannedRow>& planned,
                         const std::set<std::string>& half, const std::vector<std::unique_ptr<Sink>>& sinks,
                         bool show_progress) {
  std::vector<Row> rows;
  Progress progress(static_cast<int>(planned.size()), show_progress);
  for (const auto& [begin, end] : group_by_problem(planned)) {
    if (stop_requested()) break;
    progress.step(static_cast<int>(begin), describe(planned[begin].planned.problem));
    std::vector<Record> group = runner.run(&planned[begin], planned.data() + end, stop_requested());
    std::vector<Row> made = rows_of(group);
    if (const auto better = ceilings.beaten_by(made)) {
      runner.use_ceilings(*better);
      for (Record& record : group) record.conditions.ceilings = *better;
      made = rows_of(group);
    }
    for (size_t i = 0; i < group.size(); ++i) {
      rows.push_back(with_ceiling_warning(group[i], std::move(made[i])));
      if (half.count(rows.back().key()) > 0) continue;
      for (const auto& sink : sinks) sink->write(rows.back());
    }
  }
  return rows;
}

/// Rows about whole launches: one for each planned row.
std::ptrdiff_t whole_rows(std::vector<Row>::const_iterator begin, std::vector<Row>::const_iterator end) {
  return std::count_if(begin, end, [](const Row& r) { return r.kernel().empty(); });
}

/// A sweep that lasts can meet another machine at its end than at its start (heat, neighbours): times the
/// first measured row once more and warns when the two intervals do not overlap and the medians differ by
/// more than 2%.
void check_drift(Runner& runner, const std::vector<PlannedRow>& planned, const std::vector<Row>& rows) {
  const auto first = std::find_if(rows.begin(), rows.end(),
                                  [](const Row& r) { return r.number("time_us") && r.kernel().empty(); });
  if (first == rows.end() || stop_requested()) return;
  const auto again =
      runner.time_again(planned[static_cast<size_t>(whole_rows(rows.begin(), first))], stop_requested());
  const auto time = first->number("time_us"), lo = first->number("time_lo_us"),
             hi = first->number("time_hi_us");
  if (!again || again->samples < stats::kFewestForInterval || !lo || !hi) return;
  const double change = again->median_us / *time - 1;
  const bool apart = again->lo_us > *hi || again->hi_us < *lo;
  if (!apart || std::abs(change) <= 0.02) return;
  say("warning: the machine drifted: the first row took {:.4g} us at the start and {:.4g} us at the end "
      "({:+.1f}%)",
      *time, again->median_us, 100 * change);
}

/// Says on stderr what no table said: how many rows of each status, what a resumed file held, what is left.
void summarise(const std::vector<Row>& rows, const Finished& finished, size_t planned,
               const SweepOptions& o) {
  std::map<Status, size_t> counts;
  for (const Row& r : rows) ++counts[r.status()];
  const bool all_ok = counts[Status::ok] == rows.size();
  const bool table_said_it = o.quiet || !o.writes_stdout();
  if (all_ok && finished.rows == 0 && !stop_requested() && table_said_it) return;
  std::string line = fmt::format("{} rows: {} ok", rows.size(), counts[Status::ok]);
  for (const auto& [status, count] : counts) {
    if (status != Status::ok && count > 0) line += fmt::format(", {} {}", count, to_string(status));
  }
  if (finished.rows > 0) line += fmt::format("; {} were in the file already", finished.rows);
  if (finished.failed > 0) {
    line += fmt::format(", {} of them failed: delete those lines to measure them again", finished.failed);
  }
  if (stop_requested()) {
    const size_t left = planned - static_cast<size_t>(whole_rows(rows.begin(), rows.end()));
    line += fmt::format("; interrupted with {} rows left", left);
    if (left > 0 && !o.csv.empty() && o.csv != "-") line += " (--resume goes on from here)";
  }
  say("{}", line);
}

ExitCode exit_code(const std::vector<Row>& rows, const Finished& finished, const SweepOptions& o) {
  if (stop_requested()) return ExitCode::interrupted;
  if (finished.failed > 0 || std::any_of(rows.begin(), rows.end(), is_bad)) return ExitCode::verification;
  bool measured = finished.ok > 0 || (rows.empty() && finished.rows == 0), counted = true;
  for (const Row& r : rows) {
    measured = measured || r.ok();
    if (r.ok()) counted = counted && r.text("counters_status") == "ok";
  }
  if (!measured) {
    if (rows.empty()) {
      say("nothing was measured: no row of {} is ok", o.csv);
    } else {
      const Row& first = rows.front();
      say("nothing was measured: no row is ok, the first is {}: {}", to_string(first.status()),
          first.text("message"));
    }
    return o.shard ? ExitCode::ok : ExitCode::unavailable;  // of a plan whose other shards may have measured
  }
  return o.require_counters && !counted ? ExitCode::unavailable : ExitCode::ok;
}

int run_sweep(SweepOptions o) {
  check(o);
  if (!o.dry_run) check_files(o);
  const bool show_progress = isatty(STDERR_FILENO) != 0 && !o.quiet;
  const DeviceChoice choice = choose_device(o.device);
  const std::vector<PlannedCase> cases = planned_cases(o.axes, choice.kind());
  const std::unique_ptr<Device> device = open_device(choice, o.threads);
  RunConditions run = conditions(o);
  const std::vector<TunedEntry> tuned = load_tuned(o.axes.tuned);
  std::vector<PlannedRow> rows = plan(cases, device->info(), find_implementation, tuned);
  run.plan = plan_name(keys_of(rows, device->info(), run));
  run.plan_rows = static_cast<int64_t>(rows.size());
  if (!choice.note.empty() && !o.quiet) say("{}", choice.note);
  if (!o.quiet) {
    if (const std::string note = users_tiles_note(rows, cases, device->info(), tuned); !note.empty())
      say("{}", note);
  }
  if (o.shard) take_shard(rows, run, o, device->info());
  if (o.dry_run) return print_dry_run(rows, run, device->info(), device->free_bytes());

  const Finished finished =
      o.resume ? drop_finished(rows, o.csv, o.run.per_kernel, device->info(), run) : Finished{};
  if (!finished.note.empty()) say("{}", finished.note);
  o.run.cache = run.cache;
  o.run.time = o.timed;
  o.run.drain = !o.no_drain;
  o.run.counters = o.timed && o.counters == "auto";
  const std::unique_ptr<CounterSource> counters = open_counters_or_hint(*device, o);
  const std::vector<std::unique_ptr<Sink>> sinks = open_sinks(o, rows);
  compile_all(*device, rows, show_progress);

  const Tell tell = [](const std::string& text) { say("{}", text); };
  SweepCeilings ceilings(*device, run, !o.no_ceilings, o.quiet ? Tell() : tell, tell);
  run.ceilings = ceilings.find(rows);
  Runner runner(*device, counters.get(), o.run, run);
  const auto start = std::chrono::steady_clock::now();
  const std::vector<Row> measured = measure(runner, ceilings, rows, finished.half, sinks, show_progress);
  const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - start;
  if (o.timed && spent.count() > 30) check_drift(runner, rows, measured);

  if (!o.writes_stdout() && !o.quiet) {
    const TableStyle style = terminal_style();
    fmt::print("{}", results_table(measured, style));
    if (o.timed) fmt::print("{}", comparison_table(compare_within(as_file(measured), ""), style));
  }
  for (const std::string& note : {throttling_note(measured), busy_note(measured)}) {
    if (o.timed && !o.quiet && !note.empty()) say("{}", note);
  }
  summarise(measured, finished, rows.size(), o);
  return static_cast<int>(exit_code(measured, finished, o));
}

void add_command(CommandLine& line, const char* name, const char* help, bool timed) {
  auto options = std::make_shared<SweepOptions>();
  options->timed = timed;
  Command& command = line.add(name, help);
  setup(command, *options);
  command.action([&command, options] {
    apply_config_file(command, options->axes.config_file);
    return run_sweep(*options);
  });
}

}  // namespace

void add_sweep(CommandLine& line) {
  add_command(line, "sweep", "Measure implementations over axes; rows to CSV, table to the terminal", true);
}

void add_verify(CommandLine& line) {
  add_command(line, "verify", "Only check results against float64 over the axes", false);
}

}  // namespace attnprof
