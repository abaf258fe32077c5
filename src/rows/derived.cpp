#include "rows/derived.hpp"

#include <fmt/format.h>

#include <cmath>

#include "core/stats.hpp"
#include "core/theory.hpp"
#include "rows/columns.hpp"

namespace attnprof {

namespace {

/// Rates need a time that the timer could tell from nothing.
std::optional<double> resolved_time_us(const Record& r) {
  const auto time = measured_time(r);
  if (!time || time->below_resolution) return std::nullopt;
  return time->median_us;
}

bool has_theory(const Record& r) {
  const Problem& p = r.planned.problem;
  if (r.status == Status::skipped || !r.kernel.empty()) return false;
  return p.batch > 0 && p.heads > 0 && p.kv_heads > 0 && p.seqlen_q > 0 && p.seqlen_kv > 0 && p.head_dim > 0;
}

}  // namespace

bool is_ok(const Record& r) {
  return r.status == Status::ok;
}

std::optional<TimeStats> measured_time(const Record& r) {
  if (!is_ok(r) || !r.time || r.time->samples < 1) return std::nullopt;
  if (!std::isfinite(r.time->median_us) || r.time->median_us <= 0) return std::nullopt;
  return r.time;
}

std::optional<TimeStats> measured_interval(const Record& r) {
  const auto time = measured_time(r);
  return time && time->samples >= stats::kFewestForInterval ? time : std::nullopt;
}

const Counters* measured_counters(const Record& r) {
  return is_ok(r) && r.counters.source != BytesSource::none ? &r.counters : nullptr;
}

std::optional<Traffic> measured_traffic(const Record& r) {
  const Counters* c = measured_counters(r);
  if (!c || !c->hbm_read_bytes || !c->hbm_write_bytes) return std::nullopt;
  return Traffic{*c->hbm_read_bytes, *c->hbm_write_bytes};
}

std::optional<int64_t> model_flops(const Record& r) {
  if (!has_theory(r)) return std::nullopt;
  return algorithmic_flops(r.planned.problem);
}

std::optional<Traffic> minimum_traffic(const Record& r) {
  if (!has_theory(r)) return std::nullopt;
  return compulsory_traffic(r.planned.problem);
}

std::optional<double> tflops(const Record& r) {
  const auto us = resolved_time_us(r);
  const auto flops = model_flops(r);
  if (!us || !flops) return std::nullopt;
  return static_cast<double>(*flops) / *us * 1e-6;
}

std::optional<double> hbm_gbps(const Record& r) {
  const auto us = resolved_time_us(r);
  const auto bytes = measured_traffic(r);
  if (!us || !bytes) return std::nullopt;
  return static_cast<double>(bytes->total()) / *us * 1e-3;
}

std::optional<double> model_bytes_err_pct(const Record& r) {
  const auto bytes = measured_traffic(r);
  if (!bytes || !r.model || r.model->hbm.total() <= 0) return std::nullopt;
  const auto modelled = static_cast<double>(r.model->hbm.total());
  return 100.0 * (static_cast<double>(bytes->total()) - modelled) / modelled;
}

Attribution attribution(const Record& r) {
  AttributionInput in;
  in.on_host = r.device.kind == DeviceKind::host;
  in.time_us = resolved_time_us(r);
  if (is_ok(r) && r.kernels) {
    in.kernels_us = r.kernels->kernels_us;
    in.gaps_us = r.kernels->gaps_us;
    in.launches = r.kernels->launches;
  }
  if (const auto bytes = measured_traffic(r)) {
    in.hbm_bytes = static_cast<double>(bytes->total());
    in.bytes_source = to_string(r.counters.source);
  } else if (r.model) {
    in.hbm_bytes = static_cast<double>(r.model->hbm.total());
    in.bytes_source = "modelled";
  }
  const Counters* counters = measured_counters(r);
  if (counters && counters->tensor_flops.value_or(0) > 0) {
    in.executed_flops = static_cast<double>(*counters->tensor_flops);
  } else if (r.model) {
    in.executed_flops = static_cast<double>(r.model->executed_flops);
  }
  if (r.model) in.exp_count = static_cast<double>(r.model->exp_count);

  const DeviceCeilings& rates = r.conditions.ceilings;
  const auto measured = [](const std::optional<double>& rate) {
    return rate ? std::optional<Ceiling>(Ceiling{*rate, CeilingSource::measured}) : std::nullopt;
  };
  return attribute(in, {.copy_gbps = measured(rates.copy_gbps),
                        .matrix_tflops = measured(rates.matrix_tflops(r.planned.problem.dtype)),
                        .exp_gops = measured(rates.exp_gops),
                        .launch_us = measured(rates.launch_us)});
}

namespace {

bool above(const std::optional<double>& pct, double limit) {
  return pct && *pct > limit;
}
bool arithmetic_above(const Attribution& a) {
  return above(a.matrix_pct, kInvalidSharePct) || above(a.exp_pct, kInvalidSharePct);
}

}  // namespace

bool beats_ceilings(const Record& r) {
  const Attribution a = attribution(r);
  const int64_t touched = compulsory_traffic(r.planned.problem).total() + r.workspace_bytes.value_or(0);
  const bool beyond_caches =
      touched > 4 * r.device.last_level_cache_bytes && r.device.last_level_cache_bytes > 0;
  const bool crossed = measured_traffic(r) && (r.counters.source == BytesSource::cupti || beyond_caches);
  return arithmetic_above(a) || (crossed && above(a.hbm_pct, kInvalidSharePct));
}

std::string throttling_note(const std::vector<Record>& records) {
  size_t measured = 0, throttled = 0;
  std::string reasons;
  for (const Record& r : records) {
    if (!is_ok(r) || !r.time || !r.kernel.empty() || r.conditions.rest > 0) continue;
    ++measured;
    if (r.clocks.throttle_reasons.empty()) continue;
    ++throttled;
    if (reasons.empty()) reasons = r.clocks.throttle_reasons;
  }
  if (throttled == 0) return "";
  return fmt::format(
      "the chip held its clock back during {} of {} rows ({}): such times differ by some percent from run to "
      "run; --rest 3 pauses between samples so that it need not",
      throttled, measured, reasons);
}

std::string ceiling_warning(const Record& r) {
  const Attribution a = attribution(r);
  if (measured_traffic(r) && above(a.hbm_pct, 100)) {
    return r.counters.source == BytesSource::counted
               ? "more bytes per second than main memory can deliver: caches served a part of those counted"
               : "more bytes per second than the measured copy bandwidth: L2, a wrong counter, or a ceiling "
                 "too low";
  }
  if (arithmetic_above(a))
    return "faster than the measured arithmetic ceilings: a wrong count, time or ceiling";
  return "";
}

}  // namespace attnprof
