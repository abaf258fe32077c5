#include "core/units.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace attnprof {

namespace {

struct Unit {
  double size;
  const char* name;
};
constexpr std::array kBytes{Unit{1e12, "TB"}, Unit{1e9, "GB"}, Unit{1e6, "MB"}, Unit{1e3, "kB"},
                            Unit{1, "B"}};
constexpr std::array kTimes{Unit{1e6, "s"}, Unit{1e3, "ms"}, Unit{1, "us"}};
constexpr std::array kRates{Unit{1e15, "PFLOP/s"}, Unit{1e12, "TFLOP/s"}, Unit{1e9, "GFLOP/s"},
                            Unit{1e6, "MFLOP/s"}};

/// The largest unit of which `value` has one; the smallest otherwise. 999.6 counts as 1000: it would be
/// printed so.
template <size_t N>
const Unit& unit_for(const std::array<Unit, N>& units, double value) {
  for (const Unit& unit : units) {
    if (std::abs(value) >= unit.size * 0.9995) return unit;
  }
  return units.back();
}

template <size_t N>
std::string with_unit(const std::array<Unit, N>& units, double value) {
  if (!std::isfinite(value)) return "-";
  const Unit& unit = unit_for(units, value);
  const double scaled = value / unit.size;
  const bool whole = unit.size == 1 && units.size() == kBytes.size();  // there is no part of a byte
  return (whole ? fmt::format("{:.0f}", scaled) : three_digits(scaled)) + " " + unit.name;
}

template <size_t N>
std::string change(const std::array<Unit, N>& units, double from, double to) {
  const Unit& unit = unit_for(units, std::max(from, to));
  return fmt::format("{} -> {} {}", three_digits(from / unit.size), three_digits(to / unit.size), unit.name);
}

}  // namespace

std::string three_digits(double value) {
  const double size = std::abs(value);
  if (size == 0) return "0";
  if (size >= 99.95) return fmt::format("{:.0f}", value);
  if (size >= 9.995) return fmt::format("{:.1f}", value);
  if (size >= 0.0995) return fmt::format("{:.2f}", value);
  return fmt::format("{:.2g}", value);
}

std::string human_bytes(double bytes) {
  return with_unit(kBytes, bytes);
}
std::string human_time_us(double us) {
  return with_unit(kTimes, us);
}
std::string human_rate_flops(double flops_per_s) {
  return with_unit(kRates, flops_per_s);
}
std::string human_bytes_change(double from, double to) {
  return change(kBytes, from, to);
}
std::string human_time_change(double from_us, double to_us) {
  return change(kTimes, from_us, to_us);
}

}  // namespace attnprof
