#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>

#include "rows/grid.hpp"

namespace attnprof {

namespace {

std::string clock_text(double seconds) {
  const auto whole = static_cast<long long>(std::max(seconds, 0.0) + 0.5);
  if (whole >= 3600) return fmt::format("{}:{:02}:{:02}", whole / 3600, whole / 60 % 60, whole % 60);
  return fmt::format("{}:{:02}", whole / 60, whole % 60);
}

int terminal_width() {
  winsize size{};
  return ::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
}

}  // namespace

std::string progress_line(int done, int total, double elapsed_s, const std::string& what, int width) {
  std::string line = fmt::format("[{}/{}] {}", done, total, clock_text(elapsed_s));
  if (done > 0 && done < total)
    line += fmt::format(", about {} left", clock_text(elapsed_s / done * (total - done)));
  if (!what.empty()) line += ": " + what;
  return cut_to_width(line, static_cast<size_t>(std::max(width, 0)));
}

Progress::Progress(int total, bool enabled)
    : total_(total), enabled_(enabled), start_(std::chrono::steady_clock::now()) {}

Progress::~Progress() {
  clear();
}

void Progress::step(int done, const std::string& what) {
  if (!enabled_) return;
  const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start_;
  // One column stays free: a full line makes some terminals wrap, and then it cannot be rewritten.
  const std::string line =
      "\r\x1b[2K" + progress_line(done, total_, elapsed.count(), what, terminal_width() - 1);
  std::fputs(line.c_str(), stderr);
  std::fflush(stderr);
  shown_ = true;
}

void Progress::clear() {
  if (!shown_) return;
  std::fputs("\r\x1b[2K", stderr);
  std::fflush(stderr);
  shown_ = false;
}

}  // namespace attnprof
