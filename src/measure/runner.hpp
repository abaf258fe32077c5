// Measures planned rows on one device: allocate, prepare, warm up, time interleaved, count, verify.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <vector>

#include "core/counter_source.hpp"
#include "core/device.hpp"
#include "core/record.hpp"
#include "core/stats.hpp"
#include "measure/plan.hpp"

namespace attnprof {

struct RunOptions {
  CacheMode cache = CacheMode::cold;
  double rest = 0;  ///< pause before each sample, as a multiple of the sample before; a second at most
  stats::StoppingRule stopping;
  int warmups = 2;
  bool time = true;          ///< false: `attnprof verify`
  bool verify = true;        ///< false in time_again and in rounds of a Tuner, which verifies apart
  int64_t verify_rows = 64;  ///< random rows checked per case (all rows when there are few)
  bool counters = true;
  bool drain = true;        ///< charge the write-back of dirty L2 lines to the case
  bool per_kernel = false;  ///< also a record for every kernel of cases that launch several
};

struct ActiveCase;

/// The protocol of one problem, the same for every device. Throws only for errors that end the sweep (a sink
/// that fails is the caller's affair); whatever happens to a row becomes its status.
class Runner {
 public:
  /// `counters` may be null (host: bytes are counted by the implementation). `now_s` is a steady clock in
  /// seconds.
  Runner(Device& device, CounterSource* counters, RunOptions options, RunConditions conditions,
         std::function<double()> now_s = {});

  /// Measures rows of one problem, implementations interleaved. Returns one record per row, in order; with
  /// RunOptions::per_kernel each is followed by those of its kernels (Record::kernel not empty). When
  /// `stop` becomes true, sampling ends as soon as each case has its minimum, so that the rows in hand stay
  /// whole.
  std::vector<Record> run(const PlannedRow* begin, const PlannedRow* end, const std::atomic<bool>& stop);

  /// For the rows from here on.
  void use_ceilings(const DeviceCeilings& ceilings) { conditions_.ceilings = ceilings; }

  /// Times one row again (no verification, no counters): did the machine drift during the sweep?
  std::optional<TimeStats> time_again(const PlannedRow& row, const std::atomic<bool>& stop);

 private:
  struct Operands;

  std::unique_ptr<Operands> load_operands(const Problem& p);
  std::vector<ActiveCase> activate(const PlannedRow* begin, const PlannedRow* end, const Operands& operands,
                                   std::vector<Record>& records);
  void warm_up(std::vector<ActiveCase>& cases);
  void count(ActiveCase& active);
  void check(ActiveCase& active, const Operands& operands);
  void compare_with_model(ActiveCase& active);
  std::vector<Record> run_group(const PlannedRow* begin, const PlannedRow* end,
                                const std::atomic<bool>& stop);

  Device& device_;
  CounterSource* counters_;
  RunOptions options_;
  RunConditions conditions_;
  std::function<double()> now_s_;
};

}  // namespace attnprof
