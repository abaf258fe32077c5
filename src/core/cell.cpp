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

namespace {

/// Significant digits of a number as it is written.
int digits_of(std::string_view cell) {
  int count = 0;
  for (const char c : cell.substr(0, cell.find_first_of("eE"))) {
    if (c >= '0' && c <= '9' && (count > 0 || c != '0')) ++count;
  }
  return count;
}

/// 1/sqrt(n) where the cell, `value`, is that number to its digits.
double default_scale_or(double value, std::string_view cell) {
  constexpr double kWidestHead = 1 << 13, kHalfStepOfFloat = 0x1p-24;
  const double n = std::round(1 / (value * value));
  if (!(value > 0 && n >= 1 && n <= kWidestHead)) return value;
  const double scale = 1 / std::sqrt(n);
  if (std::abs(value - scale) > kHalfStepOfFloat * scale) return value;
  const auto rounded = cell_number(fmt::format("{:.{}e}", scale, digits_of(cell) - 1));
  return rounded == value ? scale : value;
}

}  // namespace

std::string key_part(std::string_view cell) {
  if (cell.find('.') == std::string_view::npos) return std::string(cell);
  const auto value = cell_number(cell);
  if (!value) return std::string(cell);
  char digits[64];
  return {digits, std::to_chars(digits, digits + sizeof digits, default_scale_or(*value, cell),
                                std::chars_format::general, 12)
                      .ptr};
}

std::string human_count(int64_t value) {
  if (value > 0 && value % (int64_t{1} << 20) == 0) return fmt::format("{}m", value >> 20);
  if (value > 0 && value % 1024 == 0) return fmt::format("{}k", value / 1024);
  return fmt::format("{}", value);
}

}  // namespace attnprof
