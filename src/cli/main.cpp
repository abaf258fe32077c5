// attnprof's entry: what belongs to the process, then the program.
#include <fcntl.h>
#include <unistd.h>

#include "cli/interrupt.hpp"
#include "cli/program.hpp"

namespace {

/// A file opened while one of 0..2 is closed would take its number, and every message would land in that
/// file.
void open_standard_streams() {
  while (true) {
    const int fd = open("/dev/null", O_RDWR);
    if (fd > STDERR_FILENO) close(fd);
    if (fd < 0 || fd > STDERR_FILENO) return;
  }
}

}  // namespace

int main(int argc, char** argv) {
  open_standard_streams();
  attnprof::install_signal_handlers();
  return attnprof::run_attnprof(argc, argv);
}
