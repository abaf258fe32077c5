// Files of kernels/ and baselines/ as text inside the binary (generated at build time).
#pragma once

#include <string>
#include <vector>

namespace attnprof {

struct EmbeddedSource {
  std::string name;  ///< file name without folder: "flash2.cu", "ptx.cuh"
  std::string text;
};

const std::vector<EmbeddedSource>& embedded_sources();  ///< the device sources
const std::vector<EmbeddedSource>& shipped_tuned();     ///< tuned_*.csv, in every build

}  // namespace attnprof
