// A file that the build put into the binary as text.
#pragma once

#include <string>

namespace attnprof {

struct EmbeddedSource {
  std::string name;  ///< file name without folder: "flash2.cu", "page.css"
  std::string text;
};

}  // namespace attnprof
