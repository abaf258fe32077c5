// What a case asks for beyond a plain forward pass over one dtype: each has to be claimed by an
// implementation, or the planner refuses the case. So a new feature is refused by every kernel that does not
// know of it.
#pragma once

#include <string>
#include <vector>

#include "core/problem.hpp"

namespace attnprof {

/// Its dtype ("bf16"), then "causal", "window", "gqa", "dropout": whatever the axes of the case name
/// (Axis::feature, core/axis.hpp).
std::vector<std::string> features(const Case& c);

}  // namespace attnprof
