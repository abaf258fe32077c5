// FlashAttention-2's forward pass on the CPU (Dao 2023, algorithm 1): scores never leave the core.
//
// Q, O [batch, heads, seqlen_q, head_dim], K, V [batch, kv_heads, seqlen_kv, head_dim] in fp32, bf16 or fp16,
// any sizes; LSE [batch, heads, seqlen_q] in fp32. One task is one tile of query rows of one head: it keeps
// its Q tile and an fp32 accumulator, walks over the K/V tiles that its rows can see, and packs each into
// panels for a register-blocked product (simd_host.hpp). All arithmetic is fp32; 16-bit inputs are widened on
// packing, probabilities are not rounded. Scratch of one thread stands for the on-chip memory of the
// two-level model and is sized to the second-level cache.
//
// Every row is computed by one task in a fixed order, so results do not depend on threads, batch or run. Nor
// do they depend on tile_m; another tile_n sums in another order.
#include "kernels/fused_host/fused_host.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numbers>
#include <vector>

#include "core/error.hpp"
#include "core/theory.hpp"
#include "host/host_device.hpp"
#include "host/thread_traffic.hpp"
#include "kernels/fused_host/tile.hpp"

namespace attnprof {
namespace {

/// Bound on the scratch of one thread where no cache size is known.
constexpr int64_t kMaxScratchBytes = int64_t{256} << 20;

int64_t scratch_bytes(const Problem& p, int64_t tile_m, int64_t tile_n) {
  return fused_scratch(std::min(tile_m, p.seqlen_q), std::min(tile_n, p.seqlen_kv), p.head_dim).floats *
         static_cast<int64_t>(sizeof(float));
}

/// The tallest query tile that leaves the working set inside the budget: K and V are then read least often,
/// and the work of packing them is shared by most rows.
KernelConfig resolve(const Problem& p, const KernelConfig& asked, const DeviceInfo& device) {
  KernelConfig config = asked;
  if (config.tile_n == 0) config.tile_n = p.head_dim <= 128 ? 128 : 64;
  if (config.tile_m == 0) {
    int64_t tile_m = 16 * kFusedRowGroup;
    while (tile_m > kFusedRowGroup && scratch_bytes(p, tile_m, config.tile_n) > device.smem_per_block_bytes) {
      tile_m -= kFusedRowGroup;
    }
    config.tile_m = static_cast<int>(balanced_rows(p, tile_m, device.multiprocessors));
  }
  config.stages = 1;  // one K/V tile at a time, used by one thread
  config.warps = 1;
  return config;
}

FusedLaunch make_launch(const Case& c, const Tensors& tensors, const DeviceInfo& device) {
  const KernelConfig config = resolve(c.problem, c.config, device);
  FusedLaunch launch;
  launch.problem = c.problem;
  launch.tensors = tensors;
  launch.tile_m = std::min<int64_t>(config.tile_m, c.problem.seqlen_q);
  launch.tile_n = std::min<int64_t>(config.tile_n, c.problem.seqlen_kv);
  launch.scale_log2 = static_cast<float>(softmax_scale(c.problem) * std::numbers::log2e);
  return launch;
}

Unsupported limits(const Case& c, const DeviceInfo& device) {
  const Problem& p = c.problem;
  const KernelConfig config = resolve(p, c.config, device);
  if (config.tile_m < 1 || config.tile_n < 1) {
    return fmt::format("tile {}x{}: each side must be at least 1", config.tile_m, config.tile_n);
  }
  const int64_t bytes = scratch_bytes(p, config.tile_m, config.tile_n);
  // Beyond the last cache the working set itself goes to main memory, and nobody counts that.
  const int64_t cache = device.last_level_cache_bytes;
  const int64_t limit = cache > 0 ? cache / std::max(1, device.multiprocessors) : kMaxScratchBytes;
  if (bytes > std::max(limit, device.smem_per_block_bytes)) {
    return fmt::format(
        "tile {}x{} with head_dim {} needs {} bytes a thread, its share of the last-level cache is {}: the "
        "rest "
        "would go to main memory uncounted",
        config.tile_m, config.tile_n, p.head_dim, bytes, limit);
  }
  return std::nullopt;
}

/// Heights in whole row groups, widths in whole panels, as long as the working set is not twice beyond its
/// budget: from there on every tile goes through the next cache.
std::vector<KernelConfig> candidates(const Problem& p, const DeviceInfo& device) {
  std::vector<KernelConfig> all;
  for (const int groups : {1, 2, 4, 6, 8, 12, 16}) {
    for (const int tile_n : {32, 64, 128, 256, 512}) {
      const KernelConfig k =
          resolve(p, {.tile_m = static_cast<int>(groups * kFusedRowGroup), .tile_n = tile_n}, device);
      // Beyond the problem's own size tiles are all the same.
      if (k.tile_m >= p.seqlen_q + kFusedRowGroup || (tile_n > 32 && tile_n >= 2 * p.seqlen_kv)) continue;
      if (scratch_bytes(p, k.tile_m, k.tile_n) > 2 * device.smem_per_block_bytes) continue;
      if (!limits({p, "fused", k}, device)) all.push_back(k);
    }
  }
  return all;
}

/// Scratch of the threads is the working set, like shared memory on a GPU: no part of the bytes, and no
/// workspace.
std::vector<ModelledStep> steps(const Case& c, const DeviceInfo& device) {
  const Problem& p = c.problem;
  const FusedLaunch launch = make_launch(c, {}, device);
  int64_t keys_loaded = 0;  // per head, over all query tiles
  int64_t pairs = 0;        // per head: rows of a group times the keys that any of them sees
  for (int64_t row = 0; row < p.seqlen_q; row += launch.tile_m) {
    const int64_t tile_end = std::min(row + launch.tile_m, p.seqlen_q);
    const KeyRange keys = keys_of_rows(p, row, tile_end);
    if (keys.size() > 0) {
      const int64_t first = keys.begin / launch.tile_n * launch.tile_n;
      const int64_t last = (keys.end + launch.tile_n - 1) / launch.tile_n * launch.tile_n;
      keys_loaded += std::min(last, p.seqlen_kv) - first;
    }
    for (int64_t group = row; group < tile_end; group += kFusedRowGroup) {
      const int64_t group_end = std::min(group + kFusedRowGroup, tile_end);
      pairs += (group_end - group) * keys_of_rows(p, group, group_end).size();
    }
  }
  const int64_t heads = p.batch * p.heads;
  ModelledWork work;
  work.hbm.read_bytes =
      q_bytes(p)                                                      // Q once
      + 2 * heads * keys_loaded * p.head_dim * dtype_bytes(p.dtype);  // K, V once per query tile
  work.hbm.write_bytes = o_bytes(p) + lse_bytes(p);                   // O, LSE once
  work.executed_flops = 4 * heads * pairs * p.head_dim;
  work.exp_count = heads * pairs;
  return {{"forward", work}};
}

class FusedHost : public Prepared {
 public:
  FusedHost(const FusedLaunch& launch, HostDevice& device)
      : launch_(launch),
        pool_(device.pool()),
        floats_per_thread_(fused_scratch(launch.tile_m, launch.tile_n, launch.problem.head_dim).floats),
        scratch_(device.allocate(pool_.size() * floats_per_thread_ * static_cast<int64_t>(sizeof(float)))),
        counted_(static_cast<size_t>(pool_.size())) {}

  void launch() override {
    std::fill(counted_.begin(), counted_.end(), ThreadTraffic{});
    const int64_t tiles = launch_.query_tiles();
    // Tiles of one head follow each other, so that its K and V stay in the last-level cache. The last goes
    // first: with a causal mask it is the longest, and what remains at the end is short.
    pool_.parallel_for(launch_.problem.batch * launch_.problem.heads * tiles, [&](int64_t index, int thread) {
      float* const scratch = static_cast<float*>(scratch_->data()) + thread * floats_per_thread_;
      fused_query_tile(launch_, index / tiles, tiles - 1 - index % tiles, scratch,
                       counted_[static_cast<size_t>(thread)].traffic);
    });
  }

  std::optional<Traffic> counted() const override { return total(counted_); }

 private:
  FusedLaunch launch_;
  ThreadPool& pool_;
  int64_t floats_per_thread_;
  std::unique_ptr<Buffer> scratch_;
  std::vector<ThreadTraffic> counted_;
};

std::unique_ptr<Prepared> prepare(const Case& c, const Tensors& tensors, Device& device) {
  if (const Unsupported reason = limits(c, device.info())) throw CaseError(*reason);
  HostDevice& host = as_host(device);
  require_host_tensors(c, tensors);
  return std::make_unique<FusedHost>(make_launch(c, tensors, device.info()), host);
}

}  // namespace

Implementation fused_host() {
  return {.name = "fused",
          .device = DeviceKind::host,
          .summary = "tiled FlashAttention-2 forward: online softmax, scores stay in cache; SIMD, threaded",
          .takes = {"fp32", "fp16", "bf16", "causal", "window", "gqa"},
          .limits = limits,
          .resolve = resolve,
          .candidates = candidates,
          .steps = steps,
          .prepare = prepare};
}

}  // namespace attnprof
