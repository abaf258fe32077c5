#include "core/ceiling_list.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

namespace attnprof {

void CeilingList::add(CeilingValue value) {
  if (std::isfinite(value.value) && value.value > 0) {
    values.push_back(std::move(value));
    return;
  }
  message +=
      fmt::format("{}{}: the measurement gave {}", message.empty() ? "" : "; ", value.name, value.value);
}

std::optional<double> CeilingList::find(std::string_view name) const {
  const auto at = std::find_if(values.begin(), values.end(),
                               [&](const CeilingValue& v) { return v.name == name && !v.bytes; });
  return at == values.end() ? std::nullopt : std::optional<double>(at->value);
}

std::vector<int64_t> ceiling_sizes(int64_t largest_bytes) {
  std::vector<int64_t> sizes;
  for (int64_t bytes = int64_t{1} << 20; bytes <= largest_bytes; bytes *= 2) sizes.push_back(bytes);
  return sizes;
}

namespace {

/// Noise of a rate that was measured twice.
constexpr double kSlower = 0.9;
/// Rates rise to the size that fills the device and fall from cache to cache: none stands out of both sides.
constexpr double kOutOfLine = 2.0;
/// An empty loop over threads takes up to some microseconds, a kernel launch one to ten.
constexpr double kLongestLaunch_us = 50;

std::string out_of_line(const std::vector<const CeilingValue*>& by_size) {
  for (size_t i = 1; i + 1 < by_size.size(); ++i) {
    const double before = by_size[i - 1]->value, value = by_size[i]->value, after = by_size[i + 1]->value;
    const bool above = value > kOutOfLine * std::max(before, after),
               below = kOutOfLine * value < std::min(before, after);
    if (!above && !below) continue;
    return fmt::format("{} of {} MiB: {:.3g}, its neighbours {:.3g} and {:.3g} {}", by_size[i]->name,
                       by_size[i]->bytes.value_or(0) >> 20, value, before, after, by_size[i]->unit);
  }
  return "";
}

}  // namespace

std::string implausible(const CeilingList& list, int threads) {
  std::vector<std::string> doubts;
  const auto all = list.find("fp32_fma"), one = list.find("fp32_fma_one_thread");
  if (threads > 1 && all && one && *all < kSlower * *one) {
    doubts.push_back(
        fmt::format("{} threads computed {:.3g} TFLOP/s, one computed {:.3g}", threads, *all, *one));
  }
  std::map<std::string_view, std::vector<const CeilingValue*>> by_size;
  for (const CeilingValue& value : list.values) {
    if (value.bytes) by_size[value.name].push_back(&value);
  }
  for (const auto& [name, values] : by_size) {
    if (std::string doubt = out_of_line(values); !doubt.empty()) doubts.push_back(std::move(doubt));
  }
  const auto launch = list.find("launch_interval");
  if (launch && *launch > kLongestLaunch_us)
    doubts.push_back(fmt::format("a launch took {:.3g} us", *launch));
  return fmt::format("{}", fmt::join(doubts, "; "));
}

CeilingList best_of(const CeilingList& known, const CeilingList& again) {
  CeilingList best = known;
  for (const CeilingValue& value : again.values) {
    const auto at = std::find_if(best.values.begin(), best.values.end(), [&](const CeilingValue& v) {
      return v.name == value.name && v.bytes == value.bytes && v.unit == value.unit;
    });
    const bool shorter_is_better = value.unit == "us";
    if (at == best.values.end()) {
      best.values.push_back(value);
    } else if (shorter_is_better ? value.value < at->value : value.value > at->value) {
      *at = value;
    }
  }
  return best;
}

DeviceCeilings rates_of(const CeilingList& list, DeviceKind kind) {
  DeviceCeilings rates;
  rates.copy_gbps = list.find("copy");
  rates.fp32_tflops = list.find("fp32_fma");
  const bool host = kind == DeviceKind::host;
  rates.matrix_bf16_tflops = host ? rates.fp32_tflops : list.find("matrix_bf16");
  rates.matrix_fp16_tflops = host ? rates.fp32_tflops : list.find("matrix_fp16");
  rates.exp_gops = list.find("exp");
  rates.launch_us = list.find("launch_interval");
  return rates;
}

CeilingIdentity ceiling_identity(const DeviceInfo& device, const std::string& hostname,
                                 const std::string& tool_version) {
  CeilingIdentity id;
  id.kind = device.kind;
  id.device_name = device.name;
  id.tool_version = tool_version;
  if (device.kind == DeviceKind::host) {
    id.threads = device.multiprocessors;
    id.hostname = hostname;
    return id;
  }
  id.device_uuid = device.uuid;
  id.driver = device.driver_version;
  id.cuda = device.cuda_version;
  id.power_limit_w = device.power_limit_w;
  return id;
}

std::string difference(const CeilingIdentity& then, const CeilingIdentity& now) {
  const auto power = [](const CeilingIdentity& id) {
    return id.power_limit_w ? fmt::format("{} W", *id.power_limit_w) : std::string("unknown");
  };
  const auto kind = [](const CeilingIdentity& id) {
    return id.kind == DeviceKind::host ? std::string("cpu") : std::string("gpu");
  };
  const struct {
    const char* what;
    std::string then, now;
  } facts[] = {{"device", kind(then), kind(now)},
               {"device", then.device_name, now.device_name},
               {"UUID", then.device_uuid, now.device_uuid},
               {"host", then.hostname, now.hostname},
               {"threads", std::to_string(then.threads), std::to_string(now.threads)},
               {"driver", then.driver, now.driver},
               {"CUDA", then.cuda, now.cuda},
               {"power limit", power(then), power(now)},
               {"attnprof", then.tool_version, now.tool_version}};
  for (const auto& fact : facts) {
    if (fact.then != fact.now) return fmt::format("{} {} then, {} now", fact.what, fact.then, fact.now);
  }
  return "";
}

}  // namespace attnprof
