#include "gpu/device/cubin_cache.hpp"

#include <fstream>
#include <iterator>
#include <system_error>

namespace attnprof {

namespace fs = std::filesystem;

namespace {

std::string read_log(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  return in ? std::string(std::istreambuf_iterator<char>(in), {}) : "";
}

}  // namespace

std::optional<CachedBinary> CubinCache::find(const std::string& key) const {
  if (folder_.empty()) return std::nullopt;
  CheckedFile file = read_checked_file(folder_ / (key + ".bin"));
  if (!file.text) return std::nullopt;
  return CachedBinary{std::move(*file.text), read_log(folder_ / (key + ".log"))};
}

bool CubinCache::store(const std::string& key, const CachedBinary& binary) const {
  if (folder_.empty()) return false;
  store_log(key, binary.log);
  return write_checked_file(folder_ / (key + ".bin"), binary.code);
}

void CubinCache::remove(const std::string& key) const {
  std::error_code ignored;
  fs::remove(folder_ / (key + ".bin"), ignored);
}

std::string CubinCache::store_log(const std::string& key, const std::string& log) const {
  const fs::path path = folder_ / (key + ".log");
  return !folder_.empty() && write_cached_file(path, log) ? path.string() : "";
}

}  // namespace attnprof
