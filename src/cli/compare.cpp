// attnprof compare: implementations of one CSV against a reference, or one CSV against another.
#include <fmt/format.h>

#include <memory>
#include <string>
#include <vector>

#include "cli/commands.hpp"
#include "cli/given_ceilings.hpp"
#include "cli/say.hpp"
#include "cli/terminal.hpp"
#include "cli/typed.hpp"
#include "compare/render.hpp"
#include "core/error.hpp"
#include "core/file_io.hpp"
#include "rows/matching.hpp"

namespace attnprof {
namespace {

struct CompareOptions {
  std::vector<std::string> files;
  std::string reference;
  std::string format = "table";
  std::string output = "-";
  std::string repeats = "refuse";
  bool why = false;
  bool allow_device_mismatch = false;
  GivenCeilings ceilings;
};

constexpr const char* kFooter =
    "Rows are matched by their key columns (`attnprof list columns`), wherever they stand in the file. No "
    "ratio is\n"
    "formed from a row that is not verified, from bytes of different sources, between cold and hot caches, "
    "other\n"
    "fills or other devices. Executed FLOPs are measured ones where both rows have them, else modelled.\n"
    "The columns of --format csv and json: docs/compare.md.\n"
    "Exit codes: 0 done; 2 usage or bad input; 3 two files from different devices.";

void check(const CompareOptions& o) {
  if (o.files.size() == 2 && o.files[0] == "-" && o.files[1] == "-")
    throw UsageError("both files are '-': standard input can be read once only");
  if (o.files.size() == 2 && !o.reference.empty())
    throw UsageError(
        "--reference is for one file: between two, each row is compared with the same case of the first");
  if (o.files.size() == 1 && o.allow_device_mismatch)
    throw UsageError("--allow-device-mismatch needs two files");
  if (!o.why && (o.ceilings.copy_gbps || o.ceilings.matrix_tflops || o.ceilings.exp_gops))
    throw UsageError("--copy-gbps, --matrix-tflops and --exp-gops are for --why");
}

/// Says what left nothing to compare. Throws UsageError.
[[noreturn]] void nothing_to_compare(const Comparison& c, const std::string& file) {
  if (!c.two_files) {
    throw UsageError(
        fmt::format("{}: no problem has rows of two implementations or tiles, so there is nothing to "
                    "compare; measure another "
                    "one, name a second file, or ask for --why",
                    file));
  }
  const std::string differing = unmatched_reason(c);
  const std::string devices = c.only_from.empty() || c.only_to.empty() || c.device_mismatch_allowed
                                  ? ""
                                  : device_difference(c.only_from.front(), c.only_to.front());
  if (!devices.empty()) {
    throw UnavailableError(fmt::format("{} and {} are from different devices, {}, and have no case in common",
                                       c.from_name, c.to_name, devices));
  }
  throw UsageError(fmt::format("no row of {} is a case of {}{}", c.to_name, c.from_name,
                               differing.empty() ? "" : "; the most similar rows differ in " + differing));
}

std::string table_text(const Comparison& c, const std::vector<Explained>& explained,
                       const TableStyle& style) {
  constexpr size_t kFew = 12;  // more sentences than that hide the table
  std::string text = comparison_table(c, style);
  if (!c.pairs.empty() && c.pairs.size() <= kFew) text += "\n" + comparison_sentences(c, &style);
  if (!explained.empty()) text += (text.empty() ? "" : "\n") + why_table(explained, style);
  return text;
}

std::string text_of(const Comparison& c, const std::vector<Explained>& explained, const CompareOptions& o) {
  if (o.format == "markdown") return comparison_markdown(c, explained);
  if (o.format == "csv") return comparison_csv(c, explained);
  if (o.format == "json") return comparison_json(c, explained);
  if (o.format == "sentences") {
    std::string text = comparison_sentences(c);
    const std::vector<std::string> labels = why_labels(explained);
    for (size_t i = 0; i < explained.size(); ++i)
      text += labels[i] + ": " + explained[i].attribution.reasoning + "\n";
    return text;
  }
  return table_text(c, explained, o.output == "-" ? terminal_style() : TableStyle{});
}

/// Every row that was run; the kernels of a launch after it.
std::vector<Explained> explain_all(const std::vector<RowFile>& files, const GivenCeilings& ceilings) {
  std::vector<Explained> all;
  for (const RowFile& file : files) {
    for (const Row& row : file.rows) {
      if (row.status() != Status::skipped) all.push_back(explain(row, ceilings));
    }
  }
  return all;
}

int run_compare(const CompareOptions& o) {
  check(o);
  refuse_overwriting("--output", o.output, o.files);
  refuse_losing_rows("--output", o.output);
  const Duplicates duplicates = o.repeats == "median" ? Duplicates::median : Duplicates::refuse;
  std::vector<RowFile> files;
  for (const std::string& path : o.files) files.push_back(read_rows(path, duplicates));
  const Comparison c = files.size() == 1 ? compare_within(files[0], o.reference)
                                         : compare_files(files[0], files[1], o.allow_device_mismatch);
  if (c.pairs.empty() && !o.why) nothing_to_compare(c, files[0].file);
  const std::vector<Explained> explained = o.why ? explain_all(files, o.ceilings) : std::vector<Explained>{};
  OutputFile(o.output, false).write(text_of(c, explained, o));
  for (const std::string& note : c.notes) say("{}", note);
  if (c.device_mismatch.empty()) return static_cast<int>(ExitCode::ok);
  if (o.allow_device_mismatch) {
    say("warning: the files are from different devices, {}: the ratios say how the devices differ, too",
        c.device_mismatch);
    return static_cast<int>(ExitCode::ok);
  }
  say("the files are from different devices, {}: times and measured bytes are not compared; "
      "--allow-device-mismatch does it all the same",
      c.device_mismatch);
  return static_cast<int>(ExitCode::unavailable);
}

}  // namespace

void add_compare(CommandLine& line) {
  auto o = std::make_shared<CompareOptions>();
  Command& command = line.add("compare", "Compare implementations, or two files");
  command.footer(kFooter);
  command
      .option("files", o->files, "FILE: its implementations; BEFORE AFTER: one against the other; - is stdin")
      .required()
      .values(1, 2)
      .type_name("FILE [FILE2]");
  command
      .option("--reference", o->reference,
              "Implementation, or one with its tile (\"flash2 128x48\"), that the others are compared with "
              "(default: naive where there is one, else the first)")
      .type_name("IMPL");
  command.option("--format", o->format, "table, sentences, markdown, csv or json")
      .one_of({"table", "sentences", "markdown", "csv", "json"})
      .shows_default();
  command.option("-o,--output", o->output, "Write to FILE instead of stdout").type_name("FILE");
  command
      .option("--repeats", o->repeats,
              "Several rows of one case in a file: refuse, or take the one with the median time")
      .one_of({"refuse", "median"})
      .shows_default();
  command.flag("--why", o->why,
               "Say for every row where its time went and what limits it, from its columns and ceilings");
  add_given_ceilings(command, "--why: ", o->ceilings.copy_gbps, o->ceilings.matrix_tflops,
                     &o->ceilings.exp_gops);
  command.flag("--allow-device-mismatch", o->allow_device_mismatch,
               "Compare times and measured bytes of two files from different devices all the same");
  command.action([o] { return run_compare(*o); });
}

}  // namespace attnprof
