#include "cli/terminal.hpp"

#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdlib>

namespace attnprof {

TableStyle terminal_style() {
  TableStyle style;
  if (isatty(STDOUT_FILENO) == 0) return style;
  style.color = std::getenv("NO_COLOR") == nullptr;
  winsize size{};
  if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) style.width = size.ws_col;
  return style;
}

}  // namespace attnprof
