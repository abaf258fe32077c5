// Where the time of a row went: its own columns against ceilings.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "rows/attribution.hpp"
#include "rows/rows.hpp"
#include "rows/table.hpp"

namespace attnprof {

/// Ceilings given by hand: they come before what rows say was measured.
struct GivenCeilings {
  std::optional<double> copy_gbps, matrix_tflops, exp_gops;
};

/// What was given; else the row's own ceiling_* columns, which were measured; else the datasheet of the GPU
/// that device_name begins with.
Ceilings ceilings_of(const Row& row, const GivenCeilings& given);

struct Explained {
  Row row;
  Attribution
      attribution;  ///< empty, with the reason, unless the row is verified (or one kernel of a launch)
  Ceilings ceilings;
};
Explained explain(const Row& row, const GivenCeilings& given);

/// "copy 4281 GB/s (measured), matrix 790 TFLOP/s (measured)".
std::string ceilings_text(const Ceilings& ceilings);

/// What tells the rows apart: their labels, after the file where they come from several:
/// "a.csv: flash3 bf16 b4 h16 s4k d128".
std::vector<std::string> why_labels(const std::vector<Explained>& rows);

/// The parts of each row's time beside it as a table, then for each row the sentence behind its bound.
std::string why_table(const std::vector<Explained>& rows, const TableStyle& style);

}  // namespace attnprof
