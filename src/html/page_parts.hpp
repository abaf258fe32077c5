// The files of src/html/page/, as text inside the binary (generated at build time).
#pragma once

#include <vector>

#include "core/embedded_file.hpp"

namespace attnprof {

const std::vector<EmbeddedSource>& page_parts();

}  // namespace attnprof
