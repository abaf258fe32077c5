// Bytes that a host implementation counts, thread by thread.
#pragma once

#include <vector>

#include "core/implementation.hpp"

namespace attnprof {

/// Traffic of one thread, on a cache line of its own.
struct alignas(64) ThreadTraffic {
  Traffic traffic;
};

inline Traffic total(const std::vector<ThreadTraffic>& threads) {
  Traffic sum;
  for (const ThreadTraffic& thread : threads) {
    sum.read_bytes += thread.traffic.read_bytes;
    sum.write_bytes += thread.traffic.write_bytes;
  }
  return sum;
}

}  // namespace attnprof
