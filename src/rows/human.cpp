#include "rows/human.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace attnprof {

std::string number_of(size_t count, const char* noun) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

void Tally::add(const std::string& text) {
  const auto at =
      std::find_if(items.begin(), items.end(), [&](const auto& item) { return item.first == text; });
  if (at == items.end()) {
    items.emplace_back(text, 1);
  } else {
    ++at->second;
  }
}

}  // namespace attnprof
