// Small files in the user's cache folder: written whole or not at all, and read only when they are as
// written.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace attnprof {

/// 128 bits as 32 hex digits: FNV-1a (64 bit; Fowler, Noll & Vo) from two different offset bases. Not
/// cryptographic: it tells versions of our own files apart, and its input is not an attacker's.
std::string content_hash(std::string_view text);

/// $XDG_CACHE_HOME/attnprof, or ~/.cache/attnprof. Empty when neither variable is set.
std::filesystem::path default_cache_folder();

/// replace_file (core/file_io.hpp) for what can be made again: creates the folder; false when it cannot be
/// written.
bool write_cached_file(const std::filesystem::path& path, std::string_view text);

/// The same, with the hash of `text` in a line of its own in front.
bool write_checked_file(const std::filesystem::path& path, std::string_view text);

struct CheckedFile {
  std::optional<std::string> text;
  bool damaged = false;  ///< it is there, but its text is not what the first line says: `text` is empty then
};
/// What write_checked_file wrote. Never throws.
CheckedFile read_checked_file(const std::filesystem::path& path);

}  // namespace attnprof
