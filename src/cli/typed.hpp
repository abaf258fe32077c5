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

/// Whether writing `path` anew loses anything: a regular file that holds more than our header of a CSV.
bool holds_something(const std::string& path);

/// Throws UsageError that names `option` and `instead` ("--resume to continue it, or --overwrite") when
/// `path` cannot be written, or holds something.
void refuse_losing(const char* option, const std::string& path, const char* instead);

/// The same for a file that is no table of rows, and may be written again and again, such as a report: only
/// rows, CSV or JSON lines, are kept from it.
void refuse_losing_rows(const char* option, const std::string& path);

}  // namespace attnprof
