// Figures that follow from a Record: one definition for CSV, JSON and terminal. Empty whenever they would
// mislead.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/record.hpp"
#include "rows/attribution.hpp"

namespace attnprof {

bool is_ok(const Record& r);  ///< status ok: measured, and not found wrong

/// Time statistics of an ok row whose median is positive and finite.
std::optional<TimeStats> measured_time(const Record& r);
/// The same when it has a 95% interval: fewer than 6 samples have none.
std::optional<TimeStats> measured_interval(const Record& r);
/// Counters of an ok row; nullptr otherwise.
const Counters* measured_counters(const Record& r);
/// HBM bytes read and written, of an ok row that has both.
std::optional<Traffic> measured_traffic(const Record& r);

/// FLOPs and compulsory bytes of the mathematics; empty for problems that make no sense (status skipped), and
/// for rows about one kernel of several.
std::optional<int64_t> model_flops(const Record& r);
std::optional<Traffic> minimum_traffic(const Record& r);

/// Algorithmic FLOPs over the median time, 1e12 per second; empty below the timer's resolution.
std::optional<double> tflops(const Record& r);
/// Bytes that crossed HBM over the median time, 1e9 per second; empty below the timer's resolution.
std::optional<double> hbm_gbps(const Record& r);
/// 100 * (measured - modelled) / modelled HBM bytes.
std::optional<double> model_bytes_err_pct(const Record& r);

/// The row held against the ceilings that were measured on its device. HBM bytes: measured or counted, else
/// modelled. FLOPs: counted by hardware on the matrix units, else those of the schedule.
Attribution attribution(const Record& r);
/// One line for rows that seem faster than the device can be; "" for all others.
std::string ceiling_warning(const Record& r);
/// Whether the row shows that a ceiling was measured too low: more arithmetic, or more bytes by hardware
/// counters, than it allows. Counted bytes of a CPU do so only where the case is far larger than the last
/// cache: else that serves a part of them.
bool beats_ceilings(const Record& r);

/// One line on rows that ran while the chip held its clock back, and the option that prevents it; "" when
/// none did, or pauses were taken already.
std::string throttling_note(const std::vector<Record>& records);

}  // namespace attnprof
