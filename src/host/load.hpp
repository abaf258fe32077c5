// Who else uses the CPUs: a time taken beside other work is too long, and nothing in it says so.
#pragma once

#include <deque>
#include <optional>

namespace attnprof {

/// Above this share of the CPU time for others a measurement is called disturbed.
constexpr double kBusyShare = 0.1;

/// CPU time spent so far, in seconds, on the CPUs that this process may use.
struct CpuTimes {
  double wall_s = 0;   ///< steady clock
  double all_s = 0;    ///< busy, idle and stolen
  double taken_s = 0;  ///< busy or stolen by the hypervisor
  double own_s = 0;    ///< of that, this process
};

/// From /proc/stat; nothing where that is not there, or counts nothing.
std::optional<CpuTimes> cpu_times();

/// What others took between the two, as a share of all CPU time. 0 when no time has passed.
double share_of_others(const CpuTimes& from, const CpuTimes& to);

/// Looks at the load again and again.
class LoadWatch {
 public:
  LoadWatch() { busy(); }
  /// Whether others took more than kBusyShare during about the last half second. /proc/stat counts in
  /// hundredths of a second, so less time says nothing: false until so much has passed.
  bool busy();

 private:
  std::deque<CpuTimes> looks_;
};

}  // namespace attnprof
