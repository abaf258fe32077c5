// The errors the program knows, each with the exit code it ends in.
#pragma once

#include <cstdint>
#include <source_location>
#include <stdexcept>
#include <string>
#include <utility>

namespace attnprof {

/// Exit codes, the same for every command (documented in `--help`).
enum class ExitCode : int {
  ok = 0,
  regression = 1,
  usage = 2,        ///< usage or bad input
  unavailable = 3,  ///< an asked-for device or counters cannot be had
  verification = 4,
  interrupted = 130,
};

/// Base of everything thrown on purpose. `what()` is one line: what was attempted, what went wrong, what
/// would be right. `location` is where it was raised (printed with --verbose).
class Error : public std::runtime_error {
 public:
  Error(ExitCode code, const std::string& message,
        std::source_location where = std::source_location::current())
      : std::runtime_error(message), code_(code), where_(where) {}
  ExitCode code() const { return code_; }
  const std::source_location& where() const { return where_; }

 private:
  ExitCode code_;
  std::source_location where_;
};

/// The user typed or supplied something that cannot be right. Exit code 2.
class UsageError : public Error {
 public:
  explicit UsageError(const std::string& message,
                      std::source_location where = std::source_location::current())
      : Error(ExitCode::usage, message, where) {}
};

/// A device, library or counter that was asked for is not there. Exit code 3.
class UnavailableError : public Error {
 public:
  explicit UnavailableError(const std::string& message,
                            std::source_location where = std::source_location::current())
      : Error(ExitCode::unavailable, message, where) {}
};

/// A measurement of one case failed (launch error, compile error). The row gets status "failed"; the sweep
/// goes on.
class CaseError : public Error {
 public:
  explicit CaseError(const std::string& message, std::source_location where = std::source_location::current())
      : Error(ExitCode::verification, message, where) {}
};

/// The allocator said no. The row gets status "oom".
class OutOfMemory : public Error {
 public:
  /// With more available than needed it was not the machine's memory that ran out: the message says so.
  OutOfMemory(int64_t needed, int64_t available,
              std::source_location where = std::source_location::current());
  int64_t needed_bytes;
  int64_t available_bytes;
};

}  // namespace attnprof
