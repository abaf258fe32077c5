// attnprof tune: measures candidate tiles of each shape and writes the table that defaults come from.
#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <memory>

#include "cli/axis_options.hpp"
#include "cli/commands.hpp"
#include "cli/compile.hpp"
#include "cli/config_file.hpp"
#include "cli/device_choice.hpp"
#include "cli/interrupt.hpp"
#include "cli/run_conditions.hpp"
#include "cli/say.hpp"
#include "cli/terminal.hpp"
#include "cli/tune_report.hpp"
#include "cli/tune_shapes.hpp"
#include "cli/typed.hpp"
#include "core/error.hpp"
#include "core/file_io.hpp"
#include "gpu/gpu.hpp"
#include "rows/csv.hpp"
#include "state/tuned_csv.hpp"
#include "state/tuned_files.hpp"

namespace attnprof {
namespace {

struct TuneCommand {
  AxisOptions axes;
  TuneOptions tune;
  std::string device = "auto";
  int threads = 0;
  std::string output, csv, cache = "cold", counters = "finalists";
  double budget_s = 60;
  bool show = false, quiet = false, any_dtype = false, overwrite = false;
};

double now_s() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

TunedEntry entry_of(const TunedShape& shape, const DeviceInfo& device, bool any_dtype) {
  const TuneOutcome& o = shape.outcome;
  const Record& best = o.records[o.best];
  TunedEntry e;
  e.key = key_of(best.planned, device, any_dtype);
  e.config = best.planned.config;
  if (o.best_time) e.time_us = o.best_time->median_us;
  if (o.end == TuneOutcome::End::better) {
    if (o.default_time) e.default_time_us = o.default_time->median_us;
    e.speedup = o.speedup;
    e.speedup_lo = o.speedup_lo;
    e.speedup_hi = o.speedup_hi;
  }
  e.message = o.message;
  e.tool_version = ATTNPROF_VERSION;
  e.timestamp = best.conditions.timestamp;
  return e;
}

/// Where results go. Throws UsageError before anything is measured when that cannot be.
std::string output_file(const TuneCommand& o) {
  if (!o.output.empty()) {
    require_writable(o.output);
    return o.output;
  }
  const std::string file = default_tuned_file();
  if (file.empty()) throw UsageError("-o FILE is needed: neither HOME nor XDG_CONFIG_HOME is set");
  std::error_code error;
  std::filesystem::create_directories(std::filesystem::path(file).parent_path(), error);
  require_writable(file);
  return file;
}

/// Where the shapes settled so far are kept, until all have had their turn: no sweep takes tiles from there.
std::string partial_file(const std::string& output) {
  return output + ".partial";
}

/// Tunes shape after shape. `output` is replaced when all are done; an interruption loses one shape.
void tune_all(const TuneCommand& o, Device& device, CounterSource* counters, std::vector<TunedShape>& shapes,
              const std::string& output, bool show_progress) {
  std::vector<TunedEntry> entries;
  if (const auto old = read_existing(output); old && !old->empty()) entries = read_tuned_file(output);
  const std::unique_ptr<Sink> csv = o.csv.empty() ? nullptr : open_csv(o.csv, false);
  std::vector<PlannedRow> everything;
  for (const TunedShape& shape : shapes)
    everything.insert(everything.end(), shape.rows.begin(), shape.rows.end());
  compile_all(device, everything, show_progress);

  Tuner tuner(device, counters, o.tune, run_conditions(o.cache), now_s);
  Progress progress(static_cast<int>(shapes.size()), show_progress);
  const double end_s = now_s() + o.budget_s;
  bool settled = false;
  for (size_t i = 0; i < shapes.size() && !stop_requested(); ++i) {
    TunedShape& shape = shapes[i];
    progress.step(static_cast<int>(i),
                  shape.rows.front().planned.impl + " " + describe(shape.rows.front().planned.problem));
    // An equal share of what is left: shapes that are settled early leave more to the others.
    const double budget_s = (end_s - now_s()) / static_cast<double>(shapes.size() - i);
    shape.outcome = tuner.race(shape.rows, std::max(budget_s, 0.0), stop_requested());
    if (csv) {
      for (const Record& record : shape.outcome.records) csv->write(row_of(record));
    }
    using End = TuneOutcome::End;
    if (shape.outcome.end != End::better && shape.outcome.end != End::kept) continue;
    put_tuned(entries, entry_of(shape, device.info(), o.any_dtype));
    replace_file(partial_file(output), tuned_csv(entries));
    settled = true;
  }
  if (!settled || stop_requested()) return;
  replace_file(output, tuned_csv(entries));
  std::error_code ignored;
  std::filesystem::remove(partial_file(output), ignored);
}

ExitCode summarise(const TuneCommand& o, const std::vector<TunedShape>& shapes, const std::string& output) {
  size_t better = 0, kept = 0, wrong = 0;
  for (const TunedShape& shape : shapes) {
    better += shape.outcome.end == TuneOutcome::End::better;
    kept += shape.outcome.end == TuneOutcome::End::kept;
    for (const Record& r : shape.outcome.records) {
      const bool bad = r.status == Status::failed || r.status == Status::verify_failed;
      if (bad && ++wrong == 1) {
        say("{} {}x{} on {}: {}", r.planned.impl, r.planned.config.tile_m, r.planned.config.tile_n,
            describe(r.planned.problem), r.message);
      }
    }
  }
  const size_t open = shapes.size() - better - kept;
  std::string line =
      fmt::format("{} shapes: {} with a faster tile, {} keep theirs", shapes.size(), better, kept);
  if (open > 0) line += fmt::format(", {} not tuned", open);
  if (open > 0 && !stop_requested()) line += fmt::format(" (--budget is {} s)", o.budget_s);
  if (better + kept > 0 && !stop_requested()) line += fmt::format("; written to {}", output);
  if (better + kept > 0 && stop_requested()) {
    line += fmt::format("; interrupted, so {} is as it was: what was found is in {} (--tuned FILE takes it)",
                        output, partial_file(output));
  }
  if (wrong > 0) line += fmt::format("; {} candidates failed or were wrong, none of them chosen", wrong);
  say("{}", line);
  if (stop_requested()) return ExitCode::interrupted;
  return wrong > 0 ? ExitCode::verification : ExitCode::ok;
}

int run_tune(TuneCommand o) {
  if (!o.csv.empty() && !o.overwrite && !o.show)
    refuse_losing("--csv", o.csv, "another file, or --overwrite");
  const bool show_progress = isatty(STDERR_FILENO) != 0 && !o.quiet;
  const DeviceChoice choice = choose_device(o.device);
  if (o.axes.impl.empty()) o.axes.impl = {"fused"};
  const std::vector<PlannedCase> cases = planned_cases(o.axes, choice.kind());
  const std::unique_ptr<Device> device = open_device(choice, o.threads);
  if (!choice.note.empty() && !o.quiet) say("{}", choice.note);
  const std::vector<TunedEntry> table = load_tuned(o.axes.tuned);
  if (o.show) {
    fmt::print("{}", tuned_table(table, device->info(), terminal_style()));
    return 0;
  }
  std::vector<TunedShape> shapes = shapes_of(cases, device->info(), table);
  require_distinct_keys(shapes, device->info(), o.any_dtype);
  const std::string output = output_file(o);
  o.tune.run.cache = typed_cache(o.cache);
  o.tune.run.counters = o.counters != "off";
  o.tune.count_all = o.counters == "all";
  o.tune.verify_all = !o.csv.empty();
  std::unique_ptr<CounterSource> counters;
  if (device->info().kind == DeviceKind::gpu && o.tune.run.counters) {
    counters = open_counters(*device);
    if (const std::string hint = counters->hint(); !hint.empty()) say("counters: {}", hint);
  }
  tune_all(o, *device, counters.get(), shapes, output, show_progress);
  if (!o.quiet && o.csv != "-") fmt::print("{}", tune_table(shapes, terminal_style()));
  return static_cast<int>(summarise(o, shapes, output));
}

void setup(Command& command, TuneCommand& o) {
  setup_axis_options(command, o.axes);
  command.group("Device");
  add_device_options(command, o.device, o.threads);
  command.group("Output");
  command
      .option("-o,--output", o.output,
              "Tuned file to write when all shapes are done; rows of other shapes in it stay "
              "(default: ~/.config/attnprof/tuned.csv, which every command reads)")
      .type_name("FILE");
  command
      .option("--csv", o.csv,
              "Write every candidate as a row of a sweep to FILE, each verified; - for stdout")
      .type_name("FILE");
  command.flag("--overwrite", o.overwrite, "Write the file of --csv anew, also when it holds something");
  command.flag("--any-dtype", o.any_dtype, "Write rows that hold for every dtype, not only the measured one");
  command.flag("--show", o.show, "Only print the tiles in force on this device, and where each comes from");
  command.flag("--quiet", o.quiet, "No table, no progress");
  command.group("Measuring");
  command
      .option("--budget", o.budget_s,
              "Seconds of measuring, all shapes together; compiling comes before and does not count")
      .within(0.001, 864000.0)
      .shows_default();
  command.option("--max-time", o.tune.run.stopping.budget_s, "Seconds for one candidate in one round")
      .within(0.001, 86400.0)
      .shows_default();
  command
      .option("--min-speedup", o.tune.min_speedup,
              "The default stays unless another is that much faster, and by more than the noise")
      .within(1.0, 100.0)
      .shows_default();
  command.option("--cache", o.cache, "cold: evict the last-level cache before each launch (default); hot")
      .one_of({"cold", "hot"});
  command
      .option("--counters", o.counters,
              "Hardware counters for the last two of each shape, all candidates, or none")
      .one_of({"finalists", "all", "off"});
  command.option("--verify-rows", o.tune.run.verify_rows, "Random rows of an output checked against float64")
      .within(1, 1 << 20)
      .shows_default();
}

}  // namespace

void add_tune(CommandLine& line) {
  auto options = std::make_shared<TuneCommand>();
  options->tune.run.verify_rows = 16;  // of each contender, and there are many
  Command& command = line.add("tune",
                              "Find the fastest tile, stages and warps for each shape; --tile, "
                              "--stages, --warps name the candidates");
  setup(command, *options);
  command.action([&command, options] {
    apply_config_file(command, options->axes.config_file);
    return run_tune(*options);
  });
}

}  // namespace attnprof
