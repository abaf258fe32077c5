// Files of the source tree that the build put into the binary as text, so that the tool needs no tree beside
// it.
#pragma once

#include <string>
#include <vector>

namespace attnprof {

struct EmbeddedFile {
  std::string path;  ///< as an #include names it: "kernels/device/ptx.cuh", "core/random.hpp"
  std::string text;
};

const std::vector<EmbeddedFile>& device_sources();  ///< what NVRTC compiles, and what that includes
const std::vector<EmbeddedFile>& shipped_tuned();   ///< kernels/tuned_*.csv
const std::vector<EmbeddedFile>& page_parts();      ///< html/page/*

}  // namespace attnprof
