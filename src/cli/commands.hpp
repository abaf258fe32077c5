// Every subcommand: an options struct bound in add_*, and a run function that returns the exit code.
#pragma once

#include "cli/command.hpp"

namespace attnprof {

void add_sweep(CommandLine& line);
void add_verify(CommandLine& line);
void add_tune(CommandLine& line);
void add_model(CommandLine& line);
void add_trace(CommandLine& line);
void add_ceilings(CommandLine& line);
void add_merge(CommandLine& line);
void add_rows(CommandLine& line);
void add_check(CommandLine& line);
void add_compare(CommandLine& line);
void add_report(CommandLine& line);
void add_list(CommandLine& line);

}  // namespace attnprof
