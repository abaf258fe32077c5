#include <fmt/format.h>

#include <algorithm>

#include "kernels/flash3/tile.hpp"

namespace attnprof::flash3 {
namespace {

constexpr int64_t kWarpgroupRows = 64;
constexpr int64_t kPanelColumns = 64;
constexpr int64_t kPanelRowBytes = 128;
constexpr int64_t kSharedLimit = 232448;  // kSharedLimit of flash3_config.cuh: 227 KiB

/// fp32 and packed registers of S, P and O that a thread can hold beside addresses and the softmax's state
/// without spilling: 232 registers a thread with two consumer warpgroups, 160 with three, 112 with four.
int64_t register_limit(int tile_m) {
  return tile_m == 256 ? 80 : tile_m == 192 ? 128 : 200;
}

int64_t registers(const Tile& t) {
  return t.config.tile_n / 2 + t.config.tile_n / 4 + (t.head_dim + 1) / 2;
}

}  // namespace

int64_t packed_rows(const Problem& p) {
  return p.heads / p.kv_heads * p.seqlen_q;
}

int64_t row_tiles(const Problem& p, const KernelConfig& config) {
  return (packed_rows(p) + config.tile_m - 1) / config.tile_m;
}

int64_t blocks(const Problem& p, const KernelConfig& config, int64_t multiprocessors) {
  const int64_t per_head = row_tiles(p, config);
  const int64_t tiles = per_head * p.batch * p.kv_heads;
  const auto waves = [&](int64_t count) { return (tiles + count - 1) / count; };
  const int64_t in_step = multiprocessors / per_head * per_head;  // blocks that whole heads keep busy
  const bool same_length = !p.causal;
  const bool idle = same_length && in_step > 0 && waves(in_step) == waves(multiprocessors);
  return std::min(tiles, idle ? in_step : multiprocessors);
}

int64_t section_heads(const Problem& p, const KernelConfig& config, int64_t blocks) {
  if (!p.causal) return 1;
  constexpr int64_t kTilesPerBlock = 3;
  constexpr int64_t kL2Budget = int64_t{32} << 20;
  int64_t heads = 1;
  while (2 * heads * row_tiles(p, config) <= kTilesPerBlock * blocks &&
         2 * heads * p.seqlen_kv * p.head_dim * 4 <= kL2Budget)
    heads *= 2;
  return heads;
}

int warps(int tile_m, bool specialize) {
  return static_cast<int>(tile_m / kWarpgroupRows * 4) + (specialize ? 4 : 0);
}

int64_t smem_bytes(const Tile& t) {
  const int64_t panels = (t.head_dim + kPanelColumns - 1) / kPanelColumns;
  const int64_t q = panels * t.config.tile_m * kPanelRowBytes;
  const int64_t stage = panels * t.config.tile_n * kPanelRowBytes;  // of K, or of V
  const int64_t warpgroups = t.config.tile_m / kWarpgroupRows;
  const int64_t q_buffers = 2 * (q + t.config.stages * stage) + 1024 <= kSharedLimit ? 2 : 1;
  // beside the tiles: per Q buffer and warpgroup the work and two barriers, per stage four barriers
  return q_buffers * (q + 32 * warpgroups) + t.config.stages * (2 * stage + 32);
}

Unsupported refused(std::string_view who, const Tile& t, const DeviceInfo& device) {
  const KernelConfig& k = t.config;
  if (k.tile_m < 64 || k.tile_m > 256 || k.tile_m % 64 != 0) {
    return fmt::format("{} needs tile_m of 64, 128, 192 or 256 (64 rows a warpgroup), not {}", who, k.tile_m);
  }
  if (k.tile_n < 16 || k.tile_n > 256 || k.tile_n % 16 != 0) {
    return fmt::format("{} needs tile_n in 16..256 in steps of 16, not {}", who, k.tile_n);
  }
  const int least = t.overlap ? 2 : 1;
  if (k.stages < least || k.stages > 16)
    return fmt::format("{} needs {} to 16 stages, not {}", who, least, k.stages);
  if (k.warps != warps(k.tile_m, t.specialize)) {
    return fmt::format("{} runs tile_m {} with {} warps, not {}", who, k.tile_m,
                       warps(k.tile_m, t.specialize), k.warps);
  }
  if (registers(t) > register_limit(k.tile_m)) {
    return fmt::format(
        "tile {}x{} at head_dim {} needs {} registers a thread for S, P and O, {} warpgroups leave {}",
        k.tile_m, k.tile_n, t.head_dim, registers(t), k.tile_m / kWarpgroupRows, register_limit(k.tile_m));
  }
  if (smem_bytes(t) > std::min(device.smem_per_block_bytes, kSharedLimit)) {
    return fmt::format(
        "tile {}x{} at head_dim {} with {} stages needs {} bytes of shared memory, a block has {}", k.tile_m,
        k.tile_n, t.head_dim, k.stages, smem_bytes(t), std::min(device.smem_per_block_bytes, kSharedLimit));
  }
  return std::nullopt;
}

KernelConfig measured_best(const Problem& p) {
  const bool masked = p.causal || p.window > 0;
  if (p.head_dim <= 64) return {.tile_m = 192, .tile_n = 128, .stages = 4};
  // Three warpgroups hide more, and pay for it with fewer keys a step and with tiles that short sequences do
  // not fill.
  const bool tall = p.seqlen_kv >= (masked ? 1024 : 2048);
  if (p.head_dim <= 96 && tall) return {.tile_m = 192, .tile_n = 96, .stages = 2};
  if (p.head_dim <= 128 && tall) return {.tile_m = 192, .tile_n = 80, .stages = 3};
  if (p.head_dim <= 128) return {.tile_m = 128, .tile_n = 128, .stages = 2};
  if (p.head_dim <= 192) return {.tile_m = 128, .tile_n = 112, .stages = 2};
  return {.tile_m = 128, .tile_n = masked && p.seqlen_kv < 2048 ? 64 : 80, .stages = 2};
}

}  // namespace attnprof::flash3
