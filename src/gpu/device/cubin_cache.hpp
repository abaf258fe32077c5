// Compiled kernels on disk, so that a second run compiles nothing.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <utility>

#include "core/cached_file.hpp"

namespace attnprof {

struct CachedBinary {
  std::string code;  ///< cubin, or PTX text
  std::string log;   ///< what the compiler said
};

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
