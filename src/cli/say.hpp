// Words to the user on stderr. Never throws: a closed or full stderr must not end the run.
#pragma once

#include <fmt/format.h>

#include <cstdio>
#include <string>

namespace attnprof {

/// Prints "attnprof: TEXT" as one line.
template <class... Args>
void say(fmt::format_string<Args...> format, Args&&... args) {
  std::string line = "attnprof: " + fmt::format(format, std::forward<Args>(args)...);
  for (char& c : line) {
    if (c == '\n') c = ' ';
  }
  line += '\n';
  std::fputs(line.c_str(), stderr);
}

}  // namespace attnprof
