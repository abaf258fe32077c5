// Files of kernels/ and baselines/ as text inside the binary (generated at build time).
#pragma once

#include <vector>

#include "core/embedded_file.hpp"

namespace attnprof {

const std::vector<EmbeddedSource>& embedded_sources();  ///< the device sources
const std::vector<EmbeddedSource>& shipped_tuned();     ///< tuned_*.csv, in every build

}  // namespace attnprof
