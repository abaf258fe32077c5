// What may be compared with what: every rule about ratios.
#include <fmt/format.h>

#include "compare/comparison.hpp"
#include "rows/derived.hpp"

namespace attnprof {

namespace {

/// Both figures as they are; the reason why their ratio would mislead comes first where there is one.
Change change_of(std::optional<double> from, std::optional<double> to, std::string why) {
  Change c;
  c.from = from;
  c.to = to;
  c.why_no_ratio = why;
  if (!from && !to) return c;
  if (why.empty() && (!from || !to)) why = !from ? "unknown in the first" : "unknown in the second";
  if (why.empty() && *from == 0 && *to == 0) why = "both are 0";
  if (why.empty() && (*from == 0 || *to == 0)) why = *from == 0 ? "the first is 0" : "the second is 0";
  c.why_no_ratio = why;
  if (why.empty()) c.ratio = *from / *to;
  return c;
}

std::string unverified(const Row& from, const Row& to) {
  if (!from.verified())
    return fmt::format("{} is not verified: {}", from.impl_label(), from.why_unverified());
  if (!to.verified()) return fmt::format("{} is not verified: {}", to.impl_label(), to.why_unverified());
  return "";
}

std::string both(std::string_view from, std::string_view to) {
  if (from == to || to.empty()) return std::string(from);
  return from.empty() ? std::string(to) : fmt::format("{} -> {}", from, to);
}

void set_time(Pair& p, const std::string& unfit, bool comparable_devices) {
  const auto from = p.from.ok() ? p.from.number("time_us") : std::nullopt;
  const auto to = p.to.ok() ? p.to.number("time_us") : std::nullopt;
  std::string why = unfit;
  if (why.empty() && !comparable_devices) why = "other device";
  if (why.empty() && ((from && !resolved_time_us(p.from)) || (to && !resolved_time_us(p.to))))
    why = "too short for the timer";
  p.time_us = change_of(from, to, why);
  if (!p.time_us.ratio) return;
  const auto from_lo = p.from.number("time_lo_us"), from_hi = p.from.number("time_hi_us");
  const auto to_lo = p.to.number("time_lo_us"), to_hi = p.to.number("time_hi_us");
  if (!from_lo || !from_hi || !to_lo || !to_hi) return;
  p.time_ratio_interval = stats::Interval{*from_lo / *to_hi, *from_hi / *to_lo};
  p.within_noise = p.time_ratio_interval->lo <= 1 && p.time_ratio_interval->hi >= 1;
}

void set_bytes(Pair& p, const std::string& unfit, bool comparable_devices) {
  const auto from = hbm_bytes(p.from), to = hbm_bytes(p.to);
  const std::string_view from_source = from ? p.from.text("bytes_source") : "";
  const std::string_view to_source = to ? p.to.text("bytes_source") : "";
  std::string why = unfit;
  if (why.empty() && from && to) {
    if (from_source != to_source) why = "bytes of different sources";
    if (from_source.empty() || to_source.empty()) why = "bytes of an unknown source";
    if (why.empty() && from_source == "cupti" && !comparable_devices) why = "other device";
    if (why.empty() && p.from.text("drained") != p.to.text("drained"))
      why = "one was counted with dirty L2 lines written back, the other without";
    // Below half of what must cross HBM, the data came from a cache, and a ratio would compare noise.
    if (why.empty() && (served_by_cache(p.from) == true || served_by_cache(p.to) == true))
      why = "served by a cache: below half of the compulsory bytes";
  }
  p.hbm_bytes = change_of(from, to, why);
  p.hbm_bytes.source = both(from_source, to_source);
}

void set_flops(Pair& p, const std::string& unfit, bool comparable_devices) {
  const auto invert = [](Change c) {
    if (c.ratio) c.ratio = 1 / *c.ratio;
    return c;
  };
  const auto from = measured_flops(p.from), to = measured_flops(p.to);
  if (from && to && comparable_devices) {
    p.flops = invert(change_of(from, to, unfit));
    p.flops.source = "measured";
    return;
  }
  p.flops = invert(change_of(modelled_flops(p.from), modelled_flops(p.to), unfit));
  if (p.flops.from || p.flops.to) p.flops.source = "modelled";
}

}  // namespace

Pair pair_of(const Row& from, const Row& to, bool comparable_devices) {
  Pair p{from, to, {}, {}, false, {}, {}, {}};
  const std::string unfit = unverified(from, to);
  set_time(p, unfit, comparable_devices);
  set_bytes(p, unfit, comparable_devices);
  set_flops(p, unfit, comparable_devices);
  p.workspace_bytes = change_of(from.number("workspace_bytes"), to.number("workspace_bytes"), unfit);
  return p;
}

}  // namespace attnprof
