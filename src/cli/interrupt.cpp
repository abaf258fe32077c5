#include "cli/interrupt.hpp"

#include <unistd.h>

#include <csignal>

#include "core/error.hpp"

namespace attnprof {
namespace {

std::atomic<bool> stop{false};

void on_signal(int) {
  if (stop.exchange(true)) _exit(static_cast<int>(ExitCode::interrupted));
  constexpr char kWord[] = "\nattnprof: finishing the rows in hand; interrupt again to end at once\n";
  [[maybe_unused]] const ssize_t put = write(STDERR_FILENO, kWord, sizeof kWord - 1);
}

}  // namespace

void install_signal_handlers() {
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);  // a file size limit: write() says EFBIG
  std::signal(SIGINT, on_signal);
  std::signal(SIGTERM, on_signal);
}

const std::atomic<bool>& stop_requested() {
  return stop;
}

}  // namespace attnprof
