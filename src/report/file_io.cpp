#include "report/file_io.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <system_error>

#include "core/error.hpp"

namespace attnprof {

namespace {

std::string cause_of(int error) {
  if (error == EISDIR) return "it is a directory";
  if (error == ENOENT) return "no such file or directory";
  return std::generic_category().message(error);
}

[[noreturn]] void cannot(const std::string& attempt, const std::string& name, int error) {
  throw UsageError("cannot " + attempt + " '" + name + "': " + cause_of(error));
}

struct Descriptor {
  int fd;
  ~Descriptor() { ::close(fd); }
};

}  // namespace

std::string read_whole_file(const std::string& path) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) cannot("read", path, errno);
  const Descriptor closer{fd};
  std::string text;
  size_t used = 0;
  while (true) {
    text.resize(used + (1u << 20));
    const ssize_t got = ::read(fd, text.data() + used, text.size() - used);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) cannot("read", path, errno);
    used += static_cast<size_t>(got);
    if (got == 0) break;
  }
  text.resize(used);
  return text;
}

std::optional<std::string> read_existing(const std::string& path) {
  struct stat status {};
  if (path == "-" || ::stat(path.c_str(), &status) != 0) return std::nullopt;
  if (S_ISDIR(status.st_mode)) cannot("read", path, EISDIR);
  if (!S_ISREG(status.st_mode)) return std::nullopt;
  return read_whole_file(path);
}

OutputFile::OutputFile(const std::string& path, bool append) : name_(path) {
  if (path == "-") {
    name_ = "standard output";
    fd_ = STDOUT_FILENO;
  } else {
    const int disposition = append ? O_APPEND : O_TRUNC;
    fd_ = ::open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC | disposition, 0666);
    if (fd_ < 0) fail("open", errno);
    owned_ = true;
  }
  struct stat status {};
  regular_ = ::fstat(fd_, &status) == 0 && S_ISREG(status.st_mode);
}

OutputFile::~OutputFile() {
  if (owned_) ::close(fd_);
}

void OutputFile::write(std::string_view text) {
  if (!owned_) std::fflush(stdout);  // what others printed before comes first
  size_t done = 0;
  while (done < text.size()) {
    const ssize_t put = ::write(fd_, text.data() + done, text.size() - done);
    if (put >= 0) {
      done += static_cast<size_t>(put);
    } else if (errno == EAGAIN) {  // a terminal or pipe that somebody made non-blocking
      pollfd ready{fd_, POLLOUT, 0};
      ::poll(&ready, 1, -1);
    } else if (errno != EINTR) {
      const int error = errno;
      struct stat status {};
      // A row is there whole or not at all, so that the file stays readable.
      if (owned_ && regular_ && done > 0 && ::fstat(fd_, &status) == 0 &&
          static_cast<size_t>(status.st_size) >= done) {
        [[maybe_unused]] const int cut = ::ftruncate(fd_, status.st_size - static_cast<off_t>(done));
      }
      fail("write to", error);
    }
  }
}

void OutputFile::truncate(uint64_t bytes) {
  if (::ftruncate(fd_, static_cast<off_t>(bytes)) != 0 ||
      ::lseek(fd_, static_cast<off_t>(bytes), SEEK_SET) < 0) {
    fail("cut the torn last row off", errno);
  }
}

void OutputFile::fail(const char* attempt, int error) const {
  cannot(attempt, name_, error);
}

}  // namespace attnprof
