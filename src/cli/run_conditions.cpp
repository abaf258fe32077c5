#include "cli/run_conditions.hpp"

#include "host/system.hpp"

namespace attnprof {

CacheMode typed_cache(const std::string& cache) {
  return cache == "cold" ? CacheMode::cold : CacheMode::hot;
}

RunConditions run_conditions(const std::string& cache) {
  RunConditions c;
  c.cache = typed_cache(cache);
  c.tool_version = ATTNPROF_VERSION;
  c.hostname = host_name();
  return c;
}

}  // namespace attnprof
