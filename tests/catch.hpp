// Catch2 v3 (Ubuntu 24.04 and newer) or v2 (Debian 12), whichever CMake found.
#pragma once

#ifdef ATTNPROF_CATCH2_V3
#include <catch2/catch_all.hpp>
using Catch::Approx;
#else
#include <catch2/catch.hpp>
#endif
