// What this GPU can do at most, measured here and now: the yardsticks that rows are held against.
#pragma once

#include "core/ceiling_list.hpp"
#include "core/device.hpp"

namespace attnprof {

/// `gpu` is a device from open_gpu. Rates are decimal. Names and what is behind them:
/// copy             1 GiB (less on a small or full GPU), the faster of our kernel and the driver's, L2 cold:
/// bytes
///                  read plus written
/// matrix_bf16/fp16 cuBLASLt, 8192^3, fp32 accumulation, random normal data; full: also matrix_tf32
/// fp32_fma         multiply-adds in registers, each counting 2
/// exp              ex2.approx in registers
/// launch_interval  empty kernels enqueued back to back: from one to the next
/// full: read, write (as copy), launch_to_done (one empty kernel, from the call until the host knows that it
/// is done), and read_by_size, write_by_size, copy_by_size: an array gone over again and again, so that what
/// fits in L2 comes from there; l2_read is the best of read_by_size up to half of the L2. Medians of 20
/// launches. `rows` takes about a second, `full` about three, and up to 2.4 GB of its memory. Never throws
/// for what is missing or does not fit: see CeilingList::message.
CeilingList measure_ceilings(Device& gpu, CeilingScope scope);

}  // namespace attnprof
