#include "rows/derived.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/theory.hpp"
#include "rows/columns.hpp"
#include "rows/problem_columns.hpp"

namespace attnprof {

std::optional<double> resolved_time_us(const Row& row) {
  if (!row.ok() || row.text("below_resolution") == "1") return std::nullopt;
  return row.number("time_us");
}

std::optional<double> hbm_bytes(const Row& row) {
  const auto read = row.number("hbm_read_bytes"), written = row.number("hbm_write_bytes");
  if (!row.ok() || !read || !written) return std::nullopt;
  return *read + *written;
}

std::optional<bool> served_by_cache(const Row& row) {
  const auto bytes = hbm_bytes(row), least = row.number("min_hbm_bytes");
  if (!bytes || !least) return std::nullopt;
  return 2 * *bytes < *least;
}

std::optional<double> measured_flops(const Row& row) {
  const auto flops = row.number("tensor_flops");
  return row.ok() && flops && *flops > 0 ? flops : std::nullopt;  // 0: the case ran on other units
}
std::optional<double> modelled_flops(const Row& row) {
  return row.ok() ? row.number("executed_flops") : std::nullopt;
}

AttributionInput attribution_input(const Row& row) {
  AttributionInput in;
  in.on_host = row.text("device") == "cpu";
  in.time_us = resolved_time_us(row);
  in.kernels_us = row.number("kernels_us");
  in.gaps_us = row.number("gaps_us");
  in.launches = row.number("launches");
  in.hbm_bytes = hbm_bytes(row);
  in.bytes_source = row.text("bytes_source");
  if (!in.hbm_bytes) {
    in.hbm_bytes = row.number("model_hbm_bytes");
    in.bytes_source = "modelled";
  }
  in.executed_flops = measured_flops(row);
  if (!in.executed_flops) in.executed_flops = modelled_flops(row);
  in.exp_count = row.number("exp_count");
  return in;
}

Ceilings measured_ceilings(const Row& row) {
  const auto ceiling = [&row](std::string_view column) {
    const auto rate = row.number(column);
    return rate && *rate > 0 ? std::optional<Ceiling>(Ceiling{*rate, CeilingSource::measured}) : std::nullopt;
  };
  return {.copy_gbps = ceiling("ceiling_copy_gbps"),
          .matrix_tflops = ceiling("ceiling_matrix_tflops"),
          .exp_gops = ceiling("ceiling_exp_gops"),
          .launch_us = ceiling("ceiling_launch_us")};
}

Attribution attribution(const Row& row) {
  return attribute(attribution_input(row), measured_ceilings(row));
}

namespace {

bool above(const std::optional<double>& pct, double limit) {
  return pct && *pct > limit;
}
bool arithmetic_above(const Attribution& a) {
  return above(a.matrix_pct, kInvalidSharePct) || above(a.exp_pct, kInvalidSharePct);
}

}  // namespace

std::string ceiling_warning(const Row& row) {
  const Attribution a = attribution(row);
  if (hbm_bytes(row) && above(a.hbm_pct, 100)) {
    return row.text("bytes_source") == "counted"
               ? "more bytes per second than main memory can deliver: caches served a part of those counted"
               : "more bytes per second than the measured copy bandwidth: L2, a wrong counter, or a ceiling "
                 "too low";
  }
  if (arithmetic_above(a))
    return "faster than the measured arithmetic ceilings: a wrong count, time or ceiling";
  return "";
}

bool beats_ceilings(const Row& row, int64_t last_level_cache_bytes) {
  const Attribution a = attribution(row);
  if (arithmetic_above(a)) return true;
  if (!hbm_bytes(row) || !above(a.hbm_pct, kInvalidSharePct)) return false;
  if (row.text("bytes_source") == "cupti") return true;
  const double touched = row.number("min_hbm_bytes").value_or(0) + row.number("workspace_bytes").value_or(0);
  return last_level_cache_bytes > 0 && touched > 4 * static_cast<double>(last_level_cache_bytes);
}

std::string busy_note(const std::vector<Row>& rows) {
  const auto timed = [](const Row& row) { return row.number("time_us") && row.kernel().empty(); };
  const auto measured = std::count_if(rows.begin(), rows.end(), timed);
  const auto busy = std::count_if(rows.begin(), rows.end(), [&](const Row& row) {
    return timed(row) && row.text("message").find(kBusyMachine) != std::string_view::npos;
  });
  if (busy == 0) return "";
  return fmt::format(
      "other processes took more than a tenth of the CPU time during {} of {} rows: those times are too long",
      busy, measured);
}

std::string throttling_note(const std::vector<Row>& rows) {
  size_t measured = 0, throttled = 0;
  std::string_view reasons;
  for (const Row& row : rows) {
    if (!row.number("time_us") || !row.kernel().empty() || row.number("rest").value_or(0) > 0) continue;
    ++measured;
    if (row.text("throttle").empty()) continue;
    ++throttled;
    if (reasons.empty()) reasons = row.text("throttle");
  }
  if (throttled == 0) return "";
  return fmt::format(
      "the chip held its clock back during {} of {} rows ({}): such times differ by some percent from run to "
      "run; --rest 3 pauses between samples so that it need not",
      throttled, measured, reasons);
}

}  // namespace attnprof
