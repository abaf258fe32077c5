// Compiled kernels on disk, so that a second run compiles nothing.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace attnprof {

/// 128 bits as 32 hex digits: FNV-1a (64 bit; Fowler, Noll & Vo) from two different offset bases. Not
/// cryptographic: it tells versions of our own sources apart, and its input is not an attacker's.
std::string content_hash(std::string_view text);

struct CachedBinary {
  std::string code;  ///< cubin, or PTX text
  std::string log;   ///< what the compiler said
};

/// $XDG_CACHE_HOME/attnprof, or ~/.cache/attnprof. Empty when neither variable is set.
std::filesystem::path default_cache_folder();

/// A folder of KEY.bin files, each beside the KEY.log of its compilation. Files appear by rename, so several
/// processes may share it. A folder that cannot be written is no error: nothing is kept then.
class CubinCache {
 public:
  explicit CubinCache(std::filesystem::path folder = default_cache_folder()) : folder_(std::move(folder)) {}

  /// Nothing when absent, or when the file does not match the checksum in its first line.
  std::optional<CachedBinary> find(const std::string& key) const;
  /// False when it could not be written.
  bool store(const std::string& key, const CachedBinary& binary) const;
  void remove(const std::string& key) const;
  /// Keeps the log of a compilation that failed; returns its path, "" when it could not be written.
  std::string store_log(const std::string& key, const std::string& log) const;

 private:
  std::filesystem::path folder_;
};

}  // namespace attnprof
