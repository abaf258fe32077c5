#include "gpu/cubin_cache.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <system_error>

namespace attnprof {

namespace fs = std::filesystem;

namespace {

uint64_t fnv1a(std::string_view text, uint64_t hash) {
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3ull;
  return hash;
}

std::optional<std::string> read_file(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) return std::nullopt;
  return std::string(std::istreambuf_iterator<char>(in), {});
}

/// Writes beside the target and renames: a reader sees the whole file or none.
bool write_file(const fs::path& path, const std::string& text) {
  static std::atomic<int> serial{0};
  std::error_code error;
  fs::create_directories(path.parent_path(), error);
  const fs::path temporary = fmt::format("{}.{}.{}", path.string(), getpid(), serial++);
  {
    std::ofstream out(temporary, std::ios::binary);
    out << text;
    out.close();
    if (!out) {
      fs::remove(temporary, error);
      return false;
    }
  }
  fs::rename(temporary, path, error);
  if (!error) return true;
  fs::remove(temporary, error);
  return false;
}

}  // namespace

std::string content_hash(std::string_view text) {
  return fmt::format("{:016x}{:016x}", fnv1a(text, 0xcbf29ce484222325ull),
                     fnv1a(text, 0x9ae16a3b2f90404full));
}

fs::path default_cache_folder() {
  if (const char* cache = std::getenv("XDG_CACHE_HOME"); cache && *cache) return fs::path(cache) / "attnprof";
  if (const char* home = std::getenv("HOME"); home && *home) return fs::path(home) / ".cache" / "attnprof";
  return {};
}

std::optional<CachedBinary> CubinCache::find(const std::string& key) const {
  if (folder_.empty()) return std::nullopt;
  const std::optional<std::string> text = read_file(folder_ / (key + ".bin"));
  if (!text) return std::nullopt;
  const size_t line_end = text->find('\n');
  if (line_end == std::string::npos) return std::nullopt;
  CachedBinary binary{text->substr(line_end + 1), read_file(folder_ / (key + ".log")).value_or("")};
  if (text->substr(0, line_end) != content_hash(binary.code)) return std::nullopt;
  return binary;
}

bool CubinCache::store(const std::string& key, const CachedBinary& binary) const {
  if (folder_.empty()) return false;
  store_log(key, binary.log);
  return write_file(folder_ / (key + ".bin"), content_hash(binary.code) + '\n' + binary.code);
}

void CubinCache::remove(const std::string& key) const {
  std::error_code ignored;
  fs::remove(folder_ / (key + ".bin"), ignored);
}

std::string CubinCache::store_log(const std::string& key, const std::string& log) const {
  const fs::path path = folder_ / (key + ".log");
  return !folder_.empty() && write_file(path, log) ? path.string() : "";
}

}  // namespace attnprof
