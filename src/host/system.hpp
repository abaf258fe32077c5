// What the operating system says about the CPU and memory, with fallbacks for containers that hide it.
#pragma once

#include <cstdint>
#include <string>

namespace attnprof {

/// "model name" of /proc/cpuinfo, or the architecture's name.
std::string cpu_model();

/// Name of this machine; "" when it has none.
std::string host_name();

/// Threads this process may run at once: CPU affinity, further limited by the cgroup's CPU quota. At least 1.
int usable_threads();

struct CacheSizes {
  int64_t per_core_bytes = 0;    ///< level 2
  int64_t last_level_bytes = 0;  ///< the largest level
};
/// Data caches of the first CPU, from sysfs, then sysconf; 512 KiB and 32 MiB when neither knows.
CacheSizes cache_sizes();

int64_t memory_total_bytes();  ///< RAM, or the cgroup's limit when that is lower
/// Bytes that can be allocated without swapping or hitting the cgroup's limit (v1 or v2, every level above
/// included).
int64_t memory_available_bytes();

}  // namespace attnprof
