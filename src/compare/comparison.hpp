// Rows compared: implementations of one file with a reference, or one file with another.
// Plain figures; words and tables are made from them elsewhere.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/stats.hpp"
#include "rows/rows.hpp"

namespace attnprof {

/// One quantity of two rows. A ratio is there only when both figures are, are of the same kind, come from
/// verified rows, and are above 0.
struct Change {
  std::optional<double> from, to;
  std::optional<double> ratio;  ///< see Pair for which side is on top
  std::string why_no_ratio;     ///< when there is none though a figure is there
  std::string source;  ///< "cupti", "measured", "modelled"; "counted -> cupti" where the sides differ
};

struct Pair {
  Row from, to;
  Change time_us;  ///< ratio from / to: above 1 is faster
  /// 95% interval of the time ratio, from the intervals of both medians; empty when one has none (fewer than
  /// 6 samples).
  std::optional<stats::Interval> time_ratio_interval;
  bool within_noise = false;  ///< that interval holds 1: no difference was shown
  Change hbm_bytes;           ///< ratio from / to: above 1 is fewer
  Change flops;               ///< executed; ratio to / from: what the second does of the first's
  Change workspace_bytes;     ///< ratio from / to
};

struct Comparison {
  bool two_files = false;
  std::string from_name, to_name;  ///< files; or the reference ("naive", "reference" when it varies) and ""
  std::vector<Pair> pairs;         ///< in the order of the (second) file
  std::vector<Row> only_from, only_to;  ///< rows of two files without a partner
  /// Two files from different devices: which. Times, measured bytes and measured FLOPs then have no ratio
  /// unless that was allowed.
  std::string device_mismatch;
  bool device_mismatch_allowed = false;
  std::vector<std::string> notes;  ///< what a reader has to know: each one sentence
};

/// Every row against the reference row of its problem. `reference` is an implementation ("naive") or one with
/// its tile ("flash2 128x48"); "" is naive where the problem has it, else what comes first. Of several
/// reference rows (tiles) the fastest verified one counts. Throws UsageError when `reference` is not in the
/// file.
Comparison compare_within(const RowFile& file, const std::string& reference);

/// Rows of `after` against those of `before` with the same key.
Comparison compare_files(const RowFile& before, const RowFile& after, bool allow_device_mismatch);

/// Geometric means of the ratios of one implementation, or of each of its tiles ("fused 64x64") where a
/// problem has several: the mean that does not depend on which side is on top.
struct Mean {
  std::string impl, reference;
  struct Of {
    double ratio = 1, smallest = 1, largest = 1;
    int pairs = 0;
  };
  std::optional<Of> time, hbm_bytes, flops;  ///< ratios as in Pair
};
std::vector<Mean> geometric_means(const Comparison& comparison);

/// Quantities of two rows. comparable_devices: their times and hardware counts may be compared.
Pair pair_of(const Row& from, const Row& to, bool comparable_devices);

/// Why two files have so few rows in common: how the unmatched rows differ from the nearest row of the other
/// file, "seed 1 -> 7" (and " for one" when the values of others differ); "" when there are none.
std::string unmatched_reason(const Comparison& comparison);

}  // namespace attnprof
