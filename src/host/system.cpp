#include "host/system.hpp"

#include <sched.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <limits>
#include <optional>
#include <sstream>
#include <thread>
#include <vector>

namespace attnprof {
namespace {

constexpr int64_t kUnlimited = std::numeric_limits<int64_t>::max();

/// First word of a file, empty when it cannot be read.
std::string first_word(const std::string& path) {
  std::ifstream file(path);
  std::string word;
  file >> word;
  return word;
}

std::optional<int64_t> parse_int(const std::string& text) {
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end == text.data()) return std::nullopt;
  return value;
}

/// Value of the line "KEY ... value" of a file such as /proc/meminfo or memory.stat.
std::optional<int64_t> keyed_value(const std::string& path, const std::string& key) {
  std::ifstream file(path);
  std::string line;
  while (std::getline(file, line)) {
    std::istringstream words(line);
    std::string name, value;
    if (words >> name >> value && name == key) return parse_int(value);
  }
  return std::nullopt;
}

/// Folders of this process's cgroup for `controller` and all above it: v2 ("0::/path"), or v1
/// ("4:memory:/path"). A container often sees its own group mounted as the root, so that the path does not
/// exist there and only the root is found.
std::vector<std::string> cgroup_folders(const std::string& controller) {
  std::vector<std::string> folders;
  std::ifstream file("/proc/self/cgroup");
  std::string line;
  while (std::getline(file, line)) {
    const size_t first = line.find(':');
    const size_t second = line.find(':', first + 1);
    if (first == std::string::npos || second == std::string::npos) continue;
    std::string controllers(",");
    controllers.append(line, first + 1, second - first - 1).append(",");
    const bool v2 = controllers == ",,";
    if (!v2 && controllers.find(std::string(",").append(controller).append(",")) == std::string::npos)
      continue;
    const std::string mount = v2 ? "/sys/fs/cgroup" : "/sys/fs/cgroup/" + controller;
    std::string path = line.substr(second + 1);
    while (!path.empty() && path != "/") {
      folders.push_back(mount + path);
      path.resize(path.rfind('/'));
    }
    folders.push_back(mount);
  }
  return folders;
}

struct CgroupMemory {
  int64_t limit_bytes = kUnlimited;
  int64_t available_bytes = kUnlimited;
};

CgroupMemory cgroup_memory() {
  CgroupMemory memory;
  for (const std::string& folder : cgroup_folders("memory")) {
    const bool v2 = std::filesystem::exists(folder + "/memory.max");
    const auto limit = parse_int(first_word(folder + (v2 ? "/memory.max" : "/memory.limit_in_bytes")));
    const auto used = parse_int(first_word(folder + (v2 ? "/memory.current" : "/memory.usage_in_bytes")));
    if (!limit || !used) continue;  // "max", or not there
    // Page cache that nobody has mapped lately is given back before the limit bites.
    const int64_t reclaimable =
        keyed_value(folder + "/memory.stat", v2 ? "inactive_file" : "total_inactive_file").value_or(0);
    memory.limit_bytes = std::min(memory.limit_bytes, *limit);
    memory.available_bytes =
        std::min(memory.available_bytes, std::max<int64_t>(0, *limit - *used + reclaimable));
  }
  return memory;
}

/// CPUs' worth of time the cgroup grants, or unlimited.
double cgroup_cpus() {
  double cpus = std::numeric_limits<double>::infinity();
  for (const std::string& folder : cgroup_folders("cpu")) {
    double quota = -1, period = 0;
    if (std::ifstream v2(folder + "/cpu.max"); v2) {
      v2 >> quota >> period;  // "max 100000" leaves quota unread
      if (v2.fail()) continue;
    } else {
      std::ifstream(folder + "/cpu.cfs_quota_us") >> quota;
      std::ifstream(folder + "/cpu.cfs_period_us") >> period;
    }
    if (quota > 0 && period > 0) cpus = std::min(cpus, quota / period);
  }
  return cpus;
}

/// "512K", "32M" as sysfs writes sizes; 0 when it is not one.
int64_t parse_size(const std::string& text) {
  const auto value = parse_int(text);
  if (!value) return 0;
  const char unit = text.back();
  return *value * (unit == 'K' ? 1024 : unit == 'M' ? 1024 * 1024 : unit == 'G' ? 1024 * 1024 * 1024 : 1);
}

}  // namespace

std::string host_name() {
  char name[256] = "";
  gethostname(name, sizeof name - 1);
  return name;
}

std::string cpu_model() {
  std::ifstream file("/proc/cpuinfo");
  std::string line;
  while (std::getline(file, line)) {
    if (!line.starts_with("model name")) continue;
    const size_t value = line.find_first_not_of(" \t", line.find(':') + 1);
    if (value != std::string::npos) return line.substr(value, line.find_last_not_of(" \t\r") - value + 1);
  }
  utsname name{};
  return uname(&name) == 0 ? std::string(name.machine) + " CPU" : "CPU";
}

int usable_threads() {
  int threads = static_cast<int>(std::thread::hardware_concurrency());
  cpu_set_t allowed;
  // Fails on machines with more than CPU_SETSIZE CPUs; then hardware_concurrency, which knows the affinity
  // too, stands.
  if (sched_getaffinity(0, sizeof(allowed), &allowed) == 0) threads = CPU_COUNT(&allowed);
  const double quota = cgroup_cpus();
  if (quota < threads)
    threads = static_cast<int>(quota + 0.999);  // a quota of 1.5 CPUs keeps two threads busy
  return std::max(1, threads);
}

CacheSizes cache_sizes() {
  CacheSizes sizes;
  int64_t highest_level = 0;
  for (int index = 0; index < 8; ++index) {
    const std::string folder = "/sys/devices/system/cpu/cpu0/cache/index" + std::to_string(index);
    if (first_word(folder + "/type") == "Instruction") continue;
    const int64_t level = parse_int(first_word(folder + "/level")).value_or(0);
    const int64_t bytes = parse_size(first_word(folder + "/size"));
    if (level == 2) sizes.per_core_bytes = bytes;
    if (level > highest_level && bytes > 0) {
      highest_level = level;
      sizes.last_level_bytes = bytes;
    }
  }
  if (sizes.per_core_bytes <= 0) sizes.per_core_bytes = sysconf(_SC_LEVEL2_CACHE_SIZE);
  if (sizes.per_core_bytes <= 0) sizes.per_core_bytes = int64_t{512} << 10;
  if (sizes.last_level_bytes <= 0) sizes.last_level_bytes = sysconf(_SC_LEVEL3_CACHE_SIZE);
  if (sizes.last_level_bytes <= 0) sizes.last_level_bytes = int64_t{32} << 20;
  return sizes;
}

int64_t memory_total_bytes() {
  const int64_t ram = int64_t{sysconf(_SC_PHYS_PAGES)} * int64_t{sysconf(_SC_PAGESIZE)};
  return std::min(ram, cgroup_memory().limit_bytes);
}

int64_t memory_available_bytes() {
  int64_t available = keyed_value("/proc/meminfo", "MemAvailable:").value_or(0) * 1024;
  if (available <= 0) available = int64_t{sysconf(_SC_AVPHYS_PAGES)} * int64_t{sysconf(_SC_PAGESIZE)};
  return std::min(available, cgroup_memory().available_bytes);
}

}  // namespace attnprof
