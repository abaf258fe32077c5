// The built program run as its users run it.
#pragma once

#include <sys/wait.h>

#include <cstdlib>
#include <string>

#include "temp_folder.hpp"
#include "text.hpp"

struct Outcome {
  int exit_code = -1;
  std::string out;
  std::string err;
};

inline int lines(const std::string& text) {
  int count = 0;
  for (char c : text) count += c == '\n';
  return count;
}

/// Through a shell; `prefix` may set variables.
inline Outcome run_program(const std::string& arguments, const std::string& prefix = "") {
  const TempFolder scratch;
  const std::string out = scratch.file("out"), err = scratch.file("err");
  const std::string command =
      prefix + " '" ATTNPROF_BINARY "' " + arguments + " >" + out + " 2>" + err + " </dev/null";
  const int status = std::system(command.c_str());
  return {WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status), slurp(out), slurp(err)};
}
