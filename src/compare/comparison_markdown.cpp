#include <fmt/format.h>

#include <algorithm>

#include "compare/render.hpp"
#include "compare/words.hpp"

namespace attnprof {

namespace {

/// Text of a cell: a bar would end it.
std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '|') out += '\\';
    out += c == '\n' ? ' ' : c;
  }
  return out;
}

std::string or_dash(const Change& c, const std::string& words) {
  return c.ratio ? words : c.why_no_ratio.empty() ? "" : "- " + c.why_no_ratio;
}

std::string ratio_of(const Change& c, const char* less, const char* more) {
  return or_dash(c, c.ratio ? less_or_more(*c.ratio, less, more) : "");
}

std::string figures(const Change& c, std::string (*words)(const Change&)) {
  return c.from || c.to ? words(c) : "";
}

std::string flops_text(const Pair& p) {
  return p.flops.ratio ? fmt::format("{:.3g}x ({})", *p.flops.ratio, p.flops.source) : "";
}

std::string alone(const std::vector<Row>& rows, const std::string& file) {
  if (rows.empty()) return "";
  std::string text = fmt::format("\nOnly in {}:\n\n", escaped(file));
  for (const Row& row : rows) text += fmt::format("- {}\n", escaped(row.label()));
  return text;
}

}  // namespace

std::string comparison_markdown(const Comparison& c, const std::vector<Explained>& explained) {
  std::string text;
  if (c.two_files) text += fmt::format("{} -> {}\n\n", escaped(c.from_name), escaped(c.to_name));
  if (!c.pairs.empty()) {
    text +=
        "| case | time | | HBM bytes | | FLOPs | workspace |\n"
        "| --- | --- | --- | --- | --- | --- | --- |\n";
  }
  for (const Pair& p : c.pairs) {
    const std::string bytes = figures(p.hbm_bytes, bytes_words);
    const std::string source = bytes.empty() ? "" : fmt::format(" ({})", p.hbm_bytes.source);
    const std::string cells[] = {subject(p, c.two_files),
                                 figures(p.time_us, times_words),
                                 or_dash(p.time_us, time_words(p)),
                                 bytes + source,
                                 ratio_of(p.hbm_bytes, "fewer", "more"),
                                 flops_text(p),
                                 figures(p.workspace_bytes, workspace_words)};
    text += "|";
    for (const std::string& cell : cells) text += fmt::format(" {} |", escaped(cell));
    text += "\n";
  }
  text += alone(c.only_from, c.from_name) + alone(c.only_to, c.to_name);
  const std::vector<Mean> means = geometric_means(c);
  if (!means.empty()) text += "\n";
  for (const Mean& mean : means) text += fmt::format("- {}\n", escaped(sentence(mean)));
  if (!explained.empty()) text += "\n| row | what holds it back |\n| --- | --- |\n";
  const std::vector<std::string> labels = why_labels(explained);
  for (size_t i = 0; i < explained.size(); ++i)
    text += fmt::format("| {} | {} |\n", escaped(labels[i]), escaped(explained[i].attribution.reasoning));
  if (!c.notes.empty()) text += "\n";
  for (const std::string& note : c.notes) text += fmt::format("Note: {}\n", escaped(note));
  return text;
}

}  // namespace attnprof
