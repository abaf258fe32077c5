// --config: a TOML file with the options of a command as its keys.
#pragma once

#include <string>
#include <string_view>

#include "cli/command.hpp"

namespace attnprof {

/// Sets the options of `command` that were not typed from the file at `path`, if there is one. Keys are the
/// long names of options, at top level or in a table with the command's name, which wins. Tables of other
/// commands are skipped. Throws UsageError "FILE:LINE:COLUMN: ...".
void apply_config_file(Command& command, const std::string& path);
/// The same for the text of a file called `name`.
void apply_config(Command& command, std::string_view text, const std::string& name);

}  // namespace attnprof
