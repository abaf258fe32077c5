// What is the same for all rows that a command measures.
#pragma once

#include <string>

#include "core/record.hpp"

namespace attnprof {

/// "cold" or "hot".
CacheMode typed_cache(const std::string& cache);

/// Cache mode as typed ("cold", "hot"), version and machine.
RunConditions run_conditions(const std::string& cache);

}  // namespace attnprof
