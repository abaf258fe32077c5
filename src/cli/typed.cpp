#include "cli/typed.hpp"

#include <fmt/format.h>

#include <filesystem>

#include "core/error.hpp"
#include "report/csv.hpp"

namespace attnprof {

CLI::Validator number_within(double low, double high) {
  return CLI::Validator(
      [low, high](std::string& text) {
        const std::optional<double> value = cell_number(text);
        if (value && *value >= low && *value <= high) return std::string();
        return fmt::format("'{}' is not a number from {} to {}", text, low, high);
      },
      "");
}

void refuse_overwriting(const char* option, const std::string& output,
                        const std::vector<std::string>& inputs) {
  for (const std::string& input : inputs) {
    std::error_code ignored;
    if (output != "-" && std::filesystem::equivalent(output, input, ignored))
      throw UsageError(
          fmt::format("{}: '{}' is read as well and would be lost; write elsewhere", option, output));
  }
}

}  // namespace attnprof
