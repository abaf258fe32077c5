// Points in time as text: UTC, ISO 8601, whole seconds.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace attnprof {

std::string utc_now();  ///< "2026-11-29T18:04:05Z"

/// Seconds since 1970 of a text that utc_now could have written; nothing for any other.
std::optional<int64_t> utc_seconds(std::string_view text);

/// "12 s", "5 min", "3 h", "2 days": how long ago, in one unit. What lies in the future is "0 s" ago.
std::string age_text(int64_t seconds);

}  // namespace attnprof
