// --copy-gbps and its like: one meaning in every command that holds rows against ceilings.
#pragma once

#include <optional>
#include <string>

#include "cli/command.hpp"

namespace attnprof {

/// Options that replace what the rows of a file say was measured. `before`: put before each help text. No
/// `exp_gops`, no such option.
void add_given_ceilings(Command& command, const std::string& before, std::optional<double>& copy_gbps,
                        std::optional<double>& matrix_tflops, std::optional<double>* exp_gops);

}  // namespace attnprof
