// The device sources of kernels/ and baselines/, as text inside the binary (generated at build time).
#pragma once

#include <string>
#include <vector>

namespace attnprof {

struct EmbeddedSource {
  std::string name;  ///< file name without folder: "flash2.cu", "ptx.cuh"
  std::string text;
};

const std::vector<EmbeddedSource>& embedded_sources();

}  // namespace attnprof
