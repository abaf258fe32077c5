#include "cli/check_update.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <set>
#include <system_error>

#include "cli/say.hpp"
#include "core/error.hpp"
#include "core/file_io.hpp"
#include "gate/gate_report.hpp"
#include "gate/gate_times.hpp"
#include "rows/human.hpp"

namespace attnprof {

namespace {

std::set<std::string> device_names(const RowFile& file) {
  std::set<std::string> names;
  for (const Row& row : file.rows) names.insert(device_text(row.device()));
  return names;
}

/// A baseline of several machines would lose the rows of those that the new file lacks. One of another
/// machine altogether is replaced: that is a move.
void refuse_losing_devices(const RowFile& baseline, const RowFile& replacement) {
  const std::set<std::string> before = device_names(baseline), after = device_names(replacement);
  std::vector<std::string> lost;
  std::set_difference(before.begin(), before.end(), after.begin(), after.end(), std::back_inserter(lost));
  if (lost.empty() || lost.size() == before.size()) return;
  throw UsageError(fmt::format(
      "--update: '{}' also holds rows of {}, which '{}' lacks; give a file with all of them (attnprof merge)",
      baseline.file, fmt::join(lost, " and "), replacement.file));
}

void refuse_damaged(const RowFile& file) {
  if (file.torn_last_row)
    throw UsageError(fmt::format("--update: the last line of '{}' was cut off; measure it again", file.file));
  for (const NotANumber& cell : file.not_numbers) {
    throw UsageError(fmt::format("--update: {}:{}: column '{}': '{}' is not a number; measure it again",
                                 file.file, cell.line, cell.column, cell.cell));
  }
}

/// Says which row is not verified; false then.
bool all_verified(const RowFile& file) {
  for (const Row& row : file.rows) {
    if (!row.kernel().empty() || row.verified() || row.status() == Status::skipped ||
        row.status() == Status::unsupported || row.status() == Status::oom) {
      continue;
    }
    say("--update: not done: {}: {} is {}", row.where(), row.label(), row.why_unverified());
    return false;
  }
  if (std::any_of(file.rows.begin(), file.rows.end(), [](const Row& row) { return row.verified(); }))
    return true;
  say("--update: not done: '{}' has no verified row", file.file);
  return false;
}

/// Only times, of cases and of families, each a failure.
GateOptions times_only(GateOptions options) {
  auto& policy = options.thresholds.final_word.policy;
  for (const Subject subject : kSubjects)
    policy[static_cast<size_t>(subject)] =
        subject == Subject::time || subject == Subject::family ? Policy::fail : Policy::ignore;
  return options;
}

/// Exit code of the new files against where the baseline started; 0 lets the update go on.
int against_anchor(const BaselineUpdate& update, const std::vector<RowFile>& anchors,
                   const std::vector<RowFile>& news, const GateOptions& options) {
  const GateReport report = judge_rows(anchors, news, times_only(options));
  if (report.times > 0) say("times against the anchor '{}': {}", update.anchor, drift_text(report));
  const ExitCode code = report.times == 0 ? ExitCode::unavailable : exit_code(report);
  if (code == ExitCode::ok) return 0;
  for (const Finding& f : report.findings) {
    if (f.fails() || f.refuses() || f.verification)
      say("  {} {} {}: {}", f.label, f.quantity, f.change, f.reason);
  }
  say("--update: not done: {} than the anchor; to accept that, copy {} over '{}' and update again",
      code == ExitCode::regression ? "slower" : "some times cannot be compared, whether slower",
      fmt::join(update.news, " or "), update.anchor);
  return static_cast<int>(code);
}

/// Makes the folder of a file that is to be written.
void make_folder_of(const std::string& path) {
  const std::filesystem::path folder = std::filesystem::path(path).parent_path();
  if (folder.empty() || std::filesystem::exists(folder)) return;
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error)
    throw UsageError(
        fmt::format("--update: cannot make the folder '{}': {}", folder.string(), error.message()));
  say("made the folder '{}'", folder.string());
}

void replace(const std::string& path, const std::string& text) {
  make_folder_of(path);
  replace_file(path, text);
}

}  // namespace

std::string drift_text(const GateReport& report) {
  return fmt::format("{}, median {}, worst {}", number_of(report.times, "case"),
                     signed_percent(report.change_median), signed_percent(report.change_worst));
}

int update_baselines(const BaselineUpdate& update, const std::vector<RowFile>& baselines,
                     const std::vector<RowFile>& news, const GateOptions& options) {
  for (const RowFile& file : news) {
    refuse_damaged(file);
    if (!all_verified(file)) return static_cast<int>(ExitCode::verification);
  }
  for (size_t i = 0; i < news.size(); ++i) {
    for (const RowFile& baseline : baselines) {
      if (baseline.file == update.baselines[i]) refuse_losing_devices(baseline, news[i]);
    }
  }
  const bool anchored = !update.anchor.empty() && std::filesystem::exists(update.anchor);
  if (anchored || (!update.anchor.empty() && !baselines.empty())) {
    const std::vector<RowFile> anchors =
        anchored ? std::vector<RowFile>{read_rows(update.anchor)} : baselines;
    const int code = against_anchor(update, anchors, news, options);
    if (code != 0) return code;
  }
  if (!update.anchor.empty() && !anchored) {
    const std::string& start = baselines.empty() ? news.front().file : baselines.front().file;
    replace(update.anchor, read_whole_file(start));
    say("the anchor '{}' is now the rows of {}", update.anchor, start);
  }
  for (size_t i = 0; i < news.size(); ++i) {
    replace(update.baselines[i], read_whole_file(update.news[i]));
    say("{} now holds the {} of {}", update.baselines[i], number_of(news[i].rows.size(), "row"),
        update.news[i]);
  }
  return 0;
}

}  // namespace attnprof
