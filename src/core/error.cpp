#include "core/error.hpp"

#include <fmt/format.h>

#include "core/units.hpp"

namespace attnprof {
namespace {

std::string why_refused(int64_t needed, int64_t available) {
  const std::string wanted = human_bytes(static_cast<double>(needed)),
                    free = human_bytes(static_cast<double>(available));
  if (needed > available) return fmt::format("out of memory: needs {}, {} are free", wanted, free);
  return fmt::format(
      "out of memory: the system refused {} although {} are free (a limit of this process, such as ulimit "
      "-v?)",
      wanted, free);
}

}  // namespace

OutOfMemory::OutOfMemory(int64_t needed, int64_t available, std::source_location where)
    : Error(ExitCode::usage, why_refused(needed, available), where),
      needed_bytes(needed),
      available_bytes(available) {}

}  // namespace attnprof
