#include "cli/interrupt.hpp"

#include <unistd.h>

#include <csignal>

#include "core/error.hpp"

namespace attnprof {
namespace {

std::atomic<bool> stop{false};

void on_signal(int) {
  if (stop.exchange(true)) _exit(static_cast<int>(ExitCode::interrupted));
}

}  // namespace

void install_signal_handlers() {
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGINT, on_signal);
  std::signal(SIGTERM, on_signal);
}

const std::atomic<bool>& stop_requested() {
  return stop;
}

}  // namespace attnprof
