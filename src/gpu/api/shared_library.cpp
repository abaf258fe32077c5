#include "gpu/api/shared_library.hpp"

#include <dlfcn.h>

#include <cstdlib>
#include <system_error>

namespace attnprof {

namespace fs = std::filesystem;

namespace {

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

void add_toolkit(std::vector<fs::path>& folders, const fs::path& root) {
  for (const char* sub :
       {"targets/x86_64-linux/lib", "targets/sbsa-linux/lib", "lib64", "lib", "extras/CUPTI/lib64"}) {
    folders.push_back(root / sub);
  }
}

/// NVIDIA's wheels: nvidia/<part>/lib each (CUDA 12), or nvidia/cu13/lib for all (CUDA 13).
void add_wheels(std::vector<fs::path>& folders, const fs::path& nvidia) {
  std::error_code ignored;
  for (const auto& part : fs::directory_iterator(nvidia, ignored)) folders.push_back(part.path() / "lib");
}

void add_site_packages(std::vector<fs::path>& folders, const fs::path& prefix) {
  std::error_code ignored;
  for (const auto& python : fs::directory_iterator(prefix / "lib", ignored)) {
    add_wheels(folders, python.path() / "site-packages" / "nvidia");
  }
}

/// A folder that scripts filled from wheels, in any of the shapes such a folder takes.
void add_wheel_folder(std::vector<fs::path>& folders, const fs::path& root) {
  folders.push_back(root);
  add_toolkit(folders, root);
  add_wheels(folders, root / "nvidia");
  add_site_packages(folders, root);
}

/// What the user asked for by name: it comes before the system's own.
std::vector<fs::path> named_folders() {
  std::vector<fs::path> folders;
  if (const std::string libs = environment("ATTNPROF_CUDA_LIBS"); !libs.empty())
    add_wheel_folder(folders, libs);
  return folders;
}

}  // namespace

std::vector<fs::path> library_folders() {
  std::vector<fs::path> folders = named_folders();
  for (const char* name : {"CUDA_HOME", "CUDA_PATH"}) {
    if (const std::string home = environment(name); !home.empty()) add_toolkit(folders, home);
  }
  std::error_code error;
  if (const fs::path self = fs::read_symlink("/proc/self/exe", error); !error) {
    const fs::path beside = self.parent_path();
    for (const fs::path& root :
         {beside / ".cuda", beside.parent_path() / ".cuda", beside.parent_path().parent_path() / ".cuda"}) {
      if (fs::is_directory(root, error)) add_wheel_folder(folders, root);
    }
  }
  if (const std::string venv = environment("VIRTUAL_ENV"); !venv.empty()) add_site_packages(folders, venv);
  add_toolkit(folders, ATTNPROF_CUDA_ROOT);
  add_toolkit(folders, "/usr/local/cuda");
  return folders;
}

SharedLibrary::SharedLibrary(const std::vector<std::string>& names) {
  const auto open = [this](const std::string& file) {
    handle_ = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (handle_) path_ = file;
    return handle_ != nullptr;
  };
  const auto open_in = [&](const std::vector<fs::path>& folders) {
    std::error_code ignored;
    for (const fs::path& folder : folders) {
      for (const std::string& name : names) {
        if (!fs::exists(folder / name, ignored)) continue;
        if (open(folder / name)) return true;
        error_ = dlerror();  // there, but it does not load: worth more than "not found"
      }
    }
    return false;
  };
  if (open_in(named_folders())) return;
  for (const std::string& name : names) {
    if (open(name)) return;
  }
  if (open_in(library_folders())) return;
  if (error_.empty()) {
    error_ = names.front() + " was not found on the loader's path, in CUDA_HOME or in ATTNPROF_CUDA_LIBS";
  }
}

void* SharedLibrary::symbol(const char* name) const {
  return handle_ ? dlsym(handle_, name) : nullptr;
}

void load_parts(const SharedLibrary& library, const std::string& prefix) {
  const fs::path folder = fs::path(library.path()).parent_path();
  if (folder.empty()) return;  // found on the loader's path, and so are its parts
  std::error_code ignored;
  for (const auto& file : fs::directory_iterator(folder, ignored)) {
    if (file.path().filename().string().starts_with(prefix))
      dlopen(file.path().c_str(), RTLD_NOW | RTLD_LOCAL);
  }
}

const SharedLibrary& nvrtc_library() {
  static const SharedLibrary nvrtc = [] {
    SharedLibrary library({"libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so"});
    if (library) load_parts(library, "libnvrtc-builtins.so");
    return library;
  }();
  return nvrtc;
}

std::string load_symbols(const SharedLibrary& library, const std::vector<SymbolSlot>& slots) {
  for (const SymbolSlot& entry : slots) {
    *entry.slot = library.symbol(entry.name);
    if (!*entry.slot && entry.required) return entry.name;
  }
  return "";
}

}  // namespace attnprof
