// attnprof: parse, run, one catch, documented exit codes.
#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <csignal>
#include <cstdio>
#include <exception>
#include <new>

#include "cli/commands.hpp"
#include "cli/interrupt.hpp"
#include "core/error.hpp"

namespace {

constexpr const char* kFooter =
    "Exit codes: 0 done; 1 regression found; 2 usage or bad input; 3 asked-for device or counters not "
    "available;\n"
    "4 a result failed verification or could not be measured; 130 interrupted.";

/// One line on stderr; exit code as given.
int complain(const char* message, attnprof::ExitCode code) {
  fmt::print(stderr, "attnprof: {}\n", message);
  return static_cast<int>(code);
}

int parse_error(const CLI::App& app, const CLI::ParseError& error) {
  std::string message = error.what();
  for (char& c : message) {
    if (c == '\n') c = ' ';
  }
  const auto chosen = app.get_subcommands();
  const std::string help =
      chosen.empty() ? "attnprof --help" : "attnprof " + chosen.front()->get_name() + " --help";
  return complain(fmt::format("{}; see `{}`", message, help).c_str(), attnprof::ExitCode::usage);
}

}  // namespace

int main(int argc, char** argv) {
  attnprof::install_signal_handlers();
  CLI::App app{"attnprof measures exact attention: bytes, FLOPs and time of baselines and fused kernels."};
  app.set_version_flag("--version", "attnprof " ATTNPROF_VERSION);
  app.footer(kFooter);
  app.require_subcommand(1);
  bool verbose = false;
  app.add_flag("--verbose", verbose, "Say where in the source an error was raised");
  attnprof::Action action;
  attnprof::add_sweep(app, action);
  attnprof::add_verify(app, action);
  attnprof::add_model(app, action);
  attnprof::add_trace(app, action);
  attnprof::add_ceilings(app, action);
  attnprof::add_list(app, action);
  try {
    app.parse(argc, argv);
    return action();
  } catch (const CLI::CallForHelp& e) {
    return app.exit(e);
  } catch (const CLI::CallForAllHelp& e) {
    return app.exit(e);
  } catch (const CLI::CallForVersion& e) {
    return app.exit(e);
  } catch (const CLI::ParseError& e) {
    return parse_error(app, e);
  } catch (const attnprof::Error& e) {
    if (verbose) fmt::print(stderr, "attnprof: raised at {}:{}\n", e.where().file_name(), e.where().line());
    return complain(e.what(), e.code());
  } catch (const std::bad_alloc&) {
    return complain("the host ran out of memory; use a smaller problem", attnprof::ExitCode::usage);
  } catch (const std::exception& e) {
    return complain(e.what(), attnprof::ExitCode::usage);
  }
}
