// Shared memory of one block of flash2: the kernel places its tiles by it, and the plan checks that they fit.
// Compiled by the host compiler and by NVRTC.
#pragma once

#include "kernels/device/layout.hpp"

namespace attnprof::flash2_layout {

struct Tile {
  long long head_dim, tile_m, tile_n, stages;
  int sides;  ///< warps that share the same rows
};

/// Where each part begins, in bytes: Q, then `stages` tiles of K, as many of V; with two sides also P, then a
/// float per side and row.
struct Places {
  long long keys, values, probabilities, rows, end;
};

constexpr Places places(const Tile& t) {
  const long long pitch = pitch_bytes(t.head_dim);
  const long long keys = pitch * t.tile_m;
  const long long values = keys + pitch * t.tile_n * t.stages;
  const long long probabilities = values + pitch * t.tile_n * t.stages;
  const long long rows = probabilities + (t.sides == 2 ? t.tile_m * pitch_bytes(t.tile_n) : 0);
  return {keys, values, probabilities, rows, rows + (t.sides == 2 ? 8 * t.tile_m : 0)};
}

}  // namespace attnprof::flash2_layout
