#include "core/utc.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <ctime>

namespace attnprof {

namespace {

std::string utc_text(std::time_t time) {
  std::tm utc{};
  gmtime_r(&time, &utc);
  char text[32];
  std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &utc);
  return text;
}

}  // namespace

std::string utc_now() {
  return utc_text(std::time(nullptr));
}

std::optional<int64_t> utc_seconds(std::string_view text) {
  std::tm utc{};
  const std::string copy(text);
  const char* end = strptime(copy.c_str(), "%Y-%m-%dT%H:%M:%SZ", &utc);
  if (end == nullptr || *end != '\0') return std::nullopt;
  const std::time_t time = timegm(&utc);
  // strptime takes one-digit months and the like; what it took must be what we write.
  if (utc_text(time) != text) return std::nullopt;
  return static_cast<int64_t>(time);
}

std::string age_text(int64_t seconds) {
  seconds = std::max<int64_t>(seconds, 0);
  if (seconds < 120) return fmt::format("{} s", seconds);
  if (seconds < 2 * 3600) return fmt::format("{} min", seconds / 60);
  if (seconds < 2 * 86400) return fmt::format("{} h", seconds / 3600);
  return fmt::format("{} days", seconds / 86400);
}

}  // namespace attnprof
