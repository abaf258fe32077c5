// The table of everything that can be measured. Adding an implementation is one file and one line of
// registry.cpp.
#pragma once

#include <string_view>
#include <vector>

#include "core/implementation.hpp"

namespace attnprof {

/// Every implementation built in, in the order `attnprof list` prints them.
const std::vector<Implementation>& registry();

/// Finds `name` for the kind of `device`. The alias "fused" is the best fused kernel of that device.
/// Throws UsageError listing the names known for that kind.
const Implementation& find_implementation(std::string_view name, const DeviceInfo& device);

}  // namespace attnprof
