// The plan of flash3: which cases it takes, how it is cut, what it costs, what is launched.
#include "kernels/flash3/flash3.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/theory.hpp"
#include "kernels/device/arguments.hpp"
#include "kernels/flash3/layout.hpp"

namespace attnprof {
namespace {

using namespace flash3_layout;

/// A step of the ladder: the kernel's switches (config.cuh).
struct Rung {
  std::string_view name;
  std::string_view summary;
  bool specialize;
  bool pingpong;
  bool overlap;
};

constexpr Rung kRungs[] = {
    {"flash3", "fused tiles for Hopper: TMA, wgmma, a loading warpgroup, softmax under the products; sm_90",
     true, false, true},
    {"flash3-tma", "ladder: TMA and wgmma, every warpgroup in one role; sm_90", false, false, false},
    {"flash3-roles", "ladder: flash3-tma + a loading warpgroup and registers moved from it; sm_90", true,
     false, false},
    {"flash3-turns", "ladder: flash3-roles + warpgroups take turns on the tensor cores; sm_90", true, true,
     false},
};

/// A row's maximum may grow by 2^8 before O is rescaled: rarely anything to do, and P stays far from
/// overflow.
constexpr int kLazyRescale = 8;

constexpr int kMaxHeadDim = 256;
constexpr int kMaxStages = 16;

/// Of a tile within the limits of each size; others would overflow.
TileShape shape_of(const Rung& rung, int64_t head_dim, const KernelConfig& k) {
  return {static_cast<int>(head_dim), k.tile_m, k.tile_n, k.stages, rung.specialize};
}

int64_t packed_rows(const Problem& p) {
  return flash3_layout::packed_rows(p.heads, p.kv_heads, p.seqlen_q);
}

/// Tiles of packed rows in one KV head.
int64_t row_tiles(const Problem& p, const KernelConfig& k) {
  return (packed_rows(p) + k.tile_m - 1) / k.tile_m;
}

/// Thread blocks to launch: one for every multiprocessor, or fewer when whole heads then stay in step in as
/// many waves (tiles of one length only). A head whose tiles run in two waves fetches its K and V twice.
int64_t blocks(const Problem& p, const KernelConfig& k, int64_t multiprocessors) {
  const int64_t per_head = row_tiles(p, k);
  const int64_t tiles = per_head * p.batch * p.kv_heads;
  const auto waves = [&](int64_t count) { return (tiles + count - 1) / count; };
  const int64_t in_step = multiprocessors / per_head * per_head;  // blocks that whole heads keep busy
  const bool idle = !p.causal && in_step > 0 && waves(in_step) == waves(multiprocessors);
  return std::min(tiles, idle ? in_step : multiprocessors);
}

int warps(const Rung& rung, int tile_m) {
  return tile_m / kWarpgroupRows * 4 + (rung.specialize ? 4 : 0);
}

/// fp32 and packed registers of S, P and O that a thread needs, and can hold beside addresses and the
/// softmax's state without spilling: 232 registers a thread with two consumer warpgroups, 160 with three, 112
/// with four.
int64_t registers(int64_t head_dim, const KernelConfig& k) {
  return k.tile_n / 2 + k.tile_n / 4 + (head_dim + 1) / 2;
}
int64_t register_limit(int tile_m) {
  return tile_m == 256 ? 80 : tile_m == 192 ? 128 : 200;
}

/// Why a tile cannot be compiled or launched.
Unsupported refused(const Rung& rung, int64_t head_dim, const KernelConfig& k, const DeviceInfo& device) {
  if (k.tile_m < 64 || k.tile_m > 256 || k.tile_m % 64 != 0) {
    return fmt::format("{} needs tile_m of 64, 128, 192 or 256 (64 rows a warpgroup), not {}", rung.name,
                       k.tile_m);
  }
  if (k.tile_n < 16 || k.tile_n > 256 || k.tile_n % 16 != 0) {
    return fmt::format("{} needs tile_n in 16..256 in steps of 16, not {}", rung.name, k.tile_n);
  }
  const int least = rung.overlap ? 2 : 1;
  if (k.stages < least || k.stages > kMaxStages) {
    return fmt::format("{} needs {} to {} stages, not {}", rung.name, least, kMaxStages, k.stages);
  }
  if (k.warps != warps(rung, k.tile_m)) {
    return fmt::format("{} runs tile_m {} with {} warps, not {}", rung.name, k.tile_m, warps(rung, k.tile_m),
                       k.warps);
  }
  if (registers(head_dim, k) > register_limit(k.tile_m)) {
    return fmt::format(
        "tile {}x{} at head_dim {} needs {} registers a thread for S, P and O, {} warpgroups leave {}",
        k.tile_m, k.tile_n, head_dim, registers(head_dim, k), k.tile_m / kWarpgroupRows,
        register_limit(k.tile_m));
  }
  const int64_t needed = smem_bytes(shape_of(rung, head_dim, k));
  const int64_t available = std::min<int64_t>(device.smem_per_block_bytes, kSharedLimit);
  if (needed > available) {
    return fmt::format(
        "tile {}x{} at head_dim {} with {} stages needs {} bytes of shared memory, a block has {}", k.tile_m,
        k.tile_n, head_dim, k.stages, needed, available);
  }
  return std::nullopt;
}

/// The tile where no measurement holds (kernels/tuned_sm90.csv): three warpgroups, which hide more than two,
/// unless registers then hold less than 80 keys a step; as many keys as fit, up to 128; and as many stages as
/// leave room for a second Q buffer, up to 4.
KernelConfig widest_tile(const Problem& p, const DeviceInfo& device) {
  const Rung& flash3 = kRungs[0];
  const int64_t head_dim = std::min<int64_t>(p.head_dim, kMaxHeadDim);
  KernelConfig k{.tile_m = 192, .tile_n = 128, .stages = 2, .warps = warps(flash3, 192)};
  while (refused(flash3, head_dim, k, device) && k.tile_n > 16) {
    k.tile_n -= 16;
    if (k.tile_m == 192 && k.tile_n < 80) k = {128, 128, 2, warps(flash3, 128)};
  }
  KernelConfig deeper = k;
  while (k.stages < 4) {
    ++deeper.stages;
    if (q_buffers(shape_of(flash3, head_dim, deeper)) < 2) break;
    k = deeper;
  }
  return k;
}

KernelConfig resolve(const Rung& rung, const Problem& p, const KernelConfig& asked,
                     const DeviceInfo& device) {
  KernelConfig k = asked;
  const KernelConfig widest = widest_tile(p, device);
  if (k.tile_m == 0) k.tile_m = widest.tile_m;
  if (k.tile_n == 0) k.tile_n = k.tile_m == widest.tile_m ? widest.tile_n : 64;
  if (k.warps == 0) k.warps = warps(rung, k.tile_m);
  if (k.stages == 0) k.stages = k.tile_m == widest.tile_m && k.tile_n == widest.tile_n ? widest.stages : 2;
  return k;
}

Unsupported limits(const Rung& rung, const Case& c, const DeviceInfo& device) {
  const Problem& p = c.problem;
  if (device.compute_capability != 90) {
    return fmt::format("{} needs compute capability 9.0 (wgmma, TMA), this GPU has {}.{}", rung.name,
                       device.compute_capability / 10, device.compute_capability % 10);
  }
  if (p.head_dim < 8 || p.head_dim > kMaxHeadDim || p.head_dim % 8 != 0) {
    return fmt::format("{} needs head_dim in 8..{} in steps of 8, not {}", rung.name, kMaxHeadDim,
                       p.head_dim);
  }
  constexpr int64_t kMaxRows = int64_t{1} << 30;  // row and key numbers are 32-bit on the device
  if (const int64_t rows = std::max(packed_rows(p), p.seqlen_kv); rows > kMaxRows) {
    return fmt::format("{} needs at most {} query rows for a KV head and as many keys, not {}", rung.name,
                       kMaxRows, rows);
  }
  if (const auto reason = refused(rung, p.head_dim, c.config, device)) return reason;
  constexpr int64_t kMaxTiles = int64_t{1} << 30;
  if (p.batch * p.kv_heads > kMaxTiles / row_tiles(p, c.config)) {
    return fmt::format("{} needs at most {} tiles of query rows, not {} x {} x {}", rung.name, kMaxTiles,
                       p.batch, p.kv_heads, row_tiles(p, c.config));
  }
  return std::nullopt;
}

/// For each height and number of stages the three widest tiles that registers and shared memory hold: keys a
/// step are what hides latencies, and a narrower tile only pays more steps. One warpgroup alone has nothing
/// to hide behind: it is for problems that have no more rows.
std::vector<KernelConfig> candidates(const Problem& p, const DeviceInfo& device) {
  constexpr int kWidest = 3;
  const Rung& flash3 = kRungs[0];
  std::vector<KernelConfig> all;
  for (const int tile_m : {64, 128, 192, 256}) {
    if (tile_m == 64 && packed_rows(p) > 64) continue;
    for (const int stages : {2, 3, 4, 6}) {
      int taken = 0;
      for (int tile_n = 256; tile_n >= 16 && taken < kWidest; tile_n -= 16) {
        const KernelConfig k{tile_m, tile_n, stages, warps(flash3, tile_m)};
        if (limits(flash3, {p, std::string(flash3.name), k}, device)) continue;
        all.push_back(k);
        ++taken;
      }
    }
  }
  return all;
}

/// Q, O and LSE cross once. So do K and V when those of the KV heads that running blocks share fit L2
/// together; else every wave of blocks reads them again.
std::vector<ModelledStep> steps(const Rung& rung, const Case& c, const DeviceInfo& device) {
  const Problem& p = c.problem;
  const int64_t kv_heads = p.batch * p.kv_heads;
  const int64_t tiles = row_tiles(p, c.config);
  const int64_t running = blocks(p, c.config, std::max(1, device.multiprocessors));
  const int64_t section = p.causal
                              ? section_heads(static_cast<int>(tiles), static_cast<int>(running),
                                              static_cast<unsigned long long>(p.seqlen_kv * p.head_dim * 4))
                              : 1;
  const int64_t in_flight = std::clamp<int64_t>((running + tiles - 1) / tiles, section, kv_heads);
  const bool fits = device.last_level_cache_bytes == 0 ||
                    in_flight * 2 * kv_bytes(p) / kv_heads <= device.last_level_cache_bytes;
  const int64_t reads = fits ? 1 : (tiles + running - 1) / running;

  ModelledWork work;
  work.hbm.read_bytes = q_bytes(p) + reads * 2 * kv_bytes(p);
  work.hbm.write_bytes = o_bytes(p) + lse_bytes(p);
  // A warpgroup passes over blocks that its 64 rows do not see; without a producer all rows of a tile visit
  // the same.
  const int64_t pairs =
      p.batch * p.heads *
      executed_pairs(p, rung.specialize ? kWarpgroupRows : c.config.tile_m, c.config.tile_n);
  const int64_t qk_columns = (p.head_dim + 15) / 16 * 16;
  work.executed_flops = 2 * pairs * (qk_columns + p.head_dim);
  work.exp_count = pairs;
  return {{"forward", work}};
}

std::vector<Launch> launches(const Rung& rung, const Case& c, const DeviceInfo& device, const Tensors& t) {
  require_16_byte_operands(rung.name, t);
  const Problem& p = c.problem;
  const KernelConfig& k = c.config;
  const auto panels = [&](const char* tensor, int64_t rows, int box_rows) {
    return TensorMap{.address = t.at(tensor),
                     .dtype = p.dtype,
                     .columns = p.head_dim,
                     .rows = rows,
                     .heads = p.batch * p.kv_heads,
                     .box_columns = kPanelColumns,
                     .box_rows = box_rows};
  };
  return {KernelLaunch{
      .kernel = {.source = "kernels/flash3/flash3.cu",
                 .entry = "flash3_forward",
                 .defines = {macro("HEAD_DIM", p.head_dim), macro("TILE_M", k.tile_m),
                             macro("TILE_N", k.tile_n), macro("STAGES", k.stages),
                             macro("BF16", p.dtype == DType::bf16), macro("CAUSAL", p.causal),
                             macro("WINDOW", p.window > 0), macro("SPECIALIZE", rung.specialize),
                             macro("PINGPONG", rung.pingpong), macro("OVERLAP", rung.overlap),
                             macro("LAZY_RESCALE", kLazyRescale)}},
      .shape = {.grid_x = static_cast<unsigned>(blocks(p, k, device.multiprocessors)),
                .block_x = static_cast<unsigned>(32 * k.warps),
                .dynamic_smem_bytes = static_cast<unsigned>(smem_bytes(shape_of(rung, p.head_dim, k)))},
      .arguments = {by_value(attention_params(p, t)), panels("q", packed_rows(p), kWarpgroupRows),
                    panels("k", p.seqlen_kv, k.tile_n), panels("v", p.seqlen_kv, k.tile_n)}}};
}

Implementation row(const Rung& rung) {
  using std::placeholders::_1, std::placeholders::_2, std::placeholders::_3;
  return {.name = std::string(rung.name),
          .device = DeviceKind::gpu,
          .summary = std::string(rung.summary),
          .takes = {"fp16", "bf16", "causal", "window", "gqa"},
          .limits = std::bind(limits, rung, _1, _2),
          .resolve = std::bind(resolve, rung, _1, _2, _3),
          .steps = std::bind(steps, rung, _1, _2),
          .launches = std::bind(launches, rung, _1, _2, _3),
          .tuned_as = "flash3"};
}

}  // namespace

std::vector<Implementation> flash3() {
  std::vector<Implementation> all;
  for (const Rung& rung : kRungs) all.push_back(row(rung));  // compared on the tiles of the first
  all.front().candidates = candidates;
  all.front().tuned_as = "";
  return all;
}

}  // namespace attnprof
