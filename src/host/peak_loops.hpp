// The loops behind the host's ceilings, compiled once per instruction set. Inside src/host.
#pragma once

#include <cstdint>

namespace attnprof {

/// Independent operations of one round of the chains, per vector lane.
constexpr int kPeakChains = 12;

/// `rounds` rounds of twelve vector multiply-adds, or of twelve vector exp2, in registers. They return a
/// value that depends on all of them.
float peak_fma_chains(int64_t rounds);
float peak_exp_chains(int64_t rounds);
/// Floats in a vector of the instruction set in use.
int64_t peak_lanes();
/// Reads `bytes`, a multiple of 1 KiB.
uint64_t peak_read(const void* data, int64_t bytes);

}  // namespace attnprof
