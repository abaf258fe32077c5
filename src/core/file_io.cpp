#include "core/file_io.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <iterator>
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

/// Locks a regular file for writing. File systems that know no locks are written to without.
void lock_for_writing(int fd, const std::string& path) {
  while (::flock(fd, LOCK_EX | LOCK_NB) != 0) {
    if (errno == EINTR) continue;
    if (errno != EWOULDBLOCK) return;
    throw UsageError("'" + path + "' is being written by another attnprof; choose another file");
  }
}

void require_access(const std::string& named, const std::string& file, int mode) {
  if (::faccessat(AT_FDCWD, file.c_str(), mode, AT_EACCESS) != 0) cannot("open", named, errno);
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

std::string read_input(const std::string& path) {
  if (path != "-") return read_whole_file(path);
  return {std::istreambuf_iterator<char>(std::cin), std::istreambuf_iterator<char>()};
}

std::string input_name(const std::string& path) {
  return path == "-" ? "(stdin)" : path;
}

std::optional<std::string> read_existing(const std::string& path) {
  struct stat status {};
  if (path == "-" || ::stat(path.c_str(), &status) != 0) return std::nullopt;
  if (S_ISDIR(status.st_mode)) cannot("read", path, EISDIR);
  if (!S_ISREG(status.st_mode)) return std::nullopt;
  return read_whole_file(path);
}

void require_writable(const std::string& path) {
  if (path == "-") return;
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) {
    if (errno != ENOENT || path.empty()) cannot("open", path, errno);
    const std::string folder = std::filesystem::path(path).parent_path().string();
    return require_access(path, folder.empty() ? "." : folder, W_OK | X_OK);
  }
  if (S_ISDIR(status.st_mode)) cannot("open", path, EISDIR);
  if (!S_ISREG(status.st_mode)) return require_access(path, path, W_OK);  // opening a pipe would wait
  const int fd = ::open(path.c_str(), O_WRONLY | O_CLOEXEC);
  if (fd < 0) cannot("open", path, errno);
  const Descriptor closer{fd};
  lock_for_writing(fd, path);
}

void replace_file(const std::string& path, std::string_view text) {
  require_writable(path);
  std::error_code error;
  const std::string target = std::filesystem::weakly_canonical(path, error).string();
  if (error) cannot("replace", path, error.value());
  struct stat status {};
  const bool exists = ::stat(target.c_str(), &status) == 0;
  if (exists && !S_ISREG(status.st_mode)) cannot("replace", path, EINVAL);
  std::string temporary = target + ".XXXXXX";
  const int fd = ::mkstemp(temporary.data());
  if (fd < 0) cannot("write beside", path, errno);
  int failed = 0;
  {
    const Descriptor closer{fd};
    const mode_t mask = ::umask(0);
    ::umask(mask);
    if (::fchmod(fd, exists ? status.st_mode & 07777 : 0666 & ~mask) != 0) failed = errno;
    for (size_t done = 0; failed == 0 && done < text.size();) {
      const ssize_t put = ::write(fd, text.data() + done, text.size() - done);
      if (put > 0) done += static_cast<size_t>(put);
      if (put < 0 && errno != EINTR) failed = errno;
    }
    if (failed == 0 && ::fsync(fd) != 0) failed = errno;  // the name must not come before the content
  }
  if (failed == 0 && ::rename(temporary.c_str(), target.c_str()) != 0) failed = errno;
  if (failed == 0) return;
  ::unlink(temporary.c_str());
  cannot("replace", path, failed);
}

OutputFile::OutputFile(const std::string& path, bool append) : name_(path) {
  if (path == "-") {
    name_ = "standard output";
    fd_ = STDOUT_FILENO;
  } else {
    fd_ = ::open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC | (append ? O_APPEND : 0), 0666);
    if (fd_ < 0) fail("open", errno);
    owned_ = true;
    try {
      struct stat status {};
      regular_ = ::fstat(fd_, &status) == 0 && S_ISREG(status.st_mode);
      if (regular_) lock_for_writing(fd_, path);
      if (regular_ && !append) truncate(0);  // not by open(): the content may be another's
    } catch (...) {
      ::close(fd_);
      throw;
    }
  }
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
      if (regular_ && done > 0 && ::fstat(fd_, &status) == 0 && static_cast<size_t>(status.st_size) >= done) {
        [[maybe_unused]] const int cut = ::ftruncate(fd_, status.st_size - static_cast<off_t>(done));
      }
      fail("write to", error);
    }
  }
}

void OutputFile::truncate(uint64_t bytes) {
  if (::ftruncate(fd_, static_cast<off_t>(bytes)) != 0 ||
      ::lseek(fd_, static_cast<off_t>(bytes), SEEK_SET) < 0) {
    fail("cut", errno);
  }
}

void OutputFile::fail(const char* attempt, int error) const {
  cannot(attempt, name_, error);
}

}  // namespace attnprof
