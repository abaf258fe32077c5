// Libraries found and loaded at run time, so that one binary starts on any machine.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace attnprof {

/// A loaded shared library. Empty when it was not found: error() then says where was looked. Stays loaded for
/// the life of the process: CUDA's libraries own threads and exit handlers, and unloading one of them while
/// the program ends crashes.
class SharedLibrary {
 public:
  SharedLibrary() = default;
  /// Tries every name in $ATTNPROF_CUDA_LIBS, then as the system loader would (ld.so.cache, LD_LIBRARY_PATH),
  /// then in each of library_folders().
  explicit SharedLibrary(const std::vector<std::string>& names);

  explicit operator bool() const { return handle_ != nullptr; }
  void* symbol(const char* name) const;  ///< nullptr when absent
  const std::string& path() const { return path_; }
  const std::string& error() const { return error_; }

 private:
  void* handle_ = nullptr;
  std::string path_;
  std::string error_;
};

/// Loads what stands beside `library` under a name that starts with `prefix`. Libraries open their parts by
/// name alone, and the loader finds those only that lie on its path, or are loaded already.
void load_parts(const SharedLibrary& library, const std::string& prefix);

/// Folders that may hold CUDA's libraries, best first: $ATTNPROF_CUDA_LIBS, $CUDA_HOME, wheels beside the
/// executable
/// (.cuda/), the pip packages of the active virtual environment, the toolkit this was built with.
std::vector<std::filesystem::path> library_folders();

/// NVRTC with its parts, loaded on first use. cuDNN compiles some of its engines with it and finds it by its
/// name alone, so it has to be loaded before.
const SharedLibrary& nvrtc_library();

/// One entry of a table that fills a struct of function pointers.
struct SymbolSlot {
  const char* name;
  void** slot;
  bool required = true;
};
/// Fills every slot; returns the name of the first required symbol that the library lacks, or "".
std::string load_symbols(const SharedLibrary& library, const std::vector<SymbolSlot>& slots);

/// `load_symbols` wants `void**`; a function pointer's address is that on every platform that has dlsym.
template <class Function>
SymbolSlot slot(const char* name, Function*& member, bool required = true) {
  return {name, reinterpret_cast<void**>(&member), required};
}

}  // namespace attnprof
