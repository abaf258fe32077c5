#include "cli/program.hpp"

#include <cstdio>
#include <exception>
#include <new>

#include "cli/commands.hpp"
#include "cli/say.hpp"
#include "core/error.hpp"

namespace attnprof {
namespace {

constexpr const char* kAbout =
    "attnprof measures exact attention: bytes, FLOPs and time of baselines and fused kernels.";

constexpr const char* kFooter =
    "Exit codes: 0 done, or holds; 1 regression found; 2 usage or bad input; 3 asked-for device or counters "
    "not available,\n"
    "a sweep of which no row could be measured, or a comparison that cannot be made; 4 a result failed "
    "verification or\n"
    "could not be measured; 130 interrupted.";

void add_commands(CommandLine& line) {
  add_sweep(line);
  add_verify(line);
  add_tune(line);
  add_model(line);
  add_trace(line);
  add_ceilings(line);
  add_merge(line);
  add_rows(line);
  add_check(line);
  add_compare(line);
  add_report(line);
  add_list(line);
}

/// What the commands printed must have arrived.
int flushed(int code) {
  if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return code;
  throw UsageError("cannot write to standard output: it is closed or full");
}

/// One line on stderr; the exit code.
int complain(const std::exception& e, bool verbose) {
  const auto* error = dynamic_cast<const Error*>(&e);
  if (error && verbose) say("raised at {}:{}", error->where().file_name(), error->where().line());
  const bool no_memory = dynamic_cast<const std::bad_alloc*>(&e) != nullptr;
  say("{}", no_memory ? "the host ran out of memory; use a smaller problem" : e.what());
  return static_cast<int>(error ? error->code() : ExitCode::usage);
}

}  // namespace

int run_attnprof(int argc, char** argv) {
  bool verbose = false;
  try {
    CommandLine line(kAbout, "attnprof " ATTNPROF_VERSION, kFooter);
    line.flag("--verbose", verbose, "Say where in the source an error was raised");
    add_commands(line);
    const std::function<int()> run = line.parse(argc, argv);
    return flushed(run());
  } catch (const std::exception& e) {
    return complain(e, verbose);
  }
}

}  // namespace attnprof
