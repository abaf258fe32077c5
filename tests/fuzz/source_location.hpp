// clang 14 reads libstdc++'s <source_location> and finds it empty: it lacks the built-in function that GCC
// has. Included before everything else where that is so (CMakeLists.txt).
#pragma once

#include <cstdint>

namespace std {

struct source_location {
  static constexpr source_location current(const char* file = __builtin_FILE(),
                                           uint_least32_t line = __builtin_LINE()) {
    source_location where;
    where.file_ = file;
    where.line_ = line;
    return where;
  }
  constexpr const char* file_name() const { return file_; }
  constexpr uint_least32_t line() const { return line_; }

 private:
  const char* file_ = "";
  uint_least32_t line_ = 0;
};

}  // namespace std
