#include "cli/typed.hpp"

#include <fmt/format.h>

#include <filesystem>

#include "core/error.hpp"

namespace attnprof {

bool same_file(const std::string& a, const std::string& b) {
  std::error_code ignored;
  return a == b || std::filesystem::equivalent(a, b, ignored);
}

void refuse_overwriting(const char* option, const std::string& output,
                        const std::vector<std::string>& inputs) {
  for (const std::string& input : inputs) {
    if (output != "-" && same_file(output, input))
      throw UsageError(
          fmt::format("{}: '{}' is read as well and would be lost; write elsewhere", option, output));
  }
}

}  // namespace attnprof
