// Catch2 v3 (Ubuntu 24.04 and newer) or v2 (Debian 12), whichever CMake found.
#pragma once

#include <string>

#ifdef ATTNPROF_CATCH2_V3
#include <catch2/catch_all.hpp>
using Catch::Approx;
#else
#include <catch2/catch.hpp>
#endif

/// Matcher for texts that hold `part`: the two versions name it differently.
inline auto containing(const std::string& part) {
#ifdef ATTNPROF_CATCH2_V3
  return Catch::Matchers::ContainsSubstring(part);
#else
  return Catch::Matchers::Contains(part);
#endif
}
