#include "state/device_ceilings.hpp"

#include <fmt/format.h>

#include "core/error.hpp"
#include "core/utc.hpp"
#include "gpu/gpu.hpp"
#include "host/peak.hpp"

namespace attnprof {
namespace {

/// A cached report that serves, or why there is none.
struct Lookup {
  std::optional<CeilingReport> report;
  std::string why;
};

void tell(const Tell& listener, const std::string& text) {
  if (listener) listener(text);
}

Lookup look_up(const std::filesystem::path& path, const CeilingIdentity& now, CeilingScope scope,
               const Tell& warn) {
  const CheckedFile file = read_checked_file(path);
  if (!file.text && !file.damaged) return {std::nullopt, "none are cached for this device"};
  CeilingReport report;
  try {
    if (file.damaged) throw UsageError("it is not as it was written");
    report = parse_ceilings_csv(*file.text, path.filename().string());
  } catch (const Error& error) {
    tell(warn,
         fmt::format("ceilings: the cache file {} is damaged and ignored: {}", path.string(), error.what()));
    return {std::nullopt, "the cache file is damaged"};
  }
  if (const std::string changed = difference(report.identity, now); !changed.empty()) {
    return {std::nullopt, "the cached ones were measured elsewhere (" + changed + ")"};
  }
  if (scope == CeilingScope::full && report.list.scope != CeilingScope::full) {
    return {std::nullopt, "only those that a sweep needs are cached"};
  }
  report.age_s = *utc_seconds(utc_now()) - *utc_seconds(report.measured_at);
  return {std::move(report), ""};
}

std::filesystem::path cache_path(const CeilingRequest& request, const CeilingIdentity& identity) {
  return request.folder.empty() ? std::filesystem::path() : ceilings_file(request.folder, identity);
}

/// What is missing today may be there tomorrow: only a whole list is kept.
void keep(const CeilingReport& report, const std::filesystem::path& path, const Tell& warn) {
  if (!path.empty() && report.list.message.empty() && !report.list.values.empty() &&
      !write_checked_file(path, ceilings_csv(report))) {
    tell(warn, fmt::format("ceilings: cannot write {}; they are measured again next time", path.string()));
  }
}

}  // namespace

CeilingList measure_device_ceilings(Device& device, CeilingScope scope) {
  return device.info().kind == DeviceKind::host ? measure_host_ceilings(device, scope)
                                                : measure_ceilings(device, scope);
}

std::filesystem::path ceilings_file(const std::filesystem::path& folder, const CeilingIdentity& id) {
  const std::string who = id.kind == DeviceKind::host
                              ? fmt::format("{}\n{}\n{}", id.device_name, id.hostname, id.threads)
                              : id.device_uuid;
  return folder / fmt::format("ceilings-{}.csv", content_hash(who));
}

namespace {

/// What was measured, kept for other runs. Figures of a busy machine are used, for want of better ones, but
/// said and not kept.
CeilingReport reported(CeilingList list, const CeilingIdentity& identity, const std::filesystem::path& path,
                       const CeilingRequest& request) {
  const std::string doubts = implausible(list, identity.threads);
  if (!doubts.empty()) {
    list.message += fmt::format("{}the machine was busy, so these are not kept for other runs: {}",
                                list.message.empty() ? "" : "; ", doubts);
  }
  CeilingReport report{identity, utc_now(), std::move(list), std::nullopt};
  keep(report, path, request.warn);
  return report;
}

}  // namespace

CeilingReport device_ceilings(Device& device, const CeilingRequest& request, const Tell& announce,
                              const MeasureCeilings& measure) {
  const CeilingIdentity identity = ceiling_identity(device.info(), request.hostname, request.tool_version);
  const std::filesystem::path path = cache_path(request, identity);
  std::string why = "--refresh";
  if (!request.refresh) {
    Lookup found;
    if (path.empty()) {
      found.why = "there is no cache folder: neither XDG_CACHE_HOME nor HOME is set";
    } else {
      found = look_up(path, identity, request.scope, request.warn);
    }
    if (found.report) return *found.report;
    why = found.why;
  }
  if (request.cached_only) return {identity, "", {}, std::nullopt};
  tell(announce, why);
  return reported(measure(device, request.scope), identity, path, request);
}

CeilingReport better_ceilings(Device& device, const CeilingRequest& request, const CeilingReport& known,
                              const MeasureCeilings& measure) {
  const CeilingIdentity identity = ceiling_identity(device.info(), request.hostname, request.tool_version);
  const std::filesystem::path path = cache_path(request, identity);
  const CeilingList again = measure(device, CeilingScope::rows);
  CeilingList best = best_of(known.list, again);
  best.message = again.message;
  // Another sweep may have found better ones meanwhile.
  if (const auto cached = path.empty() ? Lookup{} : look_up(path, identity, best.scope, request.warn);
      cached.report)
    best = best_of(best, cached.report->list);
  return reported(std::move(best), identity, path, request);
}

}  // namespace attnprof
