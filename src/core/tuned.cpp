#include "core/tuned.hpp"

#include <tuple>

namespace attnprof {
namespace {

/// Greater is nearer. Lengths come before origin and detail: a user who tuned one short sequence has said
/// nothing of long ones.
auto nearness(const TunedEntry& e) {
  const TunedKey& k = e.key;
  const int named = k.causal.has_value() + k.dtype.has_value() + !k.device_name.empty();
  return std::make_tuple(-k.head_dim, k.window.value_or(-1), k.seqlen_kv, e.users, named);
}

}  // namespace

std::string compute_capability_text(int compute_capability) {
  if (compute_capability == 0) return "";
  return std::to_string(compute_capability / 10) + "." + std::to_string(compute_capability % 10);
}

bool fits(const TunedKey& key, std::string_view impl, const Problem& p, const DeviceInfo& device) {
  if (key.impl != impl || key.device != device.kind) return false;
  if (key.compute_capability != device.compute_capability) return false;
  if (!key.device_name.empty() && key.device_name != device.name) return false;
  if (p.head_dim > key.head_dim || 2 * p.head_dim <= key.head_dim) return false;
  if (key.dtype && *key.dtype != p.dtype) return false;
  if (key.causal && *key.causal != p.causal) return false;
  if (key.window && (*key.window == 0 ? p.window != 0 : p.window < *key.window)) return false;
  return p.seqlen_kv >= key.seqlen_kv;
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
