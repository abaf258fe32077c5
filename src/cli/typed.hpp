// Checks of what was typed that several commands share.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace attnprof {

/// Two names of one file, which need not exist yet; links and detours are seen through where it does.
bool same_file(const std::string& a, const std::string& b);

/// Throws UsageError when `output` is one of `inputs`: writing it would destroy what is read. `option` is
/// named. "-" is two things, and may be both.
void refuse_overwriting(const char* option, const std::string& output,
                        const std::vector<std::string>& inputs);

}  // namespace attnprof
