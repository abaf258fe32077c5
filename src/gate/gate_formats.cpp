// The gate's report for machines: JUnit XML and GitHub's workflow commands.
#include <fmt/format.h>

#include <algorithm>

#include "gate/gate_findings.hpp"
#include "gate/gate_report.hpp"
#include "rows/csv.hpp"

namespace attnprof {

namespace {

/// Text as an attribute's value: XML 1.0 has no way to write most control characters, U+FFFE and U+FFFF, nor
/// bytes that are not UTF-8.
std::string xml(const std::string& text) {
  std::string out;
  for (size_t at = 0; at < text.size();) {
    const size_t length = utf8_length(text, at);
    const std::string piece = text.substr(at, length);
    const auto c = static_cast<unsigned char>(text[at]);
    at += std::max<size_t>(length, 1);
    if (length == 0 || piece == "\xEF\xBF\xBE" || piece == "\xEF\xBF\xBF") {
      out += '?';
    } else if (c == '&') {
      out += "&amp;";
    } else if (c == '<') {
      out += "&lt;";
    } else if (c == '>') {
      out += "&gt;";
    } else if (c == '"') {
      out += "&quot;";
    } else if (c < 0x20 || c == 0x7F) {
      out += ' ';
    } else {
      out += piece;
    }
  }
  return out;
}

std::string sentence(const Finding& f) {
  std::string text = f.quantity;
  if (!f.before.empty() || !f.after.empty())
    text +=
        fmt::format(": {} -> {}", f.before.empty() ? "none" : f.before, f.after.empty() ? "none" : f.after);
  if (!f.change.empty()) text += fmt::format(" ({})", f.change);
  return f.reason.empty() ? text : text + "; " + f.reason;
}

/// The child of a test case that says how it ended; "" for one that passed.
std::string junit_result(const Finding& f) {
  const std::string message = xml(sentence(f));
  if (f.verification) return fmt::format("<failure type=\"verification\" message=\"{}\"/>", message);
  if (f.fails()) return fmt::format("<failure type=\"{}\" message=\"{}\"/>", to_string(f.subject), message);
  if (f.refuses()) return fmt::format("<error type=\"unjudged\" message=\"{}\"/>", message);
  if (f.outcome == Outcome::unjudged || f.outcome == Outcome::refused)
    return fmt::format("<skipped message=\"{}\"/>", message);
  if (f.outcome == Outcome::same) return "";
  return fmt::format("<system-out>{}</system-out>", message);
}

/// GitHub's rules for the text after "::" and for the properties before it.
std::string command_text(const std::string& text, bool property) {
  std::string out;
  for (const char c : text) {
    if (c == '%' || c == '\r' || c == '\n' || (property && (c == ':' || c == ','))) {
      out += fmt::format("%{:02X}", static_cast<unsigned>(c));
    } else {
      out += c;
    }
  }
  return out;
}

constexpr size_t kAnnotationsShown = 10;

std::string annotations(const std::vector<const Finding*>& findings, const char* level) {
  std::string text;
  for (size_t i = 0; i < findings.size(); ++i) {
    const Finding& f = *findings[i];
    const bool last = i + 1 == kAnnotationsShown && findings.size() > kAnnotationsShown;
    const std::string more = last ? fmt::format("; and {} more", findings.size() - kAnnotationsShown) : "";
    text += fmt::format("::{} file={},line={},title=attnprof check::{}\n", level, command_text(f.file, true),
                        f.line, command_text(f.label + " " + sentence(f) + more, false));
    if (last) break;
  }
  return text;
}

}  // namespace

std::string gate_junit(const GateReport& report) {
  size_t failures = 0, errors = 0, skipped = 0;
  std::string cases;
  for (const Finding& f : report.findings) {
    const std::string result = junit_result(f);
    failures += result.rfind("<failure", 0) == 0;
    errors += result.rfind("<error", 0) == 0;
    skipped += result.rfind("<skipped", 0) == 0;
    cases += fmt::format("    <testcase classname=\"{}\" name=\"{}\"", xml(f.label), xml(f.quantity));
    cases += result.empty() ? "/>\n" : ">" + result + "</testcase>\n";
  }
  const std::string counts =
      fmt::format("tests=\"{}\" failures=\"{}\" errors=\"{}\"", report.findings.size(), failures, errors);
  return fmt::format(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"attnprof check\" {0}>\n"
      "  <testsuite name=\"{1}\" {0} skipped=\"{2}\">\n{3}    <system-out>{4}</system-out>\n"
      "  </testsuite>\n</testsuites>\n",
      counts, xml(report.current), skipped, cases, xml(totals_line(report)));
}

std::string gate_annotations(const GateReport& report) {
  const SortedFindings sorted = sort_findings(report);
  std::vector<const Finding*> errors = sorted.wrong;
  errors.insert(errors.end(), sorted.failures.begin(), sorted.failures.end());
  errors.insert(errors.end(), sorted.refused.begin(), sorted.refused.end());
  std::vector<const Finding*> warnings = sorted.warned;
  warnings.insert(warnings.end(), sorted.clocked.begin(), sorted.clocked.end());
  return annotations(errors, "error") + annotations(warnings, "warning");
}

}  // namespace attnprof
