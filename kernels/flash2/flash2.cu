// flash2: exact attention, forward, fused and tiled; scores and probabilities never leave the SM. sm_80 or
// newer.
//
// Algorithm: FlashAttention-2 (Dao 2023, algorithm 1). A block keeps kTileM query rows and walks over tiles
// of kTileN keys; each is scored (S = Q K^T), exponentiated online (softmax.cuh) and folded into O +=
// P V.
//
// Shapes: contiguous BHSD, see params.cuh. head_dim is compiled in: 8 to 256 in steps of 8. Any seqlen_q and
// seqlen_kv >= 1, any grouping of query heads over KV heads, bottom-right causal mask, window.
//
// Precision: bf16 or fp16 operands; S, O and the row sums accumulate in fp32; P is rounded to the element
// type before the second product. Scores may be any finite fp32. Tolerance: attnprof::tolerance(p, false).
//
// Schedule: shared-memory bandwidth is the first limit. A K or V fragment fetched by ldmatrix (128 bytes a
// cycle for the SM) must feed two products, so a warp works on 32 rows. Up to head_dim 128 its registers hold
// 32 rows of O (kSides = 1). Above, two warps share 32 rows (kSides = 2): each scores half of the keys and
// accumulates half of O's columns, and they exchange row maxima and P through shared memory. K/V tiles arrive
// by cp.async, kStages deep; with one stage, K and V take turns: V loads under Q K^T, the next K under P V.
// Exponentials are taken 16 keys at a time, between the products of the 16 before: MUFU and tensor cores
// overlap within a warp as they do between the warps of an SM.
// Tiles that no row sees are skipped; only those that a mask cuts pay for masking. Grid order:
// work.cuh. What was tried and measured: NOTES.md.
#include "kernels/flash2/block.cuh"

namespace attnprof {

/// What the host compiled this file for; every ATTNPROF_ macro comes from flash2.cpp.
struct Config {
#if ATTNPROF_BF16
  using Element = Bf16;
#else
  using Element = Fp16;
#endif
  static constexpr int kHeadDim = ATTNPROF_HEAD_DIM;
  static constexpr int kTileM = ATTNPROF_TILE_M;
  static constexpr int kTileN = ATTNPROF_TILE_N;
  static constexpr int kStages = ATTNPROF_STAGES;
  static constexpr int kWarps = ATTNPROF_WARPS;
  static constexpr int kSides = ATTNPROF_SIDES;                ///< warps that share the same rows
  static constexpr int kBlocksPerSm = ATTNPROF_BLOCKS_PER_SM;  ///< registers are capped so that this many fit
  static constexpr bool kCausal = ATTNPROF_CAUSAL;
  static constexpr bool kWindow = ATTNPROF_WINDOW;
  static_assert(kHeadDim % 8 == 0 && kHeadDim >= 8 && kHeadDim <= 256, "head_dim: 8 to 256 in steps of 8");
  static_assert(kSides == 1 || kSides == 2, "one or two warps share rows");
  static_assert(kWarps >= 1 && kWarps <= 16 && kWarps % kSides == 0,
                "warps: 1 to 16, in pairs with two sides");
  static_assert(kTileM * kSides % (16 * kWarps) == 0,
                "tile_m: a multiple of 16 rows for each warp or pair of warps");
  static_assert(kTileN % (16 * kSides) == 0 && kTileN > 0, "tile_n: a multiple of 16 keys for each side");
  static_assert(kStages >= 1 && kStages <= 4, "stages: 1 to 4");
};

}  // namespace attnprof

extern "C" __global__ void __launch_bounds__(attnprof::Config::kWarps * 32, attnprof::Config::kBlocksPerSm)
    flash2_forward(const __grid_constant__ attnprof::AttentionParams params) {
  extern __shared__ __align__(16) unsigned char shared[];
  attnprof::Flash2<attnprof::Config> block(params, shared);
  block.visit_all();
  block.store();
}
