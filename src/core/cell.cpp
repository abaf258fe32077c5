// Only std::to_chars and std::from_chars touch numbers: no locale can reach them.
#include "core/cell.hpp"

#include <fmt/format.h>

#include <charconv>
#include <cmath>

namespace attnprof {

std::string cell_text(const Cell& cell) {
  char digits[32];
  if (const auto* text = std::get_if<std::string>(&cell)) return *text;
  if (const auto* whole = std::get_if<int64_t>(&cell)) {
    return {digits, std::to_chars(digits, digits + sizeof digits, *whole).ptr};
  }
  if (const auto* real = std::get_if<double>(&cell); real && std::isfinite(*real)) {
    return {digits, std::to_chars(digits, digits + sizeof digits, *real).ptr};
  }
  return {};
}

std::optional<double> cell_number(std::string_view text) {
  double value = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (text.empty() || error != std::errc{} || stop != end || !std::isfinite(value)) return std::nullopt;
  return value;
}

std::string key_part(std::string_view cell) {
  if (cell.find('.') == std::string_view::npos) return std::string(cell);
  const auto value = cell_number(cell);
  if (!value) return std::string(cell);
  char digits[64];
  return {digits, std::to_chars(digits, digits + sizeof digits, *value, std::chars_format::general, 12).ptr};
}

std::string human_count(int64_t value) {
  if (value > 0 && value % (int64_t{1} << 20) == 0) return fmt::format("{}m", value >> 20);
  if (value > 0 && value % 1024 == 0) return fmt::format("{}k", value / 1024);
  return fmt::format("{}", value);
}

}  // namespace attnprof
