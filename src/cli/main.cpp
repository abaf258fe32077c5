// attnprof: parse, run, one catch, documented exit codes.
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <exception>
#include <new>

#include "cli/commands.hpp"
#include "cli/interrupt.hpp"
#include "cli/say.hpp"
#include "core/error.hpp"

namespace {

constexpr const char* kFooter =
    "Exit codes: 0 done, or holds; 1 regression found; 2 usage or bad input; 3 asked-for device or counters "
    "not available,\n"
    "a sweep of which no row could be measured, or a comparison that cannot be made; 4 a result failed "
    "verification or\n"
    "could not be measured; 130 interrupted.";

/// One line on stderr; exit code as given.
int complain(const char* message, attnprof::ExitCode code) {
  attnprof::say("{}", message);
  return static_cast<int>(code);
}

int parse_error(const CLI::App& app, const CLI::ParseError& error) {
  const std::string message = error.what();
  const auto chosen = app.get_subcommands();
  const std::string help =
      chosen.empty() ? "attnprof --help" : "attnprof " + chosen.front()->get_name() + " --help";
  return complain(fmt::format("{}; see `{}`", message, help).c_str(), attnprof::ExitCode::usage);
}

/// A file opened while one of 0..2 is closed would take its number, and every message would land in that
/// file.
void open_standard_streams() {
  while (true) {
    const int fd = open("/dev/null", O_RDWR);
    if (fd > STDERR_FILENO) close(fd);
    if (fd < 0 || fd > STDERR_FILENO) return;
  }
}

/// The first word, when it is no command: CLI11 would only say that one is required.
std::string unknown_command(const CLI::App& app, int argc, char** argv) {
  if (argc < 2 || argv[1][0] == '-') return "";
  std::string known;
  for (const CLI::App* command : app.get_subcommands(nullptr)) {
    if (command->get_name() == argv[1]) return "";
    known += (known.empty() ? "" : ", ") + command->get_name();
  }
  return fmt::format("'{}' is no command; commands: {}", argv[1], known);
}

/// What the commands printed must have arrived.
int flushed(int code) {
  if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return code;
  return complain("cannot write to standard output: it is closed or full", attnprof::ExitCode::usage);
}

}  // namespace

int main(int argc, char** argv) {
  open_standard_streams();
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
  attnprof::add_tune(app, action);
  attnprof::add_model(app, action);
  attnprof::add_trace(app, action);
  attnprof::add_ceilings(app, action);
  attnprof::add_merge(app, action);
  attnprof::add_check(app, action);
  attnprof::add_compare(app, action);
  attnprof::add_report(app, action);
  attnprof::add_list(app, action);
  try {
    const std::string unknown = unknown_command(app, argc, argv);
    if (!unknown.empty()) return complain(unknown.c_str(), attnprof::ExitCode::usage);
    app.parse(argc, argv);
    return flushed(action());
  } catch (const CLI::CallForHelp& e) {
    return app.exit(e);
  } catch (const CLI::CallForAllHelp& e) {
    return app.exit(e);
  } catch (const CLI::CallForVersion& e) {
    return app.exit(e);
  } catch (const CLI::ParseError& e) {
    return parse_error(app, e);
  } catch (const attnprof::Error& e) {
    if (verbose) attnprof::say("raised at {}:{}", e.where().file_name(), e.where().line());
    return complain(e.what(), e.code());
  } catch (const std::bad_alloc&) {
    return complain("the host ran out of memory; use a smaller problem", attnprof::ExitCode::usage);
  } catch (const std::exception& e) {
    return complain(e.what(), attnprof::ExitCode::usage);
  }
}
