// The plan of flash2: which cases it takes, how it is cut, what it costs, what is launched.
#include "kernels/flash2/flash2.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/l2_model.hpp"
#include "core/theory.hpp"
#include "kernels/device/arguments.hpp"
#include "kernels/flash2/layout.hpp"

namespace attnprof {

namespace {

constexpr int kMaxWarps = 16;
constexpr int kMaxStages = 4;
/// fp32 accumulators (S and O) that a thread can hold beside fragments and addresses without spilling.
constexpr int kMaxAccumulators = 192;

/// Warps that share rows: above head_dim 128 a warp cannot hold 32 rows of O, and two split its columns
/// (flash2.cu).
int sides(const Problem& p, const KernelConfig& k) {
  return p.head_dim > 128 && k.tile_n % 32 == 0 ? 2 : 1;
}

/// m16 blocks of query rows in one warp's registers; 0 when the warps do not divide the tile.
int row_blocks(const Problem& p, const KernelConfig& k) {
  const int rows = k.tile_m * sides(p, k);
  return k.warps > 0 && rows % (16 * k.warps) == 0 ? rows / (16 * k.warps) : 0;
}

/// Dynamic shared memory of one block.
int64_t smem_bytes(const Problem& p, const KernelConfig& k) {
  return flash2_layout::places({p.head_dim, k.tile_m, k.tile_n, k.stages, sides(p, k)}).end;
}

int64_t accumulators(const Problem& p, const KernelConfig& k) {
  return row_blocks(p, k) * (padded_columns(p.head_dim) + k.tile_n) / 2 / sides(p, k);
}

/// Warps so that each works on 32 rows where registers allow, else on 16.
int default_warps(const Problem& p, KernelConfig k) {
  for (const int blocks : {2, 1}) {
    const int rows = k.tile_m * sides(p, k);
    if (rows % (16 * blocks) != 0) continue;
    k.warps = rows / (16 * blocks);
    if (k.warps <= kMaxWarps && k.warps % sides(p, k) == 0 && accumulators(p, k) <= kMaxAccumulators)
      return k.warps;
  }
  return std::clamp(k.tile_m / 16, 1, kMaxWarps);
}

/// Blocks of one SM that the register allocation must leave room for: three where S and O are small, so that
/// twelve warps hide each other's latencies.
int blocks_per_sm(const Problem& p, const KernelConfig& k) {
  if (k.warps > 4) return 1;
  return accumulators(p, k) <= 112 && !p.causal && p.window == 0 ? 3 : 2;
}

/// Measured on an H200 (kernels/NOTES.md); the same reasons hold on other chips, but from sm_100 on ptxas
/// spills in the two tightest of these kernels.
int default_tile_n(const Problem& p, int tile_m, const DeviceInfo& device) {
  if (p.head_dim <= 64) {
    if (p.causal && device.compute_capability < 100) return 128;
    return p.causal || p.window > 0 || device.compute_capability >= 100 ? 64 : 48;
  }
  // One window side more to compare with is one register too many for sm_80's ptxas.
  if (p.head_dim <= 128) return device.compute_capability < 90 && p.window > 0 ? 32 : 48;
  const KernelConfig wanted{.tile_m = tile_m, .tile_n = 64, .stages = 1};
  return smem_bytes(p, wanted) <= device.smem_per_block_bytes ? 64 : 32;  // 99 KB on sm_86, sm_89, sm_120
}

KernelConfig resolve(const Problem& p, const KernelConfig& asked, const DeviceInfo& device) {
  KernelConfig k = asked;
  if (k.tile_m == 0) k.tile_m = p.head_dim <= 128 ? 128 : 64;
  if (k.tile_n == 0) k.tile_n = default_tile_n(p, k.tile_m, device);
  if (k.warps == 0) k.warps = default_warps(p, k);
  if (k.stages == 0) {
    // Small tiles meet the barrier often, and a second stage saves one of two; large ones hide their loads
    // under the product before, and a second stage would only cost shared memory and registers.
    constexpr int64_t kLargeTileBytes = 16 << 10;
    k.stages = k.tile_n * p.head_dim * 2 < kLargeTileBytes ? 2 : 1;
    if (smem_bytes(p, k) > device.smem_per_block_bytes) k.stages = 1;
  }
  return k;
}

Unsupported limits(const Case& c, const DeviceInfo& device) {
  const Problem& p = c.problem;
  const KernelConfig& k = c.config;
  if (device.compute_capability < 80) {
    return fmt::format("flash2 needs compute capability 8.0, this GPU has {}.{}",
                       device.compute_capability / 10, device.compute_capability % 10);
  }
  if (p.head_dim < 8 || p.head_dim > 256 || p.head_dim % 8 != 0) {
    return fmt::format("flash2 needs head_dim in 8..256 in steps of 8, not {}", p.head_dim);
  }
  constexpr int64_t kMaxSide = int64_t{1} << 30;  // row and key numbers are 32-bit on the device
  if (std::max(p.seqlen_q, p.seqlen_kv) > kMaxSide) {
    return fmt::format("flash2 needs seqlen of at most {}, not {}", kMaxSide,
                       std::max(p.seqlen_q, p.seqlen_kv));
  }
  if (k.tile_n % 16 != 0) return fmt::format("flash2 needs tile_n in steps of 16, not {}", k.tile_n);
  if (k.tile_m % 16 != 0) return fmt::format("flash2 needs tile_m in steps of 16, not {}", k.tile_m);
  if (k.stages < 1 || k.stages > kMaxStages)
    return fmt::format("flash2 needs 1 to {} stages, not {}", kMaxStages, k.stages);
  if (k.warps > kMaxWarps || k.warps % sides(p, k) != 0 || row_blocks(p, k) == 0) {
    return fmt::format(
        "flash2 cannot split {} query rows over {} warps: each of at most {} takes a multiple of 16{}",
        k.tile_m, k.warps, kMaxWarps, sides(p, k) == 2 ? ", in pairs above head_dim 128" : "");
  }
  if (accumulators(p, k) > kMaxAccumulators) {
    return fmt::format(
        "tile {}x{} at head_dim {} over {} warps needs {} accumulators a thread, registers hold {}", k.tile_m,
        k.tile_n, p.head_dim, k.warps, accumulators(p, k), kMaxAccumulators);
  }
  if (smem_bytes(p, k) > device.smem_per_block_bytes) {
    return fmt::format(
        "tile {}x{} at head_dim {} with {} stages needs {} bytes of shared memory, a block has {}", k.tile_m,
        k.tile_n, p.head_dim, k.stages, smem_bytes(p, k), device.smem_per_block_bytes);
  }
  constexpr int64_t kMaxBlocks = (int64_t{1} << 31) - 1;
  const int64_t m_tiles = (p.seqlen_q + k.tile_m - 1) / k.tile_m;
  if (p.batch * p.heads > kMaxBlocks / m_tiles) {
    return fmt::format("flash2 needs at most {} tiles of query rows, not {} x {} x {}", kMaxBlocks, p.batch,
                       p.heads, m_tiles);
  }
  return std::nullopt;
}

/// Warps follow from the tile: as few as registers allow, for each fragment then feeds most products.
std::vector<KernelConfig> candidates(const Problem& p, const DeviceInfo& device) {
  std::vector<KernelConfig> all;
  for (const int tile_m : {64, 128}) {
    for (const int tile_n : {32, 48, 64, 80, 96, 128}) {
      for (const int stages : {1, 2}) {
        const KernelConfig k = resolve(p, {.tile_m = tile_m, .tile_n = tile_n, .stages = stages}, device);
        if (!limits({p, "flash2", k}, device)) all.push_back(k);
      }
    }
  }
  return all;
}

/// How often K and V of one KV head are read, on average. Blocks of a head are neighbours in the grid. Those
/// that run together read K and V at one pace and so once between them; where a head's blocks are spread over
/// several waves, the later ones find what is left in L2 of the heads that were in flight with it.
double kv_reads(const Problem& p, int64_t blocks_of_kv_head, int64_t running, const DeviceInfo& device) {
  if (device.last_level_cache_bytes == 0) return 1;
  const int64_t kv_heads = p.batch * p.kv_heads;
  const int64_t heads_in_flight = std::min(kv_heads, (running + blocks_of_kv_head - 1) / blocks_of_kv_head);
  const double head_bytes = 2.0 * static_cast<double>(kv_bytes(p)) / static_cast<double>(kv_heads);
  const double in_flight_bytes = static_cast<double>(heads_in_flight) * head_bytes;
  if (p.causal || p.window > 0) {
    // Long and short blocks mix, and few of them reach the keys that others have left: measured, once.
    const bool fits = in_flight_bytes <= static_cast<double>(device.last_level_cache_bytes);
    return fits ? 1.0 : static_cast<double>((blocks_of_kv_head + running - 1) / running);
  }
  int64_t waves = 0;
  for (int64_t head = 0; head < kv_heads; ++head)
    waves += ((head + 1) * blocks_of_kv_head - 1) / running - head * blocks_of_kv_head / running + 1;
  const double again = static_cast<double>(waves - kv_heads) / static_cast<double>(kv_heads);
  return 1 + again * l2_miss_share(in_flight_bytes, l2_shared_capacity(device));
}

/// Q, O and LSE cross once, K and V as often as kv_reads says.
std::vector<ModelledStep> steps(const Case& c, const DeviceInfo& device) {
  const Problem& p = c.problem;
  const KernelConfig& k = c.config;
  const int64_t m_tiles = (p.seqlen_q + k.tile_m - 1) / k.tile_m;
  const int64_t per_sm = std::max<int64_t>(1, device.smem_per_block_bytes / (smem_bytes(p, k) + 1024));
  const int64_t running =
      std::max<int64_t>(1, std::min<int64_t>(per_sm, blocks_per_sm(p, k)) * device.multiprocessors);
  const double reads = kv_reads(p, m_tiles * (p.heads / p.kv_heads), running, device);

  ModelledWork work;
  work.hbm.read_bytes = q_bytes(p) + std::llround(reads * 2 * static_cast<double>(kv_bytes(p)));
  work.hbm.write_bytes = o_bytes(p) + lse_bytes(p);
  const int64_t pairs = p.batch * p.heads * executed_pairs(p, k.tile_m, k.tile_n);
  work.executed_flops = 4 * pairs * padded_columns(p.head_dim);
  work.exp_count = pairs;
  return {{"forward", work}};
}

std::vector<Launch> launches(const Case& c, const DeviceInfo&, const Tensors& t) {
  require_16_byte_operands("flash2", t);
  const Problem& p = c.problem;
  const KernelConfig& k = c.config;
  const int64_t m_tiles = (p.seqlen_q + k.tile_m - 1) / k.tile_m;
  return {KernelLaunch{
      .kernel = {.source = "kernels/flash2/flash2.cu",
                 .entry = "flash2_forward",
                 .defines = {macro("HEAD_DIM", p.head_dim), macro("TILE_M", k.tile_m),
                             macro("TILE_N", k.tile_n), macro("STAGES", k.stages), macro("WARPS", k.warps),
                             macro("SIDES", sides(p, k)), macro("BLOCKS_PER_SM", blocks_per_sm(p, k)),
                             macro("BF16", p.dtype == DType::bf16), macro("CAUSAL", p.causal),
                             macro("WINDOW", p.window > 0)}},
      .shape = {.grid_x = static_cast<unsigned>(p.batch * p.heads * m_tiles),
                .block_x = static_cast<unsigned>(32 * k.warps),
                .dynamic_smem_bytes = static_cast<unsigned>(smem_bytes(p, k))},
      .arguments = {by_value(attention_params(p, t))}}};
}

}  // namespace

Implementation flash2() {
  return {.name = "flash2",
          .device = DeviceKind::gpu,
          .summary = "fused tiles: mma.sync, cp.async, online softmax (FlashAttention-2); sm_80 and newer",
          .takes = {"fp16", "bf16", "causal", "window", "gqa"},
          .limits = limits,
          .resolve = resolve,
          .candidates = candidates,
          .steps = steps,
          .launches = launches};
}

}  // namespace attnprof
