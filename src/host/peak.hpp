// What this CPU can do at best, measured: the ceilings that host results are held against.
#pragma once

#include "core/ceiling_list.hpp"
#include "core/device.hpp"

namespace attnprof {

/// `device` must be a HostDevice; its threads are used. The best of many short trials: others were
/// disturbed. Names:
/// copy             arrays of four times the last-level cache (64 to 512 MiB): bytes read plus written
/// fp32_fma         multiply-adds in registers, each counting 2, all threads
/// exp              the exp2 that the softmax of the host implementations uses
/// launch_interval  one empty loop over all threads of the pool, what a pass of a host implementation costs
/// full: read, write (as copy), fp32_fma_one_thread, and read_by_size, write_by_size, copy_by_size: an array
/// gone over again and again, so that what fits in a cache comes from there. `rows` takes well under a second
/// on most machines, `full` some seconds. What does not fit into memory is said in CeilingList::message.
CeilingList measure_host_ceilings(Device& device, CeilingScope scope);

/// Fused multiply-add rate alone, FLOP/s, of the first `threads` threads of the device (0: all); about 0.1 s.
double measure_fma_flops_per_s(Device& device, int threads = 0);

}  // namespace attnprof
