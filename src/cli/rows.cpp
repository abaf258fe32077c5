// attnprof rows: CSVs, read and checked as every command reads them, for other programs.
#include <fmt/format.h>

#include <memory>
#include <set>
#include <string>
#include <vector>

#include "cli/commands.hpp"
#include "cli/say.hpp"
#include "core/error.hpp"
#include "core/file_io.hpp"
#include "rows/human.hpp"
#include "rows/rows.hpp"

namespace attnprof {
namespace {

struct RowsOptions {
  std::vector<std::string> files;
  std::string format = "csv";
  std::string repeats = "refuse";
};

constexpr const char* kFile = "file";  ///< the column that says which of several files a row is from

void check(const RowsOptions& o) {
  std::set<std::string> seen;
  for (const std::string& file : o.files) {
    if (!seen.insert(file).second)
      throw UsageError(fmt::format("'{}' is given twice: its rows could not be told apart", file));
  }
}

RowFile read(const std::string& path, const std::string& repeats) {
  RowFile file = read_rows(path, repeats == "keep"     ? Duplicates::keep
                                 : repeats == "median" ? Duplicates::median
                                                       : Duplicates::refuse);
  if (file.torn_last_row)
    say("warning: {}: the last line has no line end, so it may be cut, and is left out", file.file);
  if (file.repeats > 0) {
    say("{}: {} left out: the row with the median time stands for repeats", file.file,
        number_of(file.repeats, "row"));
  }
  return file;
}

std::string_view cell_of(const Row& row, std::string_view name, bool several) {
  return several && name == kFile ? row.file() : row.text(name);
}

int run_rows(const RowsOptions& o) {
  check(o);
  const bool several = o.files.size() > 1;
  std::vector<RowFile> files;
  std::vector<std::vector<std::string>> headers;
  if (several) headers.push_back({kFile});
  for (const std::string& path : o.files) {
    files.push_back(read(path, o.repeats));
    headers.push_back(files.back().header);
  }
  const std::vector<std::string> names = joined_header(headers);
  OutputFile out("-", false);
  if (o.format == "csv") out.write(csv_line(names));
  for (const RowFile& file : files) {
    std::string text;
    for (const Row& row : file.rows) {
      std::vector<std::string> cells;
      for (const std::string& name : names) cells.emplace_back(cell_of(row, name, several));
      text += o.format == "json" ? json_object(names, cells) + '\n' : csv_line(cells);
    }
    out.write(text);
  }
  return 0;
}

}  // namespace

void add_rows(CommandLine& line) {
  auto options = std::make_shared<RowsOptions>();
  Command& command =
      line.add("rows", "Print the rows of CSVs, checked and with numbers in one form, for other programs");
  command.option("files", options->files, "CSVs that attnprof wrote; - for stdin")
      .required()
      .type_name("FILE...");
  command.option("--format", options->format, "csv, or json: one object a line, null for an empty cell")
      .one_of({"csv", "json"})
      .shows_default();
  command
      .option("--repeats", options->repeats,
              "Rows of one case in a file: refuse, median (the row with the median time), or keep all")
      .one_of({"refuse", "median", "keep"})
      .shows_default();
  command.footer(
      "Columns are those of the files. Of several files, a first column `file` names the one that a row is "
      "from: "
      "rows\n"
      "of different files are never one. A last line without its line end may be cut and is left out, with a "
      "warning.\n"
      "Exit codes: 0 done; 2 usage or bad input, named by file, line and column.");
  command.action([options] { return run_rows(*options); });
}

}  // namespace attnprof
