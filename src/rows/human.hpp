// Counts of things in words.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "core/cell.hpp"
#include "core/units.hpp"

namespace attnprof {

std::string number_of(size_t count, const char* noun);  ///< "1 row", "3 rows"

/// How often each text came, in the order of first appearance.
struct Tally {
  std::vector<std::pair<std::string, size_t>> items;
  void add(const std::string& text);
};

}  // namespace attnprof
