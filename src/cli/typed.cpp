#include "cli/typed.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "core/error.hpp"
#include "core/file_io.hpp"
#include "core/text.hpp"
#include "rows/existing_csv.hpp"

namespace attnprof {

namespace {

/// CSV or JSON lines, by their first line.
bool are_rows(std::string_view text) {
  const std::string_view first = text.substr(0, text.find('\n'));
  if (first.rfind("{\"schema\":", 0) == 0) return true;
  const std::vector<std::string_view> cells = split(first, ',');
  return std::count(cells.begin(), cells.end(), "schema") + std::count(cells.begin(), cells.end(), "impl") ==
         2;
}

}  // namespace

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

bool holds_something(const std::string& path) {
  const auto text = path.empty() ? std::nullopt : read_existing(path);
  return text && header_line().rfind(*text, 0) != 0;  // a run can die while it writes the header
}

void refuse_losing(const char* option, const std::string& path, const char* instead) {
  require_writable(path);
  if (!holds_something(path)) return;
  throw UsageError(
      fmt::format("{}: '{}' holds something, which would be lost; give {}", option, path, instead));
}

void refuse_losing_rows(const char* option, const std::string& path) {
  require_writable(path);
  const auto text = read_existing(path);
  if (!text || !are_rows(*text)) return;
  throw UsageError(fmt::format("{}: '{}' holds rows, which would be lost; write elsewhere", option, path));
}

}  // namespace attnprof
