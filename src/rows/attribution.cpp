#include "rows/attribution.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

namespace attnprof {
namespace {

bool usable(const std::optional<double>& value) {
  return value && std::isfinite(*value) && *value >= 0;
}

/// One resource: what it needs at its ceiling, and the words for it.
struct Part {
  std::string_view bound;
  std::string name;     ///< subject of a share: "matrix units"
  std::string ceiling;  ///< what the share is of: "copy bandwidth"
  std::string rates;    ///< "3981 of 4281 GB/s"
  double us = 0;
  double pct = 0;
  CeilingSource source = CeilingSource::measured;
};

std::string percent(double pct) {
  if (pct > 0 && pct < 1) return "under 1%";
  return fmt::format("{:.0f}%", pct);
}

std::string rate_text(double rate) {
  return rate >= 10 ? fmt::format("{:.0f}", rate) : fmt::format("{:.2g}", rate);
}

/// `amount` over `ceiling` in microseconds; `per_us` turns the ceiling's unit into amounts per microsecond.
std::optional<Part> part(const std::optional<double>& amount, const std::optional<Ceiling>& ceiling,
                         double per_us, double time_us, const char* unit) {
  if (!usable(amount) || !ceiling || !(ceiling->rate > 0) || !std::isfinite(ceiling->rate))
    return std::nullopt;
  Part p;
  p.us = *amount / (ceiling->rate * per_us);
  p.pct = 100 * p.us / time_us;
  p.source = ceiling->source;
  p.rates = fmt::format("{} of {} {}", rate_text(*amount / time_us / per_us), rate_text(ceiling->rate), unit);
  return p;
}

/// The share in full: of which ceiling, where that came from, and both rates.
std::string in_full(const Part& p) {
  return fmt::format("{}{}{} of the {} {} ({})", p.name, p.name.empty() ? "" : " ", percent(p.pct),
                     to_string(p.source), p.ceiling, p.rates);
}

std::string in_short(const Part& p) {
  const std::string name = p.bound == "memory" ? "memory" : p.name;
  return fmt::format("{} {}", name, percent(p.pct));
}

/// "; exp 48%, memory 8%": the parts but `skipped`, largest first.
std::string others(std::vector<Part> parts, std::string_view skipped) {
  std::string text;
  for (const Part& p : parts) {
    if (p.bound != skipped) text += (text.empty() ? "; " : ", ") + in_short(p);
  }
  return text;
}

std::string invalid_text(const Part& p, const AttributionInput& row) {
  if (p.bound != "memory")
    return in_full(p) + ": more than the device can do: a wrong count, time or ceiling";
  std::string why = row.on_host ? ": more than main memory can deliver: caches served a part of it"
                                : ": more than HBM can deliver: L2 or a wrong counter";
  if (row.bytes_source == "modelled") why += ", or a model that is off";
  return in_full(p) + why;
}

std::optional<double> uncovered_us(const AttributionInput& row, const Ceilings& ceilings) {
  std::optional<double> us;
  if (usable(row.gaps_us)) us = row.gaps_us;
  if (usable(row.kernels_us)) {
    const double gaps = us.value_or(0);
    const double most = kMostAroundKernelUs * std::max(1.0, row.launches.value_or(1));
    us = gaps + std::clamp(*row.time_us - *row.kernels_us - gaps, 0.0, most);
  }
  if (!us && usable(row.launches) && ceilings.launch_us) us = *row.launches * ceilings.launch_us->rate;
  return us;
}

/// Fills bound and reasoning. `parts` are the resources, largest first.
void judge(Attribution& a, const AttributionInput& row, const std::vector<Part>& parts) {
  const Part& top = parts.front();
  if (top.pct > kInvalidSharePct) {
    a.invalid = true;
    a.reasoning = "invalid: " + invalid_text(top, row);
    return;
  }
  const std::string launch =
      a.launch_pct && *a.launch_pct >= 1 ? fmt::format(", no kernel {}", percent(*a.launch_pct)) : "";
  if (a.launch_pct && *a.launch_pct >= 50 && *a.launch_pct > top.pct) {
    a.bound = "launch";
    a.reasoning = fmt::format("no kernel runs in {} of {:.3g} us{}: launch", percent(*a.launch_pct),
                              *row.time_us, others(parts, ""));
    return;
  }
  if (top.pct >= kNearCeilingPct) {
    a.bound = top.bound;
    // Within the error of a ceiling, but nothing can run above one: said, not hidden.
    const std::string above = top.pct > 100 && top.bound == "memory" && !row.on_host
                                  ? ", more than HBM can deliver: L2 or a wrong counter"
                                  : "";
    a.reasoning = in_full(top) + above + others(parts, top.bound) + launch + ": " + std::string(top.bound);
    return;
  }
  const double together = 100 * *a.sum_us / *row.time_us;
  if (row.launches && *row.launches > 1 && std::abs(together - 100) <= kSerialTolerancePct) {
    a.bound = "serial";
    a.reasoning = fmt::format("{}{}{}: together {} of the time, one after another: serial", in_full(top),
                              others(parts, top.bound), launch, percent(together));
    return;
  }
  a.bound = "latency";
  a.reasoning = in_full(top) + others(parts, top.bound) + launch + ": nothing is near its ceiling: latency";
}

}  // namespace

std::string_view to_string(CeilingSource source) {
  constexpr std::array<std::string_view, 3> kNames{"measured", "given", "datasheet"};
  return kNames[static_cast<size_t>(source)];
}

Attribution attribute(const AttributionInput& row, const Ceilings& ceilings) {
  Attribution a;
  if (!usable(row.time_us) || *row.time_us <= 0) {
    a.reasoning = "no time";
    return a;
  }
  std::vector<Part> parts;
  if (auto hbm = part(row.hbm_bytes, ceilings.copy_gbps, 1e3, *row.time_us, "GB/s")) {
    hbm->bound = "memory";
    hbm->ceiling = "copy bandwidth";
    if (row.bytes_source != "cupti") hbm->rates += fmt::format(", bytes {}", row.bytes_source);
    a.hbm_us = hbm->us;
    a.hbm_pct = hbm->pct;
    parts.push_back(*hbm);
  }
  if (auto matrix = part(row.executed_flops, ceilings.matrix_tflops, 1e6, *row.time_us, "TFLOP/s")) {
    matrix->bound = "matrix";
    matrix->name = row.on_host ? "arithmetic" : "matrix units";
    matrix->ceiling = "rate";
    a.matrix_us = matrix->us;
    a.matrix_pct = matrix->pct;
    parts.push_back(*matrix);
  }
  if (auto exps = part(row.exp_count, ceilings.exp_gops, 1e3, *row.time_us, "Gexp/s")) {
    exps->bound = "exp";
    exps->name = "exp";
    exps->ceiling = "rate";
    a.exp_us = exps->us;
    a.exp_pct = exps->pct;
    parts.push_back(*exps);
  }
  a.launch_us = uncovered_us(row, ceilings);
  if (a.launch_us) a.launch_pct = 100 * *a.launch_us / *row.time_us;
  if (parts.empty()) {
    a.reasoning = "no ceiling is known for what this row counts";
    return a;
  }
  std::stable_sort(parts.begin(), parts.end(), [](const Part& x, const Part& y) { return x.us > y.us; });
  a.sum_us = a.launch_us.value_or(0);
  for (const Part& p : parts) *a.sum_us += p.us;
  a.largest_us = std::max(parts.front().us, a.launch_us.value_or(0));
  if (*a.sum_us > *a.largest_us) {
    const double hidden = (*a.sum_us - *row.time_us) / (*a.sum_us - *a.largest_us);
    a.overlap_pct = 100 * std::clamp(hidden, 0.0, 1.0);
  }
  judge(a, row, parts);
  return a;
}

}  // namespace attnprof
