// attnprof merge: the files of a sweep's shards -> the file of one run.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "cli/commands.hpp"
#include "cli/say.hpp"
#include "cli/typed.hpp"
#include "core/error.hpp"
#include "rows/merge.hpp"

namespace attnprof {
namespace {

struct MergeOptions {
  std::vector<std::string> files;
  std::string out;
  bool require_complete = false, overwrite = false;
};

void check(const MergeOptions& o) {
  if (std::count(o.files.begin(), o.files.end(), "-") > 1)
    throw UsageError("standard input (-) can be read once only; give files");
  for (const std::string& file : o.files) {
    if (file != "-" && same_file(file, o.out)) {
      throw UsageError(fmt::format("-o '{}' is one of the files to merge; give another name", o.out));
    }
  }
}

/// "20 rows: 18 ok, 2 oom".
std::string summary(const MergedRows& merged) {
  std::string line = fmt::format("{} rows", merged.rows.size());
  const auto status = std::find(merged.header.begin(), merged.header.end(), "status");
  if (status == merged.header.end()) return line;
  std::map<std::string, size_t> counts;
  for (const auto& row : merged.rows) ++counts[row[static_cast<size_t>(status - merged.header.begin())]];
  std::string separator = ": ";
  for (const auto& [name, count] : counts) {
    line += fmt::format("{}{} {}", separator, count, name.empty() ? "without status" : name);
    separator = ", ";
  }
  return line;
}

int run_merge(const MergeOptions& o) {
  check(o);
  if (!o.overwrite) refuse_losing("-o", o.out, "another file, or --overwrite");
  std::vector<CsvTable> tables;
  for (const std::string& file : o.files) tables.push_back(read_rows_to_merge(file));
  const MergedRows merged = merge_rows(tables);
  if (merged.header.empty()) throw UsageError("none of the files has a row; nothing to merge");
  if (o.require_complete && !merged.missing.empty()) throw UsageError(merged.missing.front());
  if (o.require_complete && !merged.unfinished.empty()) throw UsageError(merged.unfinished.front());
  for (const CsvTable& table : tables) {
    if (table.header.empty()) {
      say("warning: {}: has no row; the run that wrote it died at its start", table.file);
    } else if (table.torn_last_row) {
      say("warning: {}: its last row is torn and left out", table.file);
    }
  }
  for (const std::string& sentence : merged.missing) say("warning: {}", sentence);
  write_rows(merged, o.out);
  std::string repeated;
  if (merged.repeated > 0) repeated = fmt::format("; {} repeated rows are there once", merged.repeated);
  say("{}{}", summary(merged), repeated);
  return 0;
}

}  // namespace

void add_merge(CommandLine& line) {
  auto options = std::make_shared<MergeOptions>();
  Command& command = line.add(
      "merge",
      "Join CSVs of a sweep's shards (or of several sweeps) into the file that one run would have written");
  command.option("files", options->files, "CSVs that attnprof wrote, in any order; - for stdin")
      .required()
      .type_name("FILE...");
  command.option("-o,--output", options->out, "Where the rows go; - for stdout").required().type_name("FILE");
  command.flag("--overwrite", options->overwrite, "Write that file anew, also when it holds something");
  command.flag("--require-complete", options->require_complete,
               "Write nothing, and exit with 2, when rows of a shard or of a run are missing");
  command.footer(
      "Rows come in the planned order (columns plan, plan_row). Rows of several devices (device_name and "
      "device_uuid,\n"
      "or hostname) all stay. Of rows that are equal in every cell one stays; a case that two rows report "
      "differently\n"
      "for the same device is refused, naming both files and lines.");
  command.action([options] { return run_merge(*options); });
}

}  // namespace attnprof
