# Flags of a build with fuzzers (tests/fuzz): clang's coverage and sanitizers in everything, and a stop at the first finding.
if(NOT CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
  message(FATAL_ERROR "ATTNPROF_FUZZ needs clang: cmake --preset fuzz -DCMAKE_CXX_COMPILER=clang++")
endif()
target_compile_options(attnprof_options INTERFACE -fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=all)
target_link_options(attnprof_options INTERFACE -fsanitize=address,undefined)

set(CMAKE_REQUIRED_FLAGS -std=c++20)
include(CheckCXXSourceCompiles)
check_cxx_source_compiles("#include <source_location>
int main() { return std::source_location::current().line() == 0; }" ATTNPROF_HAS_SOURCE_LOCATION)
unset(CMAKE_REQUIRED_FLAGS)
if(NOT ATTNPROF_HAS_SOURCE_LOCATION)
  target_compile_options(attnprof_options INTERFACE -include ${PROJECT_SOURCE_DIR}/tests/fuzz/source_location.hpp)
endif()
