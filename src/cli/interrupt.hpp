// Ctrl-C: the first asks for an orderly end, the second ends at once.
#pragma once

#include <atomic>

namespace attnprof {

/// SIGINT and SIGTERM set stop_requested(). SIGPIPE and SIGXFSZ are ignored, so that writing to a closed pipe
/// or past a limit is an error like any other.
void install_signal_handlers();

const std::atomic<bool>& stop_requested();

}  // namespace attnprof
