// Everything known about one measured case; row_of() (rows/row.hpp) turns it into cells.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/device.hpp"
#include "core/device_ceilings.hpp"
#include "core/implementation.hpp"
#include "core/problem.hpp"

namespace attnprof {

enum class Status { ok, skipped, unsupported, oom, failed, verify_failed, no_samples };

/// Summary of the time samples of one case, microseconds. From stats::summarise.
struct TimeStats {
  double median_us = 0;
  double lo_us = 0;  ///< 95% confidence interval of the median
  double hi_us = 0;
  double min_us = 0;
  double max_us = 0;
  int samples = 0;
  int warmups = 0;
  bool converged = false;         ///< interval within the target before the time budget ended
  bool below_resolution = false;  ///< median not above the timer's resolution: rates stay empty
};

/// Where byte and FLOP numbers came from. Nothing presents one as the other.
enum class BytesSource { none, counted, cupti };

/// Measured by hardware counters (cupti) or counted by the host implementation.
struct Counters {
  BytesSource source = BytesSource::none;
  std::optional<int64_t> hbm_read_bytes;
  std::optional<int64_t> hbm_write_bytes;
  std::optional<int64_t> l2_bytes;
  std::optional<int64_t> tensor_flops;
  std::optional<int64_t> fp32_flops;
  std::optional<double> tensor_pipe_active_pct;
  int passes = 0;        ///< replays it took; 0 when counted
  bool drained = false;  ///< dirty L2 lines were written back inside the measured range
  std::string status;    ///< "ok", or one cause: "permission", "version", "missing", "busy", "off", ...
};

/// What an implementation counted by itself.
inline Counters counted_bytes(const Traffic& counted) {
  Counters c;
  c.source = BytesSource::counted;
  c.hbm_read_bytes = counted.read_bytes;
  c.hbm_write_bytes = counted.write_bytes;
  c.status = "none: bytes are counted by the implementation";
  return c;
}

/// Device time of the kernels of one launch, from CUPTI activity records.
struct KernelTimes {
  double kernels_us = 0;  ///< sum of kernel durations
  double gaps_us = 0;     ///< time between the first start and the last end not covered by a kernel
  int launches = 0;
};

/// Result of checking an output against float64.
struct VerifyResult {
  bool passed = false;
  int64_t rows_checked = 0;
  double max_abs_err = 0;
  double rel_err = 0;    ///< ||o - ref||_2 / ||ref||_2 over the rows checked
  double tolerance = 0;  ///< bound that rel_err had to meet
  std::string message;  ///< when failed: first offending index and values; "both NaN at ..." is its own state
};

/// Message of a row that was timed while ClockReading::busy.
constexpr std::string_view kBusyMachine =
    "busy machine: other processes took more than a tenth of the CPU time, so times are too long";

/// Conditions of the run, the same for all rows of one.
struct RunConditions {
  CacheMode cache = CacheMode::cold;
  double rest = 0;    ///< pause before each sample, as a multiple of the sample before
  bool timed = true;  ///< false: `attnprof verify`
  std::string tool_version;
  std::string command;    ///< reproduces this row
  std::string timestamp;  ///< UTC, ISO 8601
  std::string hostname;
  std::string plan;         ///< name of the sweep's plan (measure/shard.hpp); "" outside sweeps
  int64_t plan_rows = 0;    ///< rows that the whole plan has
  std::string shard;        ///< "2/4"; "" when the sweep is not split
  DeviceCeilings ceilings;  ///< measured on this device, before or in this run; empty where not known
};

struct Record {
  Case planned;  ///< config resolved
  /// Of a row about one step of a launch of several kernels: its name ("softmax") and place. Empty in rows
  /// about whole launches.
  std::string kernel;
  std::optional<int> kernel_index;
  DeviceInfo device;
  RunConditions conditions;
  Status status = Status::ok;
  std::string message;  ///< reason, in one line, when not ok; warnings when ok
  std::optional<TimeStats> time;
  Counters counters;
  std::optional<KernelTimes> kernels;
  std::optional<ModelledWork> model;
  std::optional<int64_t> workspace_bytes;
  std::optional<int64_t> available_bytes;  ///< memory free when planned (oom)
  std::optional<VerifyResult> verify;
  std::optional<KernelResources> resources;
  std::optional<double> compile_ms;
  std::string library;  ///< that computed the case, with its version; "" for our own kernels
  ClockReading clocks;
  int64_t plan_row = 0;  ///< place in the plan, from 1
};

}  // namespace attnprof
