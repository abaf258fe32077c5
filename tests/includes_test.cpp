// No include runs upwards: which folder may include which, walked over the tree.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <set>

#include "catch.hpp"

namespace fs = std::filesystem;

namespace {

/// Folder -> the folders that it may include, beside itself. In the order in which they stand on each other.
const std::vector<std::pair<std::string, std::set<std::string>>>& layers() {
  static const std::vector<std::pair<std::string, std::set<std::string>>> table{
      {"core", {}},
      {"kernels/device", {"core"}},  // what device code shares
      {"host", {"core"}},
      {"gpu/api", {"core"}},
      {"gpu/device", {"core", "gpu", "gpu/api", "kernels/device"}},
      {"gpu/counters", {"core", "gpu", "gpu/api", "gpu/device"}},
      {"gpu", {"core"}},  // what the rest of the program sees of a GPU
      {"kernels", {"core", "host", "kernels/device"}},
      {"baselines", {"core", "host", "kernels", "kernels/device"}},
      {"baselines/cudnn", {"core", "kernels/device", "gpu/api"}},
      {"measure", {"core"}},
      {"rows", {"core", "measure"}},
      {"compare", {"core", "rows"}},
      {"gate", {"core", "rows"}},
      {"html", {"core", "rows"}},
      {"implementations", {"core", "kernels", "baselines", "baselines/cudnn"}},
      {"state", {"core", "host", "gpu", "measure", "rows", "implementations"}},
      {"cli",
       {"core", "host", "gpu", "measure", "rows", "compare", "gate", "html", "state", "implementations"}},
  };
  return table;
}

/// The longest name of a layer that `path`, as an #include names it, begins with; "" when there is none.
std::string layer_of(const std::string& path) {
  std::string best;
  for (const auto& [name, may] : layers()) {
    const bool inside = path.rfind(name + "/", 0) == 0 || path.rfind(name + ".", 0) == 0;
    if (inside && name.size() > best.size()) best = name;
  }
  return best;
}

struct Include {
  std::string file, path;
};

std::vector<Include> includes_of_the_tree() {
  const fs::path root = ATTNPROF_SOURCE_DIR;
  const std::regex line(R"(^\s*#\s*include\s+"([^"]+)\")");
  std::vector<Include> all;
  for (const char* top : {"src", "kernels", "baselines"}) {
    for (const auto& entry : fs::recursive_directory_iterator(root / top)) {
      const std::string extension = entry.path().extension().string();
      if (extension != ".cpp" && extension != ".hpp" && extension != ".cu" && extension != ".cuh") continue;
      std::string file = fs::relative(entry.path(), root).generic_string();
      if (file.rfind("src/", 0) == 0) file.erase(0, 4);
      std::ifstream in(entry.path());
      std::smatch match;
      for (std::string text; std::getline(in, text);) {
        if (std::regex_search(text, match, line)) all.push_back({file, match[1]});
      }
    }
  }
  return all;
}

}  // namespace

TEST_CASE("no include runs upwards", "[includes]") {
  const std::vector<Include> all = includes_of_the_tree();
  REQUIRE(all.size() > 300);
  for (const Include& include : all) {
    const std::string from = layer_of(include.file), to = layer_of(include.path);
    INFO(include.file << " includes " << include.path);
    if (from.empty()) FAIL("no layer holds " << include.file << ": name it in layers()");
    if (to.empty()) FAIL("an #include names a path from the root of the tree or from src/");
    const auto at = std::find_if(layers().begin(), layers().end(),
                                 [&](const auto& layer) { return layer.first == from; });
    CHECK((from == to || at->second.count(to) == 1));
  }
}

TEST_CASE("kernels and baselines need no CUDA header, and CLI11 and toml++ stay in one file each",
          "[includes]") {
  const fs::path root = ATTNPROF_SOURCE_DIR;
  std::map<std::string, std::set<std::string>> users;
  for (const char* top : {"src", "kernels", "baselines"}) {
    for (const auto& entry : fs::recursive_directory_iterator(root / top)) {
      const std::string extension = entry.path().extension().string();
      if (extension != ".cpp" && extension != ".hpp") continue;
      const std::string file = fs::relative(entry.path(), root).generic_string();
      std::ifstream in(entry.path());
      for (std::string text; std::getline(in, text);) {
        if (text.rfind("#include <", 0) != 0) continue;
        for (const char* library : {"CLI/", "toml", "cuda", "nvrtc", "cublas", "cupti", "nvtx"}) {
          if (text.find(std::string("<") + library) != std::string::npos) users[library].insert(file);
        }
      }
    }
  }
  CHECK(users["CLI/"].size() == 1);
  CHECK(users["toml"].size() == 1);
  for (const char* library : {"cuda", "nvrtc", "cublas", "cupti", "nvtx"}) {
    for (const std::string& file : users[library]) {
      INFO(file << " includes " << library);
      CHECK(file.rfind("src/gpu/", 0) == 0);
    }
  }
}
