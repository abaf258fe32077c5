// The program behind main(): parse, run, one catch.
#pragma once

namespace attnprof {

/// Runs one command line and returns the exit code that `attnprof --help` documents. Changes nothing of the
/// process but what it prints, so tests call it as well.
int run_attnprof(int argc, char** argv);

}  // namespace attnprof
