// How flash3 cuts a problem: the host's account of flash3_config.cuh and flash3_schedule.cuh.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/device.hpp"
#include "core/implementation.hpp"
#include "core/problem.hpp"

namespace attnprof::flash3 {

struct Tile {
  int64_t head_dim;
  KernelConfig config;
  bool specialize;  ///< a warpgroup of its own loads
  bool overlap;     ///< P is held beside the next S
};

/// Query rows that share one KV head: the query heads of the group, one after the other.
int64_t packed_rows(const Problem& p);
/// Tiles of tile_m packed rows in one KV head.
int64_t row_tiles(const Problem& p, const KernelConfig& config);
/// Thread blocks to launch: one for every multiprocessor, or fewer when whole heads then stay in step in as
/// many waves (tiles of one length only). A head whose tiles run in two waves fetches its K and V twice.
int64_t blocks(const Problem& p, const KernelConfig& config, int64_t multiprocessors);
/// KV heads whose tiles are interleaved, longest first (causal); 1 otherwise. `blocks` as above.
int64_t section_heads(const Problem& p, const KernelConfig& config, int64_t blocks);

int warps(int tile_m, bool specialize);
int64_t smem_bytes(const Tile& tile);

/// Why `tile` cannot be compiled or launched, numbers and limits named; `who` is the implementation's name.
Unsupported refused(std::string_view who, const Tile& tile, const DeviceInfo& device);

/// tile_m, tile_n and stages that measured fastest on an H200 (kernels/NOTES.md).
KernelConfig measured_best(const Problem& p);

}  // namespace attnprof::flash3
