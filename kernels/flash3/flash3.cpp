// The plan of flash3: which cases it takes, how it is cut, what it costs. Needs no CUDA;
// flash3_launch_gpu.cpp does.
#include "kernels/flash3/flash3.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "core/theory.hpp"
#include "kernels/flash3/launch.hpp"
#include "kernels/flash3/tile.hpp"

namespace attnprof {
namespace {

/// A step of the ladder: the kernel's switches (flash3_config.cuh).
struct Rung {
  std::string_view name;
  std::string_view summary;
  bool specialize;
  bool pingpong;
  bool overlap;
};

constexpr std::array<Rung, 4> kRungs{{
    {"flash3", "fused tiles for Hopper: TMA, wgmma, a loading warpgroup, softmax under the products; sm_90",
     true, false, true},
    {"flash3-tma", "ladder: TMA and wgmma, every warpgroup in one role; sm_90", false, false, false},
    {"flash3-roles", "ladder: flash3-tma + a loading warpgroup and registers moved from it; sm_90", true,
     false, false},
    {"flash3-turns", "ladder: flash3-roles + warpgroups take turns on the tensor cores; sm_90", true, true,
     false},
}};

/// A row's maximum may grow by 2^8 before O is rescaled: rarely anything to do, and P stays far from
/// overflow.
constexpr int kLazyRescale = 8;

flash3::Tile tile_of(const Rung& rung, const Case& c) {
  return {.head_dim = c.problem.head_dim,
          .config = c.config,
          .specialize = rung.specialize,
          .overlap = rung.overlap};
}

KernelConfig resolve(const Rung& rung, const Problem& p, const KernelConfig& asked) {
  KernelConfig k = asked;
  const KernelConfig best = flash3::measured_best(p);
  if (k.tile_m == 0) k.tile_m = best.tile_m;
  if (k.tile_n == 0) k.tile_n = k.tile_m == best.tile_m ? best.tile_n : 64;
  if (k.warps == 0) k.warps = flash3::warps(k.tile_m, rung.specialize);
  if (k.stages == 0) k.stages = k.tile_m == best.tile_m && k.tile_n == best.tile_n ? best.stages : 2;
  return k;
}

Unsupported supports(const Rung& rung, const Case& c, const DeviceInfo& device) {
  const Problem& p = c.problem;
  const KernelConfig& k = c.config;
  if (device.compute_capability != 90) {
    return fmt::format("{} needs compute capability 9.0 (wgmma, TMA), this GPU has {}.{}", rung.name,
                       device.compute_capability / 10, device.compute_capability % 10);
  }
  if (p.pass != Pass::fwd) return fmt::format("{} computes fwd only, not {}", rung.name, to_string(p.pass));
  if (p.dtype == DType::fp32) {
    return fmt::format("{} takes bf16 and fp16, not fp32: its matrix products need 16-bit operands",
                       rung.name);
  }
  if (p.head_dim < 8 || p.head_dim > 256 || p.head_dim % 8 != 0) {
    return fmt::format("{} needs head_dim in 8..256 in steps of 8, not {}", rung.name, p.head_dim);
  }
  constexpr int64_t kMaxRows = int64_t{1} << 30;  // row and key numbers are 32-bit on the device
  if (const int64_t rows = std::max(flash3::packed_rows(p), p.seqlen_kv); rows > kMaxRows) {
    return fmt::format("{} needs at most {} query rows for a KV head and as many keys, not {}", rung.name,
                       kMaxRows, rows);
  }
  if (const auto reason = flash3::refused(rung.name, tile_of(rung, c), device)) return reason;
  constexpr int64_t kMaxTiles = int64_t{1} << 30;
  if (p.batch * p.kv_heads > kMaxTiles / flash3::row_tiles(p, k)) {
    return fmt::format("{} needs at most {} tiles of query rows, not {} x {} x {}", rung.name, kMaxTiles,
                       p.batch, p.kv_heads, flash3::row_tiles(p, k));
  }
  return std::nullopt;
}

/// Q, O and LSE cross once. So do K and V when those of the KV heads that running blocks share fit L2
/// together; else every wave of blocks reads them again.
ModelledWork model(const Rung& rung, const Case& c, const DeviceInfo& device) {
  const Problem& p = c.problem;
  const int64_t kv_heads = p.batch * p.kv_heads;
  const int64_t row_tiles = flash3::row_tiles(p, c.config);
  const int64_t running = flash3::blocks(p, c.config, std::max(1, device.multiprocessors));
  const int64_t in_flight = std::clamp<int64_t>((running + row_tiles - 1) / row_tiles,
                                                flash3::section_heads(p, c.config, running), kv_heads);
  const bool fits = device.last_level_cache_bytes == 0 ||
                    in_flight * 2 * kv_bytes(p) / kv_heads <= device.last_level_cache_bytes;
  const int64_t reads = fits ? 1 : (row_tiles + running - 1) / running;

  ModelledWork work;
  work.hbm.read_bytes = q_bytes(p) + reads * 2 * kv_bytes(p);
  work.hbm.write_bytes = o_bytes(p) + lse_bytes(p);
  // A warpgroup passes over blocks that its 64 rows do not see; without a producer all rows of a tile visit
  // the same.
  const int64_t pairs =
      p.batch * p.heads * executed_pairs(p, rung.specialize ? 64 : c.config.tile_m, c.config.tile_n);
  const int64_t qk_columns = (p.head_dim + 15) / 16 * 16;
  work.executed_flops = 2 * pairs * (qk_columns + p.head_dim);
  work.exp_count = pairs;
  return work;
}

KernelSpec spec(const Rung& rung, const Case& c) {
  const Problem& p = c.problem;
  const KernelConfig& k = c.config;
  const auto number = [](int64_t x) { return std::to_string(x); };
  return {.source = "kernels/flash3/flash3.cu",
          .entry = "flash3_forward",
          .defines = {{"ATTNPROF_HEAD_DIM", number(p.head_dim)},
                      {"ATTNPROF_TILE_M", number(k.tile_m)},
                      {"ATTNPROF_TILE_N", number(k.tile_n)},
                      {"ATTNPROF_STAGES", number(k.stages)},
                      {"ATTNPROF_BF16", number(p.dtype == DType::bf16)},
                      {"ATTNPROF_CAUSAL", number(p.causal)},
                      {"ATTNPROF_WINDOW", number(p.window > 0)},
                      {"ATTNPROF_SPECIALIZE", number(rung.specialize)},
                      {"ATTNPROF_PINGPONG", number(rung.pingpong)},
                      {"ATTNPROF_OVERLAP", number(rung.overlap)},
                      {"ATTNPROF_LAZY_RESCALE", number(kLazyRescale)}}};
}

template <int kRung>
Implementation row() {
  return {.name = kRungs[kRung].name,
          .device = DeviceKind::gpu,
          .summary = kRungs[kRung].summary,
          .supports = [](const Case& c, const DeviceInfo& d) { return supports(kRungs[kRung], c, d); },
          .resolve = [](const Problem& p, const KernelConfig& k,
                        const DeviceInfo&) { return resolve(kRungs[kRung], p, k); },
          .workspace_bytes = [](const Case&, const DeviceInfo&) -> int64_t { return 0; },
          .model = [](const Case& c, const DeviceInfo& d) { return model(kRungs[kRung], c, d); },
          .kernels = [](const Case& c, const DeviceInfo&) { return std::vector{spec(kRungs[kRung], c)}; },
          .prepare =
              [](const Case& c, const Tensors& t, Device& d) {
                return prepare_flash3(c, t, d, spec(kRungs[kRung], c),
                                      flash3::smem_bytes(tile_of(kRungs[kRung], c)));
              }};
}

}  // namespace

Implementation flash3_gpu() {
  return row<0>();
}

std::vector<Implementation> flash3_ladder_gpu() {
  return {row<1>(), row<2>(), row<3>()};
}

}  // namespace attnprof
