// Figures for people: three significant digits and a unit. Inside src/report; the public part is in
// table.hpp.
#pragma once

#include <cstdint>
#include <string>

#include "core/cell.hpp"

namespace attnprof {

std::string three_digits(double value);                 ///< "4.10", "41.0", "410", "0.0012"
std::string number_of(size_t count, const char* noun);  ///< "1 row", "3 rows"

/// Two values in the unit of the larger one: "4.10 -> 0.31 GB".
std::string human_bytes_change(double from, double to);
std::string human_time_change(double from_us, double to_us);

}  // namespace attnprof
