// One value of a row, typed, and its text: in any locale, and back to the same value.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

namespace attnprof {

/// A missing number is monostate, a missing text is "": an empty cell in CSV, null in JSON. Never 0.
using Cell = std::variant<std::monostate, std::string, int64_t, double>;

/// Shortest text that reads back to the same value, in any locale; "" when missing, and for NaN and infinity.
std::string cell_text(const Cell& cell);
/// The number that a whole cell holds, in any locale; nothing when it is empty, not a number, NaN or
/// infinite.
std::optional<double> cell_number(std::string_view text);
/// One cell as it stands in a key. Spreadsheets keep 15 digits at most and drop trailing zeros: fractions are
/// compared by 12 digits. They show fewer, and some save what they show: a cell that is 1/sqrt(n), the
/// default scale of a head of n, to the digits that it has, is that number when fp32 cannot tell the two
/// apart.
std::string key_part(std::string_view cell);

std::string human_count(int64_t value);  ///< 1024 -> "1k", 1536 -> "1536"

}  // namespace attnprof
