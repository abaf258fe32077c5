#include "report/derived.hpp"

#include <cmath>

#include "core/stats.hpp"
#include "core/theory.hpp"

namespace attnprof {

namespace {

/// Rates need a time that the timer could tell from nothing.
std::optional<double> resolved_time_us(const Record& r) {
  const auto time = measured_time(r);
  if (!time || time->below_resolution) return std::nullopt;
  return time->median_us;
}

bool makes_sense(const Problem& p) {
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
  if (r.status == Status::skipped || !makes_sense(r.planned.problem)) return std::nullopt;
  return algorithmic_flops(r.planned.problem);
}

std::optional<Traffic> minimum_traffic(const Record& r) {
  if (r.status == Status::skipped || !makes_sense(r.planned.problem)) return std::nullopt;
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

}  // namespace attnprof
