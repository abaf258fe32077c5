#include "cli/tune_shapes.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "core/error.hpp"
#include "implementations.hpp"

namespace attnprof {
namespace {

/// Candidates of one typed case: its own configuration when one was typed, else the implementation's list.
std::vector<PlannedCase> candidates_of(const PlannedCase& typed, const Implementation& impl,
                                       const DeviceInfo& device) {
  if (!typed.invalid.empty() || typed.planned.config != KernelConfig{}) return {typed};
  std::vector<PlannedCase> all;
  for (const KernelConfig& config : impl.candidates(typed.planned.problem, device)) {
    all.push_back(typed);
    all.back().planned.config = config;
  }
  return all;
}

void require_tunable(const Implementation& impl, const DeviceInfo& device) {
  if (impl.candidates) return;
  std::vector<std::string_view> tunable;
  for (const Implementation& row : registry()) {
    if (row.device == device.kind && row.candidates) tunable.push_back(row.name);
  }
  throw UsageError(fmt::format("--impl {}: it has no tiles to choose from; tunable on this device: {}",
                               impl.name, fmt::join(tunable, ", ")));
}

}  // namespace

std::vector<TunedShape> shapes_of(const std::vector<PlannedCase>& cases, const DeviceInfo& device,
                                  const std::vector<TunedEntry>& table) {
  std::vector<TunedShape> shapes;
  for (const PlannedCase& typed : cases) {
    const Implementation& impl = find_implementation(typed.planned.impl, device);
    require_tunable(impl, device);
    auto at = std::find_if(shapes.begin(), shapes.end(), [&](const TunedShape& s) {
      const Case& c = s.rows.front().planned;
      return c.impl == impl.name && c.problem == typed.planned.problem;
    });
    if (at == shapes.end()) {
      PlannedCase as_is = typed;
      as_is.planned.config = {};
      TunedShape shape;
      shape.rows = plan({as_is}, device, find_implementation, table);
      at = shapes.insert(shapes.end(), std::move(shape));
    }
    for (PlannedRow& row : plan(candidates_of(typed, impl, device), device, find_implementation)) {
      if (row.status != Status::ok) continue;
      const auto same = [&](const PlannedRow& r) { return r.planned.config == row.planned.config; };
      if (std::none_of(at->rows.begin(), at->rows.end(), same)) at->rows.push_back(std::move(row));
    }
  }
  return shapes;
}

TunedKey key_of(const Case& c, const DeviceInfo& device, bool any_dtype) {
  TunedKey key = tuned_key(c, device);
  if (any_dtype) key.axes.erase("dtype");
  return key;
}

void require_distinct_keys(const std::vector<TunedShape>& shapes, const DeviceInfo& device, bool any_dtype) {
  std::vector<TunedKey> keys;
  for (const TunedShape& shape : shapes) {
    const Case& c = shape.rows.front().planned;
    keys.push_back(key_of(c, device, any_dtype));
    if (std::count(keys.begin(), keys.end(), keys.back()) == 1) continue;
    std::vector<std::string_view> told_apart{"impl"};
    for (const auto& [axis, value] : keys.back().axes) told_apart.push_back(axis);
    throw UsageError(
        fmt::format("{} {}: the file would hold one row for this shape and for one before it (rows are told "
                    "apart by {}); give one value for batch, heads and the other axes",
                    c.impl, describe(c.problem), fmt::join(told_apart, ", ")));
  }
}

}  // namespace attnprof
