// Files by descriptor: every write is checked, and every refusal names the path and the cause.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace attnprof {

/// Whole content. Throws UsageError for a missing file, a directory, no permission, a read error.
std::string read_whole_file(const std::string& path);
/// The same, or all of standard input for "-"; and the name of either in messages: "(stdin)".
std::string read_input(const std::string& path);
std::string input_name(const std::string& path);
/// Content of `path` when it is a regular file; nothing when it does not exist or is something else (a pipe,
/// a device).
std::optional<std::string> read_existing(const std::string& path);

/// Throws what opening `path` for writing would throw: a directory, a missing folder, no permission, a file
/// that another run writes. Changes and creates nothing, so it can come before work that takes long.
void require_writable(const std::string& path);

/// Replaces the content of `path`, or creates it: a reader sees the old file or the new one, never a part,
/// also when this is interrupted. Keeps the permissions; a link stays a link, what it points to is replaced.
/// Throws UsageError.
void replace_file(const std::string& path, std::string_view text);

/// A file being written, or stdout ("-"). Move is not needed; not thread-safe.
class OutputFile {
 public:
  /// append: keeps the content. Otherwise the file is emptied. A regular file is locked as long as this
  /// lives: rows of two runs in one file could not be told apart. Throws UsageError, also when another holds
  /// it.
  OutputFile(const std::string& path, bool append);
  ~OutputFile();
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  /// Hands all of `text` to the system, or takes back what it wrote (regular files) and throws UsageError.
  void write(std::string_view text);
  /// Anything but a regular file, and stdout whatever it is, has no content that could be kept or cut.
  bool regular() const { return regular_; }
  /// Cuts a regular file to `bytes` and continues there. Throws UsageError.
  void truncate(uint64_t bytes);

 private:
  [[noreturn]] void fail(const char* attempt, int error) const;

  std::string name_;
  int fd_ = -1;
  bool owned_ = false;
  bool regular_ = false;  ///< and opened by this object
};

}  // namespace attnprof
