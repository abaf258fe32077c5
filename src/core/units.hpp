// Figures for people: three significant digits and a unit.
#pragma once

#include <string>

namespace attnprof {

/// Three significant digits, powers of 1000: "4.10 GB", "306 TFLOP/s", "1.24 ms".
std::string human_bytes(double bytes);
std::string human_time_us(double us);
std::string human_rate_flops(double flops_per_s);

std::string three_digits(double value);  ///< "4.10", "41.0", "410", "0.0012"

/// Two values in the unit of the larger one: "4.10 -> 0.31 GB".
std::string human_bytes_change(double from, double to);
std::string human_time_change(double from_us, double to_us);

}  // namespace attnprof
