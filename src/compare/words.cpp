#include "compare/words.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "rows/columns.hpp"
#include "rows/human.hpp"
#include "rows/table.hpp"

namespace attnprof {

namespace {

using Human = std::string (*)(double);
using HumanChange = std::string (*)(double, double);

/// Differences that four digits do not show.
constexpr double kSame = 0.0005;

std::string change_words(const Change& c, Human one, HumanChange two) {
  const auto side = [&](const std::optional<double>& value) {
    return value ? one(*value) : std::string("?");
  };
  const bool far = c.from && c.to && std::min(*c.from, *c.to) < 0.01 * std::max(*c.from, *c.to);
  if (!c.from || !c.to || far) return side(c.from) + " -> " + side(c.to);
  std::string text = two(*c.from, *c.to);  // "4.10 -> 0.31 GB"
  text.insert(text.find(" -> "), text.substr(text.rfind(' ')));
  return text;
}

std::string reason(const Change& c) {
  return c.why_no_ratio.empty() ? "" : fmt::format("no ratio: {}", c.why_no_ratio);
}

void append(std::string& text, const std::string& part) {
  if (!part.empty()) text += (text.empty() ? "" : "; ") + part;
}

std::string bytes_part(const Pair& p, bool reasons) {
  const Change& c = p.hbm_bytes;
  if (!c.from && !c.to) return "";
  std::string text = bytes_words(c);
  if (c.ratio) text += ", " + less_or_more(*c.ratio, "fewer", "more");
  text += fmt::format(" ({}{}{})", c.source, reasons && !c.why_no_ratio.empty() ? "; " : "",
                      reasons ? reason(c) : "");
  return text;
}

std::string time_part(const Pair& p, bool reasons) {
  const Change& c = p.time_us;
  if (!c.from && !c.to) return "";
  std::string text = times_words(c);
  if (c.ratio) text += ", " + time_words(p);
  if (reasons && !c.why_no_ratio.empty()) text += fmt::format(" ({})", reason(c));
  return text;
}

std::string flops_part(const Pair& p) {
  if (!p.flops.ratio) return "";
  const double ratio = *p.flops.ratio;
  const std::string times = std::abs(ratio - 1) < kSame
                                ? "the same"
                                : (ratio >= 1 ? ratio_text(ratio) : fmt::format("{:.3g}x", ratio)) + " the";
  return fmt::format("{} FLOPs ({})", times, p.flops.source);
}

std::string workspace_part(const Pair& p) {
  const Change& c = p.workspace_bytes;
  if ((!c.from && !c.to) || (c.from == 0.0 && c.to == 0.0)) return "";
  return (c.from == c.to ? "the same workspace, " : "workspace ") + workspace_words(c);
}

/// `inverse`: the words turned the ratio round, so the range is turned, too.
std::string mean_part(const Mean::Of& mean, const std::string& said, bool inverse) {
  if (mean.pairs == 1) return fmt::format("{} (1 pair)", said);
  const double low = inverse ? 1 / mean.largest : mean.smallest;
  const double high = inverse ? 1 / mean.smallest : mean.largest;
  return fmt::format("{} ({}x to {}x, {} pairs)", said, three_digits(low), three_digits(high), mean.pairs);
}

}  // namespace

std::string ratio_text(double ratio) {
  if (ratio >= 9.95) return fmt::format("{:.0f}x", ratio);
  if (ratio >= 1.995) return fmt::format("{:.1f}x", ratio);
  if (ratio >= 1.0095) return fmt::format("{:.2f}x", ratio);
  return fmt::format("{:.3f}x", ratio);
}

std::string less_or_more(double ratio, const char* less, const char* more) {
  if (std::abs(ratio - 1) < kSame) return "the same";
  return ratio > 1 ? fmt::format("{} {}", ratio_text(ratio), less)
                   : fmt::format("{} {}", ratio_text(1 / ratio), more);
}

std::string time_words(const Pair& pair) {
  if (!pair.time_us.ratio) return "";
  const double ratio = *pair.time_us.ratio;
  if (!pair.time_ratio_interval)
    return less_or_more(ratio, "faster", "slower") + " (no interval: too few samples)";
  stats::Interval i = *pair.time_ratio_interval;
  if (pair.within_noise) return fmt::format("within noise ({:.4g}x, {:.4g} to {:.4g})", ratio, i.lo, i.hi);
  if (ratio < 1) i = {1 / i.hi, 1 / i.lo};
  const int digits = i.lo < 1.0995 ? 3 : i.lo < 9.95 ? 2 : 1;
  return fmt::format("{} ({:.{}f} to {:.{}f})", less_or_more(ratio, "faster", "slower"), i.lo, digits, i.hi,
                     digits);
}

std::string bytes_words(const Change& change) {
  return change_words(change, human_bytes, human_bytes_change);
}
std::string times_words(const Change& change) {
  return change_words(change, human_time_us, human_time_change);
}

std::string workspace_words(const Change& change) {
  const auto side = [](const std::optional<double>& bytes) {
    if (!bytes) return std::string("?");
    return *bytes == 0 ? std::string("none") : human_bytes(*bytes);
  };
  if (change.from == change.to) return side(change.from);
  if (change.from == 0.0 || change.to == 0.0) return side(change.from) + " -> " + side(change.to);
  return bytes_words(change);
}

std::string subject(const Pair& pair, bool two_files) {
  if (two_files) return pair.to.label();
  // The tile tells two rows of one implementation apart; elsewhere it would only lengthen the line.
  const bool same = pair.to.text("impl") == pair.from.text("impl");
  return fmt::format("{} against {}, {}", same ? pair.to.impl_label() : std::string(pair.to.text("impl")),
                     same ? pair.from.impl_label() : std::string(pair.from.text("impl")),
                     pair.to.problem_label());
}

std::string sentence(const Pair& pair) {
  std::string text;
  const bool verified = pair.from.verified() && pair.to.verified();
  append(text, bytes_part(pair, verified));
  append(text, time_part(pair, verified));
  append(text, flops_part(pair));
  if (verified) append(text, workspace_part(pair));
  if (!verified) {  // one reason for all
    const Row& bad = pair.from.verified() ? pair.to : pair.from;
    const std::string message(bad.ok() ? "" : bad.text("message"));
    append(text, fmt::format("no ratio: {} is not verified: {}{}{}", bad.impl_label(), bad.why_unverified(),
                             message.empty() ? "" : ", ", message));
  }
  return text.empty() ? "nothing was measured" : text;
}

std::string sentence(const Mean& mean) {
  std::string said;
  const auto add = [&](const std::string& part) {
    if (!part.empty()) said += (said.empty() ? "" : ", ") + part;
  };
  if (mean.time)
    add(mean_part(*mean.time, fmt::format("{}x as fast", three_digits(mean.time->ratio)), false));
  if (mean.hbm_bytes) {
    const double r = mean.hbm_bytes->ratio;
    const bool same = std::abs(r - 1) < kSame;
    add(mean_part(*mean.hbm_bytes, less_or_more(r, "fewer", "more") + " HBM bytes", !same && r < 1));
  }
  if (mean.flops) {
    const double r = mean.flops->ratio;
    const std::string said_flops =
        std::abs(r - 1) < kSame ? "the same FLOPs" : fmt::format("{:.3g}x the FLOPs", r);
    add(mean_part(*mean.flops, said_flops, false));
  }
  return fmt::format("{} against {}, geometric mean: {}", mean.impl, mean.reference, said);
}

}  // namespace attnprof
