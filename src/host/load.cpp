#include "host/load.hpp"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <ctime>
#include <fstream>
#include <sstream>
#include <string>

namespace attnprof {
namespace {

constexpr double kWindow_s = 0.5;
constexpr double kBetweenLooks_s = 0.05;

double steady_s() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

double process_cpu_s() {
  timespec spent{};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &spent);
  return static_cast<double>(spent.tv_sec) + 1e-9 * static_cast<double>(spent.tv_nsec);
}

/// The number of "cpu12"; -1 for "cpu", which sums them up, and for other lines.
int cpu_number(const std::string& name) {
  int number = -1;
  if (name.size() > 3 && name.compare(0, 3, "cpu") == 0)
    std::from_chars(name.data() + 3, name.data() + name.size(), number);
  return number;
}

}  // namespace

std::optional<CpuTimes> cpu_times() {
  cpu_set_t allowed;
  if (::sched_getaffinity(0, sizeof allowed, &allowed) != 0) return std::nullopt;
  std::ifstream file("/proc/stat");
  double all = 0, idle = 0;  // in ticks
  for (std::string line; std::getline(file, line) && line.compare(0, 3, "cpu") == 0;) {
    std::istringstream words(line);
    std::string name;
    words >> name;
    const int cpu = cpu_number(name);
    if (cpu < 0 || cpu >= CPU_SETSIZE || !CPU_ISSET(cpu, &allowed)) continue;
    // user nice system idle iowait irq softirq steal; what follows is counted in user and nice already.
    double ticks = 0;
    for (int field = 0; field < 8 && words >> ticks; ++field) {
      all += ticks;
      if (field == 3 || field == 4) idle += ticks;
    }
  }
  if (all <= 0) return std::nullopt;
  const double tick_s = 1.0 / static_cast<double>(::sysconf(_SC_CLK_TCK));
  return CpuTimes{steady_s(), all * tick_s, (all - idle) * tick_s, process_cpu_s()};
}

double share_of_others(const CpuTimes& from, const CpuTimes& to) {
  const double all = to.all_s - from.all_s;
  const double others = to.taken_s - from.taken_s - (to.own_s - from.own_s);
  return all > 0 ? std::clamp(others / all, 0.0, 1.0) : 0.0;
}

bool LoadWatch::busy() {
  if (looks_.empty() || steady_s() - looks_.back().wall_s >= kBetweenLooks_s) {
    if (const auto now = cpu_times()) looks_.push_back(*now);
  }
  if (looks_.empty()) return false;
  const CpuTimes& now = looks_.back();
  while (looks_.size() > 2 && now.wall_s - looks_[1].wall_s >= kWindow_s) looks_.pop_front();
  return now.wall_s - looks_.front().wall_s >= kWindow_s && share_of_others(looks_.front(), now) > kBusyShare;
}

}  // namespace attnprof
