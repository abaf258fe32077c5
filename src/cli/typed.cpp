#include "cli/typed.hpp"

#include <fmt/format.h>

#include <filesystem>

#include "core/error.hpp"
#include "rows/csv.hpp"

namespace attnprof {

CLI::Validator number_within(double low, double high) {
  return CLI::Validator(
      [low, high](std::string& text) {
        const std::optional<double> value = cell_number(text);
        if (value && *value >= low && *value <= high) return std::string();
        return fmt::format("'{}' is not a number from {} to {}", text, low, high);
      },
      fmt::format("NUMBER in [{} - {}]", low, high));
}

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
