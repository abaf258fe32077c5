// Finds the fastest configuration of one implementation for one problem: rounds of interleaved timings, each
// with twice the samples of the one before, from which whoever is clearly slower drops out.
#pragma once

#include <atomic>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "measure/runner.hpp"

namespace attnprof {

struct TuneOptions {
  RunOptions run;              ///< stopping.budget_s: for one candidate in one round
  int first_samples = 6;       ///< of each candidate in the first round
  int last_samples = 48;       ///< who is still in after a round of as many is as good as the best
  double min_speedup = 1.005;  ///< what a default must be beaten by, beside the noise
  bool verify_all = false;     ///< every candidate, not only those that could win
  bool count_all = false;      ///< hardware counters for every candidate, not only for the last two
};

/// How one race ended.
struct TuneOutcome {
  enum class End { better, kept, interrupted, no_budget, nothing_ran } end = End::nothing_ran;
  /// One per candidate, in the order given: figures of the last round it took part in. Status skipped where
  /// it was timed and not verified.
  std::vector<Record> records;
  size_t best = 0;                                   ///< index of the choice: the winner, or the default (0)
  std::optional<TimeStats> best_time, default_time;  ///< from the last, common round, for best != default
  std::optional<double> speedup, speedup_lo, speedup_hi;  ///< default over best, of two verified rows
  std::string message;                                    ///< in words, for the table and the file
};

class Tuner {
 public:
  /// `counters` may be null. `now_s` as for Runner.
  Tuner(Device& device, CounterSource* counters, TuneOptions options, RunConditions conditions,
        std::function<double()> now_s);

  /// `rows`: one problem, one implementation, the default first; all planned ok or with their reason. Takes
  /// about `budget_s` at most; only a candidate that was verified can win, and only one whose 95% interval in
  /// a last round of fresh timings lies below the default's.
  TuneOutcome race(const std::vector<PlannedRow>& rows, double budget_s, const std::atomic<bool>& stop);

 private:
  struct Field;
  void round(Field& field, const std::vector<size_t>& who, const RunOptions& options,
             const std::atomic<bool>& stop);
  void verify_one(Field& field, size_t index, const std::atomic<bool>& stop);
  std::optional<size_t> leader(Field& field, const std::atomic<bool>& stop);
  void decide(Field& field, size_t best, double budget_s, const std::atomic<bool>& stop);
  RunOptions round_options(int samples, double budget_s, size_t candidates) const;

  Device& device_;
  CounterSource* counters_;
  TuneOptions options_;
  RunConditions conditions_;
  std::function<double()> now_s_;
};

}  // namespace attnprof
