// The list of everything that can be measured. Adding an implementation is a folder in kernels/ or baselines/
// and a line in implementations.cpp.
#pragma once

#include <string_view>
#include <vector>

#include "core/implementation.hpp"

namespace attnprof {

/// Every implementation built in, in the order `attnprof list` prints them; fwd+bwd for each that has both
/// passes.
const std::vector<Implementation>& registry();

/// Finds `name` for the kind of `device` and for `pass`; where the name has no such pass, one that it has.
/// The alias "fused" is the best fused kernel of that device. Throws UsageError listing the names known for
/// that kind.
const Implementation& find_implementation(std::string_view name, const DeviceInfo& device,
                                          Pass pass = Pass::fwd);

}  // namespace attnprof
