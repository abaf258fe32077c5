#include "cli/terminal.hpp"

#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>

namespace attnprof {

TableStyle terminal_style() {
  TableStyle style;
  if (isatty(STDOUT_FILENO) == 0) return style;
  const char* no_color = std::getenv("NO_COLOR");  // no-color.org: present and not empty
  const char* terminal = std::getenv("TERM");
  style.color =
      (no_color == nullptr || *no_color == '\0') && terminal != nullptr && std::strcmp(terminal, "dumb") != 0;
  winsize size{};
  if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) style.width = size.ws_col;
  return style;
}

}  // namespace attnprof
