// flash2: exact attention, forward, fused and tiled; scores and probabilities never leave the registers. sm_80 and newer.
//
// Algorithm   FlashAttention-2 (Dao 2023, algorithm 1): a block keeps kTileM query rows and walks over tiles of kTileN keys;
//             each tile is scored (S = Q K^T), exponentiated online (flash2_softmax.cuh) and folded into O += P V.
// Shapes      contiguous BHSD, see params.cuh. head_dim is compiled in: 8 to 256 in steps of 8. Any seqlen_q, seqlen_kv >= 1,
//             any grouping of query heads over KV heads, bottom-right causal mask, window.
// Precision   bf16 or fp16 operands, fp32 accumulation of S, O and the row sums; P is rounded to the element type before
//             the second product. Scores may be any finite fp32. Tolerance: attnprof::tolerance(p, false).
// Schedule    Warps split the query rows, so rows meet only within a quad of lanes and warps only at the barrier that
//             hands over a K/V tile. 32 rows a warp where registers allow (head_dim <= 128): each K or V fragment read
//             from shared memory then feeds two products, else ldmatrix, at 128 bytes a cycle, would be the limit.
//             K/V tiles arrive by cp.async, kStages deep; with one stage, K and V take turns: V loads under Q K^T, the next K
//             under P V. A tile's exponentials are issued beside the products of the 16 keys before, so that MUFU
//             and tensor cores overlap within a warp as they do between the two or more blocks of an SM.
//             Tiles that no row sees are skipped; only those that a mask cuts pay for masking.
//             Causal blocks run longest first, in sections of heads whose K and V fit in L2.
#include "mma_tile.cuh"
#include "params.cuh"
#include "flash2_softmax.cuh"

namespace attnprof {

/// Which tile of the output a block computes, and which keys it needs.
struct BlockWork {
  long long head;  ///< of batch * heads
  int first_row;
  int first_tile, first_whole, last_whole, last_tile;  ///< key tiles: [first, last), of which [.._whole) need no mask
};

template <class Config>
struct Flash2 {
  using Element = typename Config::Element;
  using Layout = TileLayout<Config::kHeadDim>;
  static constexpr int kHeadDim = Config::kHeadDim;
  static constexpr int kTileM = Config::kTileM;
  static constexpr int kTileN = Config::kTileN;
  static constexpr int kStages = Config::kStages;
  static constexpr int kThreads = Config::kWarps * 32;
  static constexpr int kRowBlocks = kTileM / (16 * Config::kWarps);  ///< m16 blocks of a warp
  static constexpr int kScoreBlocks = kTileN / 8;
  static constexpr int kOutputBlocks = kHeadDim / 8;
  static constexpr int kDepthSteps = Layout::kColumns / 16;  ///< k16 steps of Q K^T
  static constexpr int kKeySteps = kTileN / 16;              ///< k16 steps of P V
  static constexpr unsigned kQueryBytes = kTileM * Layout::kPitch;
  static constexpr unsigned kKeyBytes = kTileN * Layout::kPitch;

  using Scores = float[kRowBlocks][kScoreBlocks][4];
  using Output = float[kRowBlocks][kOutputBlocks][4];

  const AttentionParams& params;
  BlockWork work;
  unsigned q_tile, k_tiles, v_tiles;  ///< shared memory: Q, then kStages of K, then kStages of V
  const char* k_head;
  const char* v_head;
  OnlineSoftmax<kRowBlocks> softmax;
  Output output;

  __device__ __forceinline__ explicit Flash2(const AttentionParams& p, unsigned char* shared) : params(p) {
    q_tile = smem_address(shared);
    k_tiles = q_tile + kQueryBytes;
    v_tiles = k_tiles + kStages * kKeyBytes;
    work = find_work();
    const int kv_head = static_cast<int>(work.head % params.heads) / (params.heads / params.kv_heads);
    const long long kv = work.head / params.heads * params.kv_heads + kv_head;
    k_head = static_cast<const char*>(params.k) + kv * params.seqlen_kv * (kHeadDim * 2);
    v_head = static_cast<const char*>(params.v) + kv * params.seqlen_kv * (kHeadDim * 2);
    softmax.reset();
#pragma unroll
    for (int b = 0; b < kRowBlocks; ++b)
      for (int n = 0; n < kOutputBlocks; ++n)
        for (int i = 0; i < 4; ++i) output[b][n][i] = 0.0f;
  }

  // ---- which work ------------------------------------------------------------------------------------------------

  /// Keys [visible_begin, visible_end) of a query row, before clipping to [0, seqlen_kv).
  __device__ __forceinline__ int visible_begin(int row) const {
    return Config::kWindow ? row + params.seqlen_kv - params.seqlen_q - params.window + 1 : 0;
  }
  __device__ __forceinline__ int visible_end(int row) const {
    const int diagonal = row + params.seqlen_kv - params.seqlen_q;
    if (Config::kCausal) return min(diagonal + 1, params.seqlen_kv);
    return Config::kWindow ? min(diagonal + params.window, params.seqlen_kv) : params.seqlen_kv;
  }

  __device__ __forceinline__ BlockWork find_work() const {
    const int m_tiles = (params.seqlen_q + kTileM - 1) / kTileM;
    const long long heads = static_cast<long long>(params.batch) * params.heads;
    BlockWork w;
    int m_tile;
    if (Config::kCausal) {
      // Sections of heads whose K and V stay in L2; inside, all heads' last rows (the longest) come first.
      constexpr long long kSectionBytes = 16ll << 20;
      const long long kv_bytes = 4ll * kHeadDim * params.seqlen_kv;
      const long long in_l2 = max(1ll, kSectionBytes / kv_bytes) * (params.heads / params.kv_heads);
      const long long per_section = min(in_l2, heads);
      const long long section = blockIdx.x / (per_section * m_tiles);
      const int within = static_cast<int>(blockIdx.x - section * per_section * m_tiles);
      const int heads_here = static_cast<int>(min(per_section, heads - section * per_section));
      w.head = section * per_section + within % heads_here;
      m_tile = m_tiles - 1 - within / heads_here;
    } else {
      w.head = blockIdx.x / m_tiles;
      m_tile = blockIdx.x % m_tiles;
    }
    w.first_row = m_tile * kTileM;
    const int last_row = min(w.first_row + kTileM, params.seqlen_q) - 1;
    const int begin = max(visible_begin(w.first_row), 0);
    const int end = max(visible_end(last_row), begin);
    w.first_tile = begin / kTileN;
    w.last_tile = (end + kTileN - 1) / kTileN;
    if (end == begin) w.last_tile = w.first_tile;
    // Whole tiles: inside what both the first and the last row see.
    w.last_whole = min(max(visible_end(w.first_row), 0) / kTileN, w.last_tile);
    w.first_whole = (max(visible_begin(last_row), 0) + kTileN - 1) / kTileN;
    w.last_whole = max(w.last_whole, w.first_tile);
    w.first_whole = min(max(w.first_whole, w.first_tile), w.last_whole);
    return w;
  }

  // ---- load ------------------------------------------------------------------------------------------------------

  __device__ __forceinline__ void load_queries() const {
    const long long row = work.head * params.seqlen_q + work.first_row;
    load_tile<kHeadDim, kTileM, kThreads>(q_tile, static_cast<const char*>(params.q) + row * (kHeadDim * 2),
                                          params.seqlen_q - work.first_row);
  }
  __device__ __forceinline__ void load_keys(int tile) const { load_kv(k_tiles, k_head, tile); }
  __device__ __forceinline__ void load_values(int tile) const { load_kv(v_tiles, v_head, tile); }

  __device__ __forceinline__ void load_kv(unsigned tiles, const char* head, int tile) const {
    load_tile<kHeadDim, kTileN, kThreads>(tiles + slot(tile) * kKeyBytes,
                                          head + static_cast<long long>(tile) * (kTileN * kHeadDim * 2),
                                          params.seqlen_kv - tile * kTileN);
  }

  /// Tiles are visited from last_tile - 1 down; tile t lives in this stage.
  __device__ __forceinline__ int slot(int tile) const {
    if constexpr (kStages == 1) return 0;
    return static_cast<unsigned>(tile) % kStages;
  }

  // ---- compute ---------------------------------------------------------------------------------------------------

  __device__ __forceinline__ unsigned warp_query_rows() const {
    return q_tile + threadIdx.x / 32 * (kRowBlocks * 16 * Layout::kPitch);
  }

  /// S = Q K^T of this warp's rows and one tile of keys.
  __device__ __forceinline__ void score(Scores& scores, int tile) const {
#pragma unroll
    for (int b = 0; b < kRowBlocks; ++b)
      for (int n = 0; n < kScoreBlocks; ++n)
        for (int i = 0; i < 4; ++i) scores[b][n][i] = 0.0f;
    const unsigned q_lane = warp_query_rows() + lane_offset_rows_first<kHeadDim>();
    const unsigned k_lane = k_tiles + slot(tile) * kKeyBytes + lane_offset_columns_first<kHeadDim>();
#pragma unroll
    for (int step = 0; step < kDepthSteps; ++step) {
      unsigned q[kRowBlocks][4];
#pragma unroll
      for (int b = 0; b < kRowBlocks; ++b) ldmatrix_x4(q[b], q_lane + b * 16 * Layout::kPitch + step * 32);
#pragma unroll
      for (int n = 0; n < kScoreBlocks; n += 2) {
        unsigned k[4];
        ldmatrix_x4(k, k_lane + n * 8 * Layout::kPitch + step * 32);
#pragma unroll
        for (int b = 0; b < kRowBlocks; ++b) {
          mma_m16n8k16<Element>(scores[b][n], q[b], k[0], k[1]);
          mma_m16n8k16<Element>(scores[b][n + 1], q[b], k[2], k[3]);
        }
      }
    }
  }

  /// -inf where a row does not see a key.
  __device__ __forceinline__ void mask(Scores& scores, int tile) const {
    const int lane = threadIdx.x % 32;
    const int first_key = tile * kTileN + lane % 4 * 2;
    const int warp_row = work.first_row + static_cast<int>(threadIdx.x / 32) * (kRowBlocks * 16) + lane / 4;
#pragma unroll
    for (int b = 0; b < kRowBlocks; ++b) {
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        const int row = warp_row + b * 16 + half * 8;
        const int begin = visible_begin(row) - first_key;
        const int end = visible_end(row) - first_key;
#pragma unroll
        for (int n = 0; n < kScoreBlocks; ++n)
          for (int i = 0; i < 2; ++i) {
            const int key = n * 8 + i;
            if (key >= end || (Config::kWindow && key < begin)) scores[b][n][half * 2 + i] = negative_infinity();
          }
      }
    }
  }

  /// O += P V, P computed 16 keys ahead of the products that use it.
  __device__ __forceinline__ void accumulate(const Scores& scores, const float (&offset)[2 * kRowBlocks], int tile) {
    const unsigned v_lane = v_tiles + slot(tile) * kKeyBytes + lane_offset_rows_first<kHeadDim>();
    unsigned p[2][kRowBlocks][4];
    softmax.template exponentiate<Element>(p[0], scores, 0, offset, params.scale_log2);
#pragma unroll
    for (int step = 0; step < kKeySteps; ++step) {
      if (step + 1 < kKeySteps)
        softmax.template exponentiate<Element>(p[(step + 1) % 2], scores, step + 1, offset, params.scale_log2);
#pragma unroll
      for (int n = 0; n < kOutputBlocks; n += 2) {
        unsigned v[4];
        ldmatrix_x4_transposed(v, v_lane + step * 16 * Layout::kPitch + n * 16);
#pragma unroll
        for (int b = 0; b < kRowBlocks; ++b) {
          mma_m16n8k16<Element>(output[b][n], p[step % 2][b], v[0], v[1]);
          if (n + 1 < kOutputBlocks) mma_m16n8k16<Element>(output[b][n + 1], p[step % 2][b], v[2], v[3]);
        }
      }
    }
  }

  /// One key tile, with its hand-over and the loads that it makes room for.
  template <bool kMasked>
  __device__ __forceinline__ void visit(int tile) {
    Scores scores;
    cp_async_wait<(kStages > 2 ? kStages - 2 : 0)>();
    __syncthreads();  // the tile has landed for all, and all have left the tile before it
    if constexpr (kStages == 1) {
      load_values(tile);
      cp_async_commit();
      score(scores, tile);
      cp_async_wait<0>();
      __syncthreads();
      if (tile > work.first_tile) load_keys(tile - 1);
      cp_async_commit();
    } else {
      load_stage(tile - (kStages - 1));
      score(scores, tile);
    }
    if constexpr (kMasked) mask(scores, tile);
    softmax.raise_maximum(scores, output, params.scale_log2);
    float offset[2 * kRowBlocks];
    softmax.template exponent_offsets<kMasked>(offset, scores, params.scale_log2);
    accumulate(scores, offset, tile);
  }

  __device__ __forceinline__ void load_stage(int tile) const {
    if (tile >= work.first_tile) {
      load_keys(tile);
      load_values(tile);
    }
    cp_async_commit();  // also when empty: waits count groups
  }

  __device__ __forceinline__ void visit_all() {
    load_queries();
    if constexpr (kStages == 1) {
      if (work.last_tile > work.first_tile) load_keys(work.last_tile - 1);
      cp_async_commit();
    } else {
      for (int ahead = 1; ahead < kStages; ++ahead) load_stage(work.last_tile - ahead);
    }
    int tile = work.last_tile - 1;
    for (; tile >= work.last_whole; --tile) visit<true>(tile);
    for (; tile >= work.first_whole; --tile) visit<false>(tile);
    if constexpr (Config::kWindow)
      for (; tile >= work.first_tile; --tile) visit<true>(tile);
  }

  // ---- store -----------------------------------------------------------------------------------------------------

  /// O through the warp's own rows of the Q tile, so that global stores are 16 bytes wide; LSE from one lane a quad.
  __device__ __forceinline__ void store(unsigned char* shared) {
    float factor[2 * kRowBlocks], lse[2 * kRowBlocks];
    softmax.finish(factor, lse, params.scale_log2);
    cp_async_wait<0>();
    __syncthreads();  // a block without any key: Q is still arriving

    const int lane = threadIdx.x % 32;
    const int warp_row = static_cast<int>(threadIdx.x / 32) * (kRowBlocks * 16);
    const int rows_left = params.seqlen_q - work.first_row - warp_row;
    const long long global_row = work.head * params.seqlen_q + work.first_row + warp_row;
    unsigned char* stage = shared + warp_row * Layout::kPitch;
#pragma unroll
    for (int r = 0; r < 2 * kRowBlocks; ++r) {
      const int row = r * 8 + lane / 4;
      if (lane % 4 == 0 && row < rows_left) params.lse[global_row + row] = lse[r];
#pragma unroll
      for (int n = 0; n < kOutputBlocks; ++n) {
        const float(&o)[4] = output[r / 2][n];
        *reinterpret_cast<unsigned*>(stage + row * Layout::kPitch + n * 16 + lane % 4 * 4) =
            pack_2<Element>(o[r % 2 * 2] * factor[r], o[r % 2 * 2 + 1] * factor[r]);
      }
    }
    __syncwarp();
    uint4* out = reinterpret_cast<uint4*>(static_cast<char*>(params.o) + global_row * (kHeadDim * 2));
    for (int i = lane; i < kRowBlocks * 16 * kOutputBlocks; i += 32) {
      const int row = i / kOutputBlocks, chunk = i % kOutputBlocks;
      if (row < rows_left) out[i] = *reinterpret_cast<const uint4*>(stage + row * Layout::kPitch + chunk * 16);
    }
  }
};

/// What the host compiled this file for; every ATTNPROF_ macro comes from flash2_gpu.cpp.
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
  static constexpr int kBlocksPerSm = ATTNPROF_BLOCKS_PER_SM;  ///< registers are capped so that this many fit
  static constexpr bool kCausal = ATTNPROF_CAUSAL;
  static constexpr bool kWindow = ATTNPROF_WINDOW;
  static_assert(kHeadDim % 8 == 0 && kHeadDim >= 8 && kHeadDim <= 256, "head_dim: 8 to 256 in steps of 8");
  static_assert(kWarps >= 1 && kWarps <= 8, "warps: 1 to 8");
  static_assert(kTileM % (16 * kWarps) == 0, "tile_m: a multiple of 16 rows for each warp");
  static_assert(kTileN % 16 == 0 && kTileN > 0, "tile_n: a multiple of 16 keys");
  static_assert(kStages >= 1 && kStages <= 4, "stages: 1 to 4");
};

}  // namespace attnprof

extern "C" __global__ void __launch_bounds__(attnprof::Config::kWarps * 32, attnprof::Config::kBlocksPerSm)
    flash2_forward(const __grid_constant__ attnprof::AttentionParams params) {
  extern __shared__ __align__(16) unsigned char shared[];
  attnprof::Flash2<attnprof::Config> block(params, shared);
  block.visit_all();
  block.store(shared);
}
