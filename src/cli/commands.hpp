// Every subcommand: an options struct bound by CLI11 in add_*, and a run function that returns the exit code.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>

namespace attnprof {

/// What main runs after parsing: set by the subcommand that was named.
using Action = std::function<int()>;

void add_sweep(CLI::App& app, Action& action);
void add_verify(CLI::App& app, Action& action);
void add_tune(CLI::App& app, Action& action);
void add_model(CLI::App& app, Action& action);
void add_trace(CLI::App& app, Action& action);
void add_ceilings(CLI::App& app, Action& action);
void add_merge(CLI::App& app, Action& action);
void add_check(CLI::App& app, Action& action);
void add_compare(CLI::App& app, Action& action);
void add_report(CLI::App& app, Action& action);
void add_list(CLI::App& app, Action& action);

}  // namespace attnprof
