// Cases of one problem on their way through the protocol, and how their samples are taken: in turns.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "core/tensors.hpp"
#include "measure/runner.hpp"

namespace attnprof {

/// A named range for tools that watch from outside, for the life of the object.
class NamedRange {
 public:
  NamedRange(Device& device, const std::string& name) : device_(device) { device_.begin_range(name); }
  ~NamedRange() { device_.end_range(); }
  NamedRange(const NamedRange&) = delete;
  NamedRange& operator=(const NamedRange&) = delete;

 private:
  Device& device_;
};

/// A tensor of a problem and its memory.
struct AllocatedTensor {
  TensorSpec spec;
  std::unique_ptr<Buffer> buffer;
};

/// To be called while an exception is handled: makes it the record's status and message. Memory that cannot
/// be had, for data or for a thread, is `oom`. Rethrows what is not the fault of one case.
void take_error(Record& record);

/// One case on its way through the protocol. Its outputs are its own: what was timed is what is verified.
struct ActiveCase {
  const PlannedRow* row = nullptr;
  Record* record = nullptr;
  std::string name;  ///< of its ranges: "flash2 fwd bf16 B4 ..."
  std::vector<AllocatedTensor> outputs;
  std::unique_ptr<Prepared> work;
  std::vector<double> samples_us;
  double last_us = 0;  ///< of the latest sample, that of the warm-up included
  int turns = 0;
  double elapsed_s = 0;
  std::vector<ClockReading> clocks;  ///< after each turn
  bool timing = true;                ///< has not enough samples yet
  bool spent = false;                ///< may take no more of them

  bool alive() const { return record->status == Status::ok; }
  /// Runs `step`; an error in it becomes this row's status, the others go on.
  template <class Step>
  void guarded(Step step) {
    if (!alive()) return;
    try {
      step();
    } catch (...) {
      take_error(*record);
    }
  }
};

/// Takes turns of a few samples each until every case has enough, or has used up its budget; then fills
/// Record::time and Record::clocks. An error of a case becomes its status. When `stop` becomes true, each
/// case still gets the fewest samples that have an interval.
void take_turns(Device& device, const RunOptions& options, std::vector<ActiveCase>& cases,
                const std::function<double()>& now_s, const std::atomic<bool>& stop);

}  // namespace attnprof
