// What this CPU can do at best, measured: the ceilings that host results are held against.
#pragma once

#include "core/device.hpp"

namespace attnprof {

struct HostPeak {
  double fma_flops_per_s = 0;         ///< fp32, all threads at once; one fused multiply-add counts 2
  double one_thread_flops_per_s = 0;  ///< fp32, one thread alone
  double copy_bytes_per_s =
      0;  ///< all threads, arrays larger than the last-level cache; bytes read + written
};

/// Takes about 0.3 s. `device` must be a HostDevice. Throws OutOfMemory when there is no room for the arrays
/// to copy.
HostPeak measure_host_peak(Device& device);

/// Fused multiply-add rate alone, of the first `threads` threads of the device (0: all); about 0.1 s.
double measure_fma_flops_per_s(Device& device, int threads = 0);

}  // namespace attnprof
