#include "core/ceiling_list.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
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
