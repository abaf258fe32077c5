// attnprof report: a CSV as one HTML page.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "cli/commands.hpp"
#include "cli/given_ceilings.hpp"
#include "cli/typed.hpp"
#include "compare/comparison.hpp"
#include "compare/words.hpp"
#include "core/error.hpp"
#include "core/file_io.hpp"
#include "html/report_page.hpp"
#include "rows/rows.hpp"

namespace attnprof {
namespace {

struct ReportOptions {
  std::string csv;
  std::string out = "report.html";
  std::string title;
  std::string reference;
  std::optional<double> copy_gbps, matrix_tflops;
};

/// What speed-ups refer to: as asked, else naive where the file has it, else its first implementation.
std::string reference_of(const RowFile& file, const std::string& asked) {
  const std::vector<std::string> impls = implementations(file);
  const auto has = [&](std::string_view impl) {
    return std::find(impls.begin(), impls.end(), impl) != impls.end();
  };
  if (!asked.empty() && !has(asked)) {
    throw UsageError(fmt::format("--reference '{}': {} has no such implementation; it has {}", asked,
                                 file.file, fmt::join(impls, ", ")));
  }
  if (!asked.empty()) return asked;
  return has("naive") ? "naive" : impls.front();
}

/// The sentences of `attnprof compare`: geometric means first, then each implementation's pairs.
void add_comparison(ReportContent& content, const RowFile& file) {
  const Comparison comparison = compare_within(file, content.reference);
  for (const Mean& mean : geometric_means(comparison)) content.sentences.push_back(sentence(mean));
  for (const Pair& pair : comparison.pairs) {
    const std::string title = fmt::format("{} against {}", pair.to.text("impl"), pair.from.text("impl"));
    auto group = std::find_if(content.pairs.begin(), content.pairs.end(),
                              [&](const ReportContent::Group& g) { return g.title == title; });
    if (group == content.pairs.end()) group = content.pairs.insert(group, {title, {}});
    group->lines.push_back(fmt::format("{}: {}", pair.to.label(), sentence(pair)));
  }
  content.sentences.insert(content.sentences.end(), comparison.notes.begin(), comparison.notes.end());
  content.sentences_hint =
      "What `attnprof compare` says of these rows. No ratio of a row without a verified result, nor of bytes "
      "from different sources.";
}

int run_report(const ReportOptions& o) {
  refuse_overwriting("--output", o.out, {o.csv});
  refuse_losing_rows("--output", o.out);
  const RowFile file = read_rows(o.csv, Duplicates::refuse);
  ReportContent content;
  content.title = o.title.empty() ? "attnprof: " + std::filesystem::path(file.file).stem().string() : o.title;
  content.reference = reference_of(file, o.reference);
  content.copy_gbps = o.copy_gbps;
  content.matrix_tflops = o.matrix_tflops;
  if (file.torn_last_row) content.notes.push_back("The last line of the file was cut off: it is not here.");
  add_comparison(content, file);
  OutputFile out(o.out, false);
  out.write(report_page(file, content));
  if (o.out != "-") fmt::print("{}\n", o.out);
  return 0;
}

}  // namespace

void add_report(CommandLine& line) {
  auto options = std::make_shared<ReportOptions>();
  Command& command = line.add(
      "report", "One HTML page from a CSV: charts, table, environment; it loads nothing from anywhere");
  command.option("file", options->csv, "Rows that `attnprof sweep --csv` wrote; - for stdin").required();
  command.option("-o,--out", options->out, "Page to write; - for stdout").type_name("FILE").shows_default();
  command.option("--title", options->title, "Heading (default: the file's name)");
  command.option("--reference", options->reference,
                 "Implementation that speed-ups refer to (default: naive, else the file's first)");
  add_given_ceilings(command, "Roof: ", options->copy_gbps, options->matrix_tflops, nullptr);
  command.action([options] { return run_report(*options); });
}

}  // namespace attnprof
