// Texts that tests read, write and look into.
#pragma once

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

/// Whole content of a file, byte for byte; "" when there is none.
inline std::string slurp(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

inline void put(const std::filesystem::path& path, const std::string& text) {
  std::ofstream(path, std::ios::binary) << text;
}

inline bool has(const std::string& text, const std::string& piece) {
  return text.find(piece) != std::string::npos;
}
