#include "core/cached_file.hpp"

#include <fmt/format.h>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <system_error>

#include "core/error.hpp"
#include "core/file_io.hpp"

namespace attnprof {

namespace fs = std::filesystem;

namespace {

uint64_t fnv1a(std::string_view text, uint64_t hash) {
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3ull;
  return hash;
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

bool write_cached_file(const fs::path& path, std::string_view text) {
  std::error_code ignored;
  fs::create_directories(path.parent_path(), ignored);
  try {
    replace_file(path.string(), text);
    return true;
  } catch (const UsageError&) {
    return false;
  }
}

bool write_checked_file(const fs::path& path, std::string_view text) {
  return write_cached_file(path, content_hash(text) + '\n' + std::string(text));
}

CheckedFile read_checked_file(const fs::path& path) {
  std::error_code error;
  if (fs::is_directory(path, error)) return {std::nullopt, true};
  std::ifstream in(path, std::ios::binary);
  if (!in) return {};
  std::string text(std::istreambuf_iterator<char>(in), {});
  const size_t line_end = text.find('\n');
  if (line_end == std::string::npos) return {std::nullopt, true};
  const std::string hash = text.substr(0, line_end);
  text.erase(0, line_end + 1);
  if (hash != content_hash(text)) return {std::nullopt, true};
  return {std::move(text), false};
}

}  // namespace attnprof
