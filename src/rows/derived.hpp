// Figures that follow from the cells of a row: one definition for columns, tables, comparisons and notes.
// Empty when the row is not ok, or where they would mislead.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "rows/attribution.hpp"
#include "rows/row.hpp"

namespace attnprof {

/// time_us, unless the timer could not tell it from nothing.
std::optional<double> resolved_time_us(const Row& row);
/// Read and written, of a row that has both.
std::optional<double> hbm_bytes(const Row& row);
/// Whether caches, not HBM, served the case: less than half of the compulsory bytes crossed. Nothing when
/// either is not known.
std::optional<bool> served_by_cache(const Row& row);

/// FLOPs that ran, masked parts of visited tiles included: tensor_flops, from hardware counters.
std::optional<double> measured_flops(const Row& row);
/// The same by the schedule: executed_flops.
std::optional<double> modelled_flops(const Row& row);

/// HBM bytes: measured or counted, else modelled. FLOPs: measured, else modelled.
AttributionInput attribution_input(const Row& row);
/// The ceiling_* columns.
Ceilings measured_ceilings(const Row& row);
/// The row against the ceilings that were measured on its device.
Attribution attribution(const Row& row);

/// One line for rows that seem faster than the device can be; "" for all others.
std::string ceiling_warning(const Row& row);
/// Whether the row shows that a ceiling was measured too low: more arithmetic, or more bytes by hardware
/// counters, than it allows. Counted bytes of a CPU do so only where the case is far larger than the last
/// cache: else that serves a part of them.
bool beats_ceilings(const Row& row, int64_t last_level_cache_bytes);

/// One line on rows that ran while the chip held its clock back, and the option that prevents it; "" when
/// none did, or pauses were taken already.
std::string throttling_note(const std::vector<Row>& rows);

/// One sentence on rows that were timed on a busy machine; "" without any.
std::string busy_note(const std::vector<Row>& rows);

}  // namespace attnprof
