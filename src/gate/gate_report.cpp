#include "gate/gate_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <utility>

#include "gate/gate_findings.hpp"
#include "rows/human.hpp"

namespace attnprof {

std::string verdict_word(const GateReport& report) {
  switch (exit_code(report)) {
    case ExitCode::ok:
      return "PASS";
    case ExitCode::regression:
      return "FAIL";
    case ExitCode::verification:
      return "FAIL (wrong result)";
    default:
      return "NOT JUDGED";
  }
}

namespace {

/// How small a slow-down would have been seen. The smallest that shows differs between cases.
std::string sensitivity(const GateReport& report) {
  if (report.times == 0) return "";
  const auto percent = [](double share) {
    return share < 10 ? three_digits(100 * share) + "%" : std::string("1000%");
  };
  const std::string half = percent(report.detectable_median), noisiest = percent(report.detectable_worst);
  std::string text = fmt::format("detects slow-downs above {}", half);
  if (half != noisiest) text += fmt::format(" in half of the cases, above {} in the noisiest", noisiest);
  const std::string noise = three_digits(100 * report.noise) + "% run-to-run noise";
  if (report.noise_source == NoiseSource::assumed) return text + fmt::format(" (assuming {})", noise);
  return text + fmt::format(" ({}, from the {})", noise,
                            report.noise_source == NoiseSource::repeats ? "repeats" : "scatter of the cases");
}

std::string change_text(const Finding& f) {
  if (f.before.empty() && f.after.empty()) return "";
  if (f.after.empty()) return f.before;
  if (f.before.empty()) return f.after;
  return f.before == f.after ? f.before : f.before + " -> " + f.after;
}

struct Line {
  std::string mark, label, quantity, values, change, reason;
};

Line line_of(const Finding& f, const char* mark) {
  return {mark, f.label, f.quantity, change_text(f), f.change, f.reason};
}

/// Columns as wide as their widest cell.
std::string aligned(const std::vector<Line>& lines) {
  size_t widths[5] = {};
  const auto cells = [](const Line& l) {
    return std::array<const std::string*, 5>{&l.mark, &l.label, &l.quantity, &l.values, &l.change};
  };
  for (const Line& line : lines) {
    for (size_t i = 0; i < 5; ++i) widths[i] = std::max(widths[i], cells(line)[i]->size());
  }
  std::string text;
  for (const Line& line : lines) {
    std::string row;
    for (size_t i = 0; i < 5; ++i) {
      const size_t blanks = widths[i] - cells(line)[i]->size();
      if (i == 4) row.append(blanks, ' ');  // figures to the right
      row += *cells(line)[i];
      if (i != 4) row.append(blanks, ' ');
      if (widths[i] > 0) row += "  ";
    }
    row += line.reason;
    while (!row.empty() && row.back() == ' ') row.pop_back();
    text += row + '\n';
  }
  return text;
}

constexpr size_t kLinesOfAKind = 20;
constexpr size_t kSameReasonAtMost = 3;

/// What many cases share a reason for stands as one line.
void append(std::vector<Line>& lines, const std::vector<const Finding*>& findings, const char* mark,
            bool all) {
  std::map<std::pair<Subject, std::string>, size_t> of_reason;
  const auto key = [](const Finding& f) { return std::make_pair(f.subject, f.reason); };
  const auto groups = [&](const Finding& f) {
    return !all && (f.subject == Subject::missing || f.subject == Subject::added ||
                    f.outcome == Outcome::refused || f.outcome == Outcome::unjudged);
  };
  for (const Finding* f : findings) {
    if (groups(*f)) ++of_reason[key(*f)];
  }
  size_t shown = 0, left = 0;
  for (const Finding* f : findings) {
    size_t& same = of_reason[key(*f)];
    if (groups(*f) && same == 0) continue;  // said already
    if (!all && shown >= kLinesOfAKind) {
      ++left;
      continue;
    }
    ++shown;
    lines.push_back(line_of(*f, mark));
    if (!groups(*f) || same <= kSameReasonAtMost) continue;
    lines.back().label = fmt::format("{} and {} more", f->label, same - 1);
    same = 0;
  }
  if (left > 0)
    lines.push_back({mark, fmt::format("... and {} more: --all prints them", left), "", "", "", ""});
}

}  // namespace

std::string totals_line(const GateReport& report) {
  size_t judged = 0;
  for (const Finding& f : report.findings)
    judged += is_quantity(f.subject) && f.outcome != Outcome::unjudged && f.outcome != Outcome::refused;
  const SortedFindings sorted = sort_findings(report);
  std::string text =
      fmt::format("{}: {}, {} judged against {}", verdict_word(report), number_of(report.cases, "case"),
                  judged == 1 ? "1 quantity" : fmt::format("{} quantities", judged), report.baseline);
  const auto add = [&text](size_t count, const char* what) {
    if (count > 0) text += fmt::format("; {} {}", count, what);
  };
  add(sorted.wrong.size(), "failed verification");
  add(sorted.failures.size(), "worse");
  add(sorted.refused.size(), "could not be judged");
  add(sorted.warned.size(), sorted.warned.size() == 1 ? "warning" : "warnings");
  add(sorted.better.size(), "better");
  const std::string seen = sensitivity(report);
  return seen.empty() ? text : text + "; " + seen;
}

std::string gate_table(const GateReport& report, bool all) {
  const SortedFindings sorted = sort_findings(report);
  std::vector<Line> lines;
  append(lines, sorted.wrong, "WRONG", all);
  append(lines, sorted.failures, "FAIL", all);
  append(lines, sorted.refused, "unjudged", all);
  append(lines, sorted.warned, "warning", all);
  append(lines, sorted.clocked, "clock", all);
  if (all) {
    append(lines, sorted.better, "better", all);
    append(lines, sorted.unjudged, "nothing", all);
    append(lines, sorted.same, "same", all);
  }
  return aligned(lines) + totals_line(report) + '\n';
}

namespace {

std::string markdown_cell(const std::string& text) {
  std::string cell;
  for (const char c : text) {
    if (c == '|' || c == '<' || c == '`' || c == '*' || c == '_' || c == '\\') cell += '\\';
    cell += c == '\n' || c == '\r' ? ' ' : c;
  }
  return cell;
}

constexpr size_t kMarkdownRows = 200;  // GitHub takes 1 MiB for a summary, 64 KiB for a comment

std::string markdown_rows(const std::vector<const Finding*>& findings) {
  std::string text = "| case | quantity | baseline | new | change | |\n|---|---|---|---|---|---|\n";
  for (size_t i = 0; i < std::min(findings.size(), kMarkdownRows); ++i) {
    const Finding& f = *findings[i];
    text += fmt::format("| {} | `{}` | {} | {} | {} | {} |\n", markdown_cell(f.label), f.quantity,
                        markdown_cell(f.before), markdown_cell(f.after), markdown_cell(f.change),
                        markdown_cell(f.reason));
  }
  if (findings.size() > kMarkdownRows)
    text += fmt::format("\n... and {} more.\n", findings.size() - kMarkdownRows);
  return text + '\n';
}

}  // namespace

std::string gate_markdown(const GateReport& report) {
  const SortedFindings sorted = sort_findings(report);
  std::string text = fmt::format("## attnprof check: {}\n\n{}\n\n", verdict_word(report),
                                 markdown_cell(totals_line(report)));
  for (const std::string& warning : report.warnings) text += fmt::format("> {}\n\n", markdown_cell(warning));
  const auto section = [&text](const char* title, const std::vector<const Finding*>& findings) {
    if (!findings.empty()) text += fmt::format("### {}\n\n{}", title, markdown_rows(findings));
  };
  section("Failed verification", sorted.wrong);
  section("Worse", sorted.failures);
  section("Could not be judged", sorted.refused);
  section("Warnings", sorted.warned);
  section("Slower, as was the clock", sorted.clocked);
  if (!sorted.better.empty()) {
    text += fmt::format("<details><summary>{} better</summary>\n\n{}</details>\n", sorted.better.size(),
                        markdown_rows(sorted.better));
  }
  return text;
}

}  // namespace attnprof
