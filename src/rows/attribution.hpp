// Where the time of one measured case went: each resource's share of it, and which one limits. Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace attnprof {

/// Where a ceiling came from; nothing presents one as the other.
enum class CeilingSource { measured, given, datasheet };
std::string_view to_string(CeilingSource source);  ///< "measured", "given", "datasheet"

struct Ceiling {
  double rate = 0;  ///< in the unit of the field that holds it; positive
  CeilingSource source = CeilingSource::measured;
};

/// What the device can do at most. Empty where it is not known.
struct Ceilings {
  std::optional<Ceiling> copy_gbps;      ///< 1e9 bytes read plus written per second
  std::optional<Ceiling> matrix_tflops;  ///< 1e12 FLOPs per second of matrix products, in the case's dtype
  std::optional<Ceiling> exp_gops;       ///< 1e9 exponentials per second
  std::optional<Ceiling> launch_us;      ///< what launching one kernel costs, microseconds
};

/// One measured case. Times in microseconds; empty where not known.
struct AttributionInput {
  bool on_host = false;           ///< words only: main memory instead of HBM, cores instead of matrix units
  std::optional<double> time_us;  ///< median time of one launch
  std::optional<double> kernels_us;      ///< sum of the kernels' own times
  std::optional<double> gaps_us;         ///< between first start and last end, covered by no kernel
  std::optional<double> launches;        ///< kernels in one launch
  std::optional<double> hbm_bytes;       ///< read plus written
  std::string_view bytes_source;         ///< "cupti", "counted" or "modelled"
  std::optional<double> executed_flops;  ///< of the products, masked parts of visited tiles included
  std::optional<double> exp_count;       ///< exponentials evaluated
};

/// A share above this is no measurement error of a ceiling: bytes, time or ceiling are wrong.
constexpr double kInvalidSharePct = 105;
/// From this share on a resource counts as what limits the case: it is busy for more than half of the time.
constexpr double kNearCeilingPct = 50;
/// Time around a kernel, of its launch and of the events that time it: 3 to 6 us were seen on an H200. What
/// is missing beyond it is no idle time: kernels_us is of another run, whose clock may have been higher.
constexpr double kMostAroundKernelUs = 10;
/// Parts of several kernels that add up to the time, give or take this, ran one after another.
constexpr double kSerialTolerancePct = 15;

/// Times that each resource needs at its ceiling, and what that says about the time taken. Empty where an
/// input or a ceiling is not known.
struct Attribution {
  std::optional<double> hbm_us;     ///< bytes over copy bandwidth
  std::optional<double> matrix_us;  ///< executed FLOPs over the matrix rate
  std::optional<double> exp_us;     ///< exponentials over the exp rate
  std::optional<double> launch_us;  ///< covered by no kernel: gaps_us, and what time_us has beyond them and
                                    ///< kernels_us, up to kMostAroundKernelUs a launch; or launches times the
                                    ///< launch ceiling where neither was measured
  std::optional<double> hbm_pct, matrix_pct, exp_pct,
      launch_pct;                     ///< of time_us: share of the ceiling reached
  std::optional<double> sum_us;       ///< of the parts that are known
  std::optional<double> largest_us;   ///< the largest part: the time with perfect overlap
  std::optional<double> overlap_pct;  ///< 100: as fast as the largest part; 0: the parts one after another
  /// A share above kInvalidSharePct: no bound is named then.
  bool invalid = false;
  /// "memory", "matrix", "exp": at kNearCeilingPct or more of that ceiling. "launch": no kernel runs for half
  /// of the time or more. "serial": no part is near its ceiling, but several kernels ran and the parts
  /// together make up the time. "latency": none of these; dependencies, synchronisation, or instructions that
  /// are not counted here. "": not known.
  std::string_view bound;
  /// The sentence behind `bound`: "91% of the measured copy bandwidth (3893 of 4281 GB/s), ...: memory".
  std::string reasoning;
};

Attribution attribute(const AttributionInput& row, const Ceilings& ceilings);

}  // namespace attnprof
