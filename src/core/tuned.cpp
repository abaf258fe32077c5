#include "core/tuned.hpp"

#include <algorithm>
#include <tuple>

namespace attnprof {
namespace {

int64_t whole(const Cell& cell) {
  const auto* value = std::get_if<int64_t>(&cell);
  return value ? *value : 0;
}

bool holds(const Axis& axis, const Cell& limit, const Cell& value) {
  switch (axis.tuned) {
    case TunedMatch::no:
      return true;
    case TunedMatch::equal:
      return limit == value;
    case TunedMatch::up_to:
      return whole(value) <= whole(limit) && 2 * whole(value) > whole(limit);
    case TunedMatch::from:
      // 0 keys of window: none. No other axis is 0.
      return whole(limit) == 0 && axis.kind == AxisKind::count ? whole(value) == 0
                                                               : whole(value) >= whole(limit);
  }
  return false;
}

/// Greater is nearer. Lengths come before origin and detail: a user who tuned one short sequence has said
/// nothing of long ones.
auto nearness(const TunedEntry& e) {
  std::vector<const Axis*> ranked = tuned_axes();
  std::erase_if(ranked, [](const Axis* axis) { return axis->tuned_rank == 0; });
  std::sort(ranked.begin(), ranked.end(),
            [](const Axis* a, const Axis* b) { return a->tuned_rank < b->tuned_rank; });
  std::vector<int64_t> distances;
  for (const Axis* axis : ranked) {
    const auto at = e.key.axes.find(axis->name);
    const int64_t value = at == e.key.axes.end() ? -1 : whole(at->second);
    distances.push_back(axis->tuned == TunedMatch::up_to ? -value : value);
  }
  const auto named = static_cast<int>(e.key.axes.size()) + !e.key.device_name.empty();
  return std::make_tuple(distances, e.users, named);
}

}  // namespace

std::vector<const Axis*> tuned_axes() {
  std::vector<const Axis*> all;
  for (const Axis& axis : axes()) {
    if (axis.tuned != TunedMatch::no) all.push_back(&axis);
  }
  return all;
}

TunedKey tuned_key(const Case& c, const DeviceInfo& device) {
  TunedKey key;
  key.impl = c.impl;
  key.device = device.kind;
  key.compute_capability = device.compute_capability;
  if (device.kind == DeviceKind::host) key.device_name = device.name;
  for (const Axis* axis : tuned_axes()) key.axes.emplace(axis->name, axis->field.get(c));
  return key;
}

std::string compute_capability_text(int compute_capability) {
  if (compute_capability == 0) return "";
  return std::to_string(compute_capability / 10) + "." + std::to_string(compute_capability % 10);
}

bool fits(const TunedKey& key, std::string_view impl, const Problem& p, const DeviceInfo& device) {
  if (key.impl != impl || key.device != device.kind) return false;
  if (key.compute_capability != device.compute_capability) return false;
  if (!key.device_name.empty() && key.device_name != device.name) return false;
  const Case c{p, "", {}};
  return std::all_of(key.axes.begin(), key.axes.end(), [&c](const auto& named) {
    const Axis* axis = find_axis(named.first);
    return axis != nullptr && holds(*axis, named.second, axis->field.get(c));
  });
}

const TunedEntry* find_tuned(const std::vector<TunedEntry>& table, std::string_view impl, const Problem& p,
                             const DeviceInfo& device) {
  const TunedEntry* best = nullptr;
  for (const TunedEntry& entry : table) {
    if (!fits(entry.key, impl, p, device)) continue;
    if (best == nullptr || nearness(*best) < nearness(entry)) best = &entry;
  }
  return best;
}

KernelConfig with_tuned(const KernelConfig& asked, const TunedEntry& entry) {
  KernelConfig config = asked;
  if (config.tile_m == 0 && config.tile_n == 0) {
    config.tile_m = entry.config.tile_m;
    config.tile_n = entry.config.tile_n;
  }
  if (config.tile_m != entry.config.tile_m || config.tile_n != entry.config.tile_n) return config;
  if (config.stages == 0) config.stages = entry.config.stages;
  if (config.warps == 0) config.warps = entry.config.warps;
  return config;
}

}  // namespace attnprof
