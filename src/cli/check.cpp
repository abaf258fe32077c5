// attnprof check: the gate for CI.
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <iterator>
#include <memory>

#include "cli/check_update.hpp"
#include "cli/commands.hpp"
#include "cli/say.hpp"
#include "cli/typed.hpp"
#include "core/error.hpp"
#include "core/file_io.hpp"
#include "gate/gate.hpp"
#include "gate/gate_report.hpp"

namespace attnprof {
namespace {

struct CheckOptions {
  std::vector<std::string> baselines, news;
  std::string thresholds_file;
  LimitChanges limits;
  std::optional<double> alpha;
  std::vector<std::string> only, fail, warn, ignore;
  bool allow_device_mismatch = false;
  bool annotations = false, all = false, update = false;
  std::string markdown, junit, anchor;
};

constexpr const char* kAbout =
    "Gate a new build's rows against a baseline's. A time counts as slower when it rose by more than the "
    "threshold and by more than its noise explains, all cases together; bytes and FLOPs count exactly, or by "
    "their threshold where hardware counters measured them.";

constexpr const char* kFooter =
    "Repeats: --baseline given several times, or several NEW files, are runs of one build; their spread is "
    "each case's noise. Without repeats 0.2% is assumed (2% on a CPU), or what the cases scatter by, where "
    "that is more.\n"
    "Exit codes: 4 a result failed verification; else 1 something fails; else 3 something could not be "
    "judged that should have been (another device or driver, counters refused); else 0. 2 for bad input.\n"
    "With --update: 0 the baseline was replaced, whatever changed, also its machine; 4 a result is not "
    "verified, and nothing was replaced; 2 for bad input; with --anchor also 1 slower than the anchor, 3 its "
    "times cannot be compared, and nothing was replaced.\n"
    "Another machine: `--only bytes,flops,workspace,status` judges what does not depend on it.";

void add_limits(Command& command, CheckOptions& o) {
  command.group("Limits");
  const auto percent = [&command](const char* name, std::optional<double>& value, const char* help) {
    command.option(name, value, help).type_name("PCT").within(0.0, 1000.0);
  };
  percent("--time-pct", o.limits.time_pct, "Slow-downs below this never count (default 2)");
  percent("--noise-pct", o.limits.noise_pct,
          "Standard deviation between runs that is assumed at least (default 0.2; on a CPU 2)");
  percent("--bytes-pct", o.limits.bytes_pct, "For measured bytes (default 1); counted ones are exact");
  percent("--flops-pct", o.limits.flops_pct, "For measured FLOPs (default 1); counted ones are exact");
  percent("--workspace-pct", o.limits.workspace_pct, "For workspace (default 0: exact)");
  command
      .option(
          "--alpha", o.alpha,
          fmt::format("Chance that a run of the same build fails for its times (default {})", kDefaultAlpha))
      .type_name("P")
      .within(1e-9, 0.5);
  command
      .option("--thresholds", o.thresholds_file,
              "TOML file: time_pct, ..., a policy for each subject, and [[override]] tables for some cases")
      .type_name("FILE");
}

void add_policies(Command& command, CheckOptions& o) {
  command.group("Subjects: time, bytes, flops, workspace, status, missing, new, family");
  const auto list = [&command](const char* name, std::vector<std::string>& value, const char* help) {
    command.option(name, value, help).type_name("LIST").delimiter(',').one_at_a_time();
  };
  list("--only", o.only, "Judge only these of time, bytes, flops, workspace, status");
  list("--fail", o.fail, "A change for the worse fails (default: all but new and family)");
  list("--warn", o.warn, "It is reported only (default: new, family)");
  list("--ignore", o.ignore, "It is not looked at");
}

void add_outputs(Command& command, CheckOptions& o) {
  command.group("Output");
  command.option("--markdown", o.markdown, "Write a summary for a pull request; - for stdout")
      .type_name("FILE");
  command.option("--junit", o.junit, "Write JUnit XML, one test case for every case and quantity")
      .type_name("FILE");
  command.flag("--annotations", o.annotations,
               "Print GitHub annotations (::error ...); done by itself where GITHUB_ACTIONS is true");
  command.flag("--all", o.all, "Print every quantity, also what is better or the same");
  command.flag(
      "--update", o.update,
      "Print what changed, then replace the baseline by the new file (each by its own, in order) and exit "
      "with 0, whatever changed; with 4, and nothing replaced, when a result is not verified");
  command
      .option(
          "--anchor", o.anchor,
          "With --update: an older baseline; refuses an update that is slower than it beyond the limits, so "
          "that many small steps do not add up. Made from the baseline when it is not there yet")
      .type_name("FILE");
}

GateOptions gate_options(const CheckOptions& o) {
  GateOptions gate;
  if (!o.thresholds_file.empty()) gate.thresholds = read_thresholds(o.thresholds_file);
  o.limits.apply_to(gate.thresholds.global);
  gate.alpha = o.alpha.value_or(gate.thresholds.alpha.value_or(kDefaultAlpha));
  gate.allow_device_mismatch = o.allow_device_mismatch;
  auto& policy = gate.thresholds.final_word.policy;
  const auto set = [&policy](const std::vector<std::string>& subjects, Policy value, const char* option) {
    for (const std::string& name : subjects) {
      try {
        auto& place = policy[static_cast<size_t>(parse_subject(name))];
        if (place && *place != value) throw UsageError(fmt::format("'{}' has two policies", name));
        place = value;
      } catch (const UsageError& e) {
        throw UsageError(fmt::format("{}: {}", option, e.what()));
      }
    }
  };
  set(o.fail, Policy::fail, "--fail");
  set(o.warn, Policy::warn, "--warn");
  set(o.ignore, Policy::ignore, "--ignore");
  if (o.only.empty()) return gate;
  std::vector<Subject> asked;
  for (const std::string& name : o.only) {
    asked.push_back(parse_subject(name));
    if (!is_quantity(asked.back()))
      throw UsageError(fmt::format("--only: '{}' is not a quantity; --ignore {} turns it off", name, name));
  }
  for (const Subject s : kSubjects) {
    if (is_quantity(s) && std::find(asked.begin(), asked.end(), s) == asked.end())
      policy[static_cast<size_t>(s)] = Policy::ignore;
  }
  return gate;
}

void validate(const CheckOptions& o) {
  size_t from_stdin = 0;
  for (const auto* files : {&o.baselines, &o.news}) {
    for (const std::string& file : *files) {
      from_stdin += file == "-";
      if (file.empty()) throw UsageError("a file name is empty; give a CSV, or - for standard input");
    }
  }
  if (from_stdin > 1) throw UsageError("standard input (-) can be read once only; give files");
  if (o.update && from_stdin > 0) throw UsageError("--update needs files, not standard input");
  if (o.update && o.baselines.size() != o.news.size()) {
    throw UsageError(fmt::format("--update replaces each baseline by one new file; {} and {} were given",
                                 o.baselines.size(), o.news.size()));
  }
  if (!o.anchor.empty() && !o.update)
    throw UsageError("--anchor needs --update; to gate against it, give it as --baseline");
  for (const auto* files : {&o.baselines, &o.news}) {
    for (const std::string& file : *files) {
      if (!o.anchor.empty() && same_file(o.anchor, file))
        throw UsageError(fmt::format("--anchor: '{}' is also the baseline or the new file", file));
    }
  }
  for (const std::string& baseline : o.baselines) {
    for (const std::string& file : o.news) {
      if (o.update && same_file(baseline, file))
        throw UsageError(fmt::format("--update: '{}' is both baseline and new file", file));
    }
  }
  for (const auto* files : {&o.baselines, &o.news}) {
    for (size_t i = 0; i < files->size(); ++i) {
      for (size_t k = 0; k < i; ++k) {
        if (same_file((*files)[k], (*files)[i]))
          throw UsageError(fmt::format("'{}' is given twice: repeats are runs of their own", (*files)[i]));
      }
    }
  }
  for (const std::string& path : {o.markdown, o.junit}) {
    if (path.empty()) continue;
    require_writable(path);
    refuse_overwriting("--markdown or --junit", path, o.baselines);
    refuse_overwriting("--markdown or --junit", path, o.news);
  }
}

/// Baselines that --update will make are not there yet.
std::vector<std::string> existing(const std::vector<std::string>& paths) {
  std::vector<std::string> found;
  std::copy_if(paths.begin(), paths.end(), std::back_inserter(found),
               [](const std::string& path) { return std::filesystem::exists(path); });
  return found;
}

std::vector<RowFile> read_all(const std::vector<std::string>& paths) {
  std::vector<RowFile> files;
  for (const std::string& path : paths) files.push_back(read_rows(path));
  return files;
}

void print(const GateReport& report, const CheckOptions& o) {
  for (const std::string& warning : report.warnings) say("warning: {}", warning);
  if (o.markdown != "-") fmt::print("{}", gate_table(report, o.all));
  const char* actions = std::getenv("GITHUB_ACTIONS");
  if (o.annotations || (actions != nullptr && std::string_view(actions) == "true"))
    fmt::print("{}", gate_annotations(report));
  if (!o.markdown.empty()) OutputFile(o.markdown, false).write(gate_markdown(report));
  if (!o.junit.empty()) OutputFile(o.junit, false).write(gate_junit(report));
}

/// Neither a quantity that was compared, or should have been, nor a case whose absence fails.
bool judged_nothing(const GateReport& report) {
  return std::none_of(report.findings.begin(), report.findings.end(), [](const Finding& f) {
    const bool about_case = f.subject == Subject::missing || f.subject == Subject::added;
    return f.fails() || (!about_case && f.outcome != Outcome::unjudged);
  });
}

int run_check(const CheckOptions& o) {
  validate(o);
  const GateOptions gate = gate_options(o);
  const std::vector<RowFile> news = read_all(o.news);
  const std::vector<RowFile> baselines = read_all(o.update ? existing(o.baselines) : o.baselines);
  const BaselineUpdate update{o.baselines, o.news, o.anchor};
  if (baselines.empty()) return update_baselines(update, baselines, news, gate);
  try {
    const GateReport report = judge_rows(baselines, news, gate);
    if (!o.update && judged_nothing(report)) {
      for (const std::string& warning : report.warnings) say("warning: {}", warning);
      throw UsageError(
          report.cases == 0
              ? "nothing was judged: the files have no case in common"
              : "nothing was left to judge: --only and --ignore, or the files, leave no subject");
    }
    print(report, o);
    if (!o.update) return static_cast<int>(exit_code(report));
    if (report.times > 0) say("times against the replaced baseline: {}", drift_text(report));
  } catch (const UnavailableError& e) {
    if (!o.update) throw;
    say("{}", e.what());  // a baseline from a new machine is a reason to update
  }
  return update_baselines(update, baselines, news, gate);
}

}  // namespace

void add_check(CommandLine& line) {
  Command& command = line.add("check", kAbout);
  const auto options = std::make_shared<CheckOptions>();
  command.footer(kFooter);
  command
      .option("--baseline", options->baselines,
              "CSV to compare with; several times: repeats of the same build")
      .required()
      .one_at_a_time()
      .type_name("FILE");
  command.option("new", options->news, "CSV of the new build; several: repeats; - for stdin")
      .required()
      .type_name("NEW");
  command.flag("--allow-device-mismatch", options->allow_device_mismatch,
               "Judge times (and measured bytes) also across devices or drivers, with a warning");
  add_limits(command, *options);
  add_policies(command, *options);
  add_outputs(command, *options);
  command.action([options] { return run_check(*options); });
}

}  // namespace attnprof
