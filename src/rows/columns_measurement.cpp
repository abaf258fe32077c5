// Columns of what was measured: times, bytes and operations, errors. Times, bytes and rates are empty unless
// the row is ok; the errors of a row that failed verification are kept, since they are what the row is about.
#include <cmath>

#include "core/stats.hpp"
#include "rows/column_groups.hpp"
#include "rows/derived.hpp"
#include "rows/row.hpp"

namespace attnprof {

namespace {

using R = const Record&;

bool is_ok(R r) {
  return r.status == Status::ok;
}
/// Time statistics of an ok row whose median is positive and finite.
const TimeStats* measured_time(R r) {
  if (!is_ok(r) || !r.time || r.time->samples < 1) return nullptr;
  return std::isfinite(r.time->median_us) && r.time->median_us > 0 ? &*r.time : nullptr;
}
Cell time_cell(R r, double TimeStats::*field) {
  const TimeStats* time = measured_time(r);
  return time ? Cell(time->*field) : Cell();
}
/// Fewer than 6 samples have no interval.
Cell interval_cell(R r, double TimeStats::*field) {
  const TimeStats* time = measured_time(r);
  return time && time->samples >= stats::kFewestForInterval ? Cell(time->*field) : Cell();
}
template <typename T>
Cell time_count(R r, T TimeStats::*field) {
  const TimeStats* time = measured_time(r);
  return time ? Cell(static_cast<int64_t>(time->*field)) : Cell();
}
template <typename T>
Cell counter_cell(R r, std::optional<T> Counters::*field) {
  return is_ok(r) && r.counters.source != BytesSource::none ? cell_of(r.counters.*field) : Cell();
}
template <typename T>
Cell error_cell(R r, T VerifyResult::*field) {
  return r.verify ? cell_of(std::optional<T>((*r.verify).*field)) : Cell();
}
template <typename T>
Cell kernel_cell(R r, T KernelTimes::*field) {
  return is_ok(r) && r.kernels ? cell_of(std::optional<T>((*r.kernels).*field)) : Cell();
}
/// `amount` over the time in microseconds, times `unit`; empty below the timer's resolution.
Cell rate_cell(const Row& row, const std::optional<double>& amount, double unit) {
  const auto us = resolved_time_us(row);
  return us && amount ? Cell(*amount / *us * unit) : Cell();
}
bool by_hardware(R r) {
  return is_ok(r) && r.counters.source == BytesSource::cupti;
}

std::vector<Column> time_columns() {
  return {
      {"time_us", "us", "median time of one launch, from the timing run (no counters active)", false,
       [](R r) { return time_cell(r, &TimeStats::median_us); }},
      {"time_lo_us", "us", "lower end of the 95% confidence interval of the median; empty below 6 samples",
       false, [](R r) { return interval_cell(r, &TimeStats::lo_us); }},
      {"time_hi_us", "us", "upper end of the 95% confidence interval of the median; empty below 6 samples",
       false, [](R r) { return interval_cell(r, &TimeStats::hi_us); }},
      {"time_min_us", "us", "shortest sample", false, [](R r) { return time_cell(r, &TimeStats::min_us); }},
      {"time_max_us", "us", "longest sample", false, [](R r) { return time_cell(r, &TimeStats::max_us); }},
      {"samples", "", "time samples kept", false, [](R r) { return time_count(r, &TimeStats::samples); }},
      {"warmups", "", "launches before the first sample", false,
       [](R r) { return time_count(r, &TimeStats::warmups); }},
      {"converged", "0/1", "1: the interval met its target before the time budget ended", false,
       [](R r) { return time_count(r, &TimeStats::converged); }},
      {"below_resolution", "0/1", "1: the timer cannot tell this time from nothing; rates are empty", false,
       [](R r) { return time_count(r, &TimeStats::below_resolution); }},
      {"kernels_us", "us", "sum of the kernels' own times in one launch, from CUPTI activity records", false,
       [](R r) { return kernel_cell(r, &KernelTimes::kernels_us); }},
      {"gaps_us", "us", "time between first kernel start and last end that no kernel covers (CUPTI activity)",
       false, [](R r) { return kernel_cell(r, &KernelTimes::gaps_us); }},
      {"launches", "", "kernels in one launch (CUPTI activity)", false,
       [](R r) { return kernel_cell(r, &KernelTimes::launches); }},
      {"tflops", "TFLOP/s", "model_flops over time_us", false, nullptr,
       [](const Row& r) { return rate_cell(r, r.number("model_flops"), 1e-6); }},
      {"hbm_gbps", "GB/s",
       "hbm_read_bytes + hbm_write_bytes over time_us; a measured bandwidth only where bytes_source is cupti",
       false, nullptr, [](const Row& r) { return rate_cell(r, hbm_bytes(r), 1e-3); }},
  };
}

std::vector<Column> counter_columns() {
  return {
      {"hbm_read_bytes", "bytes", "read from HBM (main memory on a cpu) in one launch; see bytes_source",
       false, [](R r) { return counter_cell(r, &Counters::hbm_read_bytes); }},
      {"hbm_write_bytes", "bytes", "written to HBM (main memory on a cpu) in one launch; see bytes_source",
       false, [](R r) { return counter_cell(r, &Counters::hbm_write_bytes); }},
      {"bytes_source", "",
       "cupti: hardware counters, from a run apart from the timing; counted: by the host implementation, at "
       "the boundary "
       "between main memory and its tiles",
       false, [](R r) { return text_cell(is_ok(r) ? to_string(r.counters.source) : ""); }},
      {"l2_bytes", "bytes", "through L2, from hardware counters", false,
       [](R r) { return counter_cell(r, &Counters::l2_bytes); }},
      {"tensor_flops", "flop", "executed on the matrix units, from hardware counters", false,
       [](R r) { return counter_cell(r, &Counters::tensor_flops); }},
      {"fp32_flops", "flop",
       "executed fp32 adds + multiplies + 2 * fused multiply-adds, from hardware counters", false,
       [](R r) { return counter_cell(r, &Counters::fp32_flops); }},
      {"tensor_pipe_pct", "%", "matrix pipe active, share of its peak, from hardware counters", false,
       [](R r) { return counter_cell(r, &Counters::tensor_pipe_active_pct); }},
      {"counter_passes", "", "replays that the counters took", false,
       [](R r) { return by_hardware(r) ? Cell(int64_t{r.counters.passes}) : Cell(); }},
      {"drained", "0/1", "1: dirty L2 lines were written back inside the measured range; 0: as ncu counts",
       false, [](R r) { return by_hardware(r) ? Cell(int64_t{r.counters.drained}) : Cell(); }},
      {"counters_status", "",
       "of the hardware counters: ok, or the one cause that left them empty: none (a CPU), permission, "
       "version, missing, busy, off, ...",
       false, [](R r) { return text_cell(r.counters.status); }},
  };
}

std::vector<Column> error_columns() {
  return {
      {"max_abs_err", "", "largest |o - ref| over the rows checked; ref is float64 on the host", false,
       [](R r) { return error_cell(r, &VerifyResult::max_abs_err); }},
      {"rel_err", "", "||o - ref||_2 / ||ref||_2 over the rows checked", false,
       [](R r) { return error_cell(r, &VerifyResult::rel_err); }},
      {"tolerance", "", "bound that rel_err had to meet", false,
       [](R r) { return error_cell(r, &VerifyResult::tolerance); }},
      {"rows_checked", "", "output rows compared with the reference", false,
       [](R r) { return error_cell(r, &VerifyResult::rows_checked); }},
  };
}

}  // namespace

std::vector<Column> measurement_columns() {
  std::vector<Column> all = time_columns();
  for (const auto& group : {counter_columns(), error_columns()})
    all.insert(all.end(), group.begin(), group.end());
  return all;
}

}  // namespace attnprof
