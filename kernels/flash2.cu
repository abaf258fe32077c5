// flash2: exact attention, forward, fused and tiled; scores and probabilities never leave the SM. sm_80 and newer.
//
// Algorithm   FlashAttention-2 (Dao 2023, algorithm 1): a block keeps kTileM query rows and walks over tiles of kTileN keys;
//             each tile is scored (S = Q K^T), exponentiated online (flash2_softmax.cuh) and folded into O += P V.
// Shapes      contiguous BHSD, see params.cuh. head_dim is compiled in: 8 to 256 in steps of 8. Any seqlen_q, seqlen_kv >= 1,
//             any grouping of query heads over KV heads, bottom-right causal mask, window.
// Precision   bf16 or fp16 operands, fp32 accumulation of S, O and the row sums; P is rounded to the element type before
//             the second product. Scores may be any finite fp32. Tolerance: attnprof::tolerance(p, false).
// Schedule    Shared-memory bandwidth is the first limit: a K or V fragment fetched by ldmatrix (128 bytes a cycle for the
//             SM) must feed two products, so a warp works on 32 rows. Up to head_dim 128 its registers hold 32 rows of O
//             (kSides = 1). Above, two warps share 32 rows (kSides = 2): each scores half of the keys and accumulates
//             half of O's columns, and they exchange row maxima and P through shared memory.
//             K/V tiles arrive by cp.async, kStages deep; with one stage, K and V take turns: V loads under Q K^T, the next K
//             under P V. Exponentials are taken 16 keys at a time, between the products of the 16 before: MUFU and
//             tensor cores overlap within a warp as they do between the warps of an SM.
//             Tiles that no row sees are skipped; only those that a mask cuts pay for masking. Grid order: flash2_work.cuh.
#include "flash2_softmax.cuh"
#include "flash2_work.cuh"
#include "mma_tile.cuh"

namespace attnprof {

template <class Config>
struct Flash2 {
  using Element = typename Config::Element;
  using Layout = TileLayout<Config::kHeadDim>;
  using ProbabilityLayout = TileLayout<Config::kTileN>;
  static constexpr int kHeadDim = Config::kHeadDim;
  static constexpr int kTileM = Config::kTileM;
  static constexpr int kTileN = Config::kTileN;
  static constexpr int kStages = Config::kStages;
  static constexpr int kSides = Config::kSides;
  static constexpr int kThreads = Config::kWarps * 32;
  static constexpr int kRowBlocks = kTileM * kSides / (16 * Config::kWarps);  ///< m16 blocks of a warp
  static constexpr int kRows = 2 * kRowBlocks;                                ///< of a thread
  static constexpr int kScoreBlocks = kTileN / 8 / kSides;                    ///< n8 blocks of S of a warp
  static constexpr int kOutputBlocks = (Layout::kChunks + kSides - 1) / kSides;  ///< n8 blocks of O of a warp
  static constexpr int kDepthSteps = Layout::kColumns / 16;                   ///< k16 steps of Q K^T
  static constexpr int kKeySteps = kScoreBlocks / 2;                          ///< k16 steps of P V, of one side's keys
  static constexpr unsigned kQueryBytes = kTileM * Layout::kPitch;
  static constexpr unsigned kKeyBytes = kTileN * Layout::kPitch;

  using Scores = float[kRowBlocks][kScoreBlocks][4];
  using Probabilities = unsigned[kRowBlocks][4];  ///< of 16 keys, as an A operand

  const AttentionParams& params;
  unsigned char* shared;  ///< Q, then kStages of K, of V; with two sides also P, then a float per side and row
  BlockWork work;
  unsigned q_tile, k_tiles, v_tiles;
  long long kv_offset;  ///< bytes to this block's KV head
  int warp_row;         ///< first row of this warp within the tile
  int side;
  OnlineSoftmax<kRowBlocks> softmax;
  float output[kRowBlocks][kOutputBlocks][4];

  __device__ __forceinline__ Flash2(const AttentionParams& p, unsigned char* s)
      : params(p), shared(s), work(find_work<Config>(p, blockIdx.x)) {
    q_tile = smem_address(shared);
    k_tiles = q_tile + kQueryBytes;
    v_tiles = k_tiles + kStages * kKeyBytes;
    // Both BHSD: adjacent query heads share a KV head, so the quotient is batch * kv_heads' own index.
    const int kv_head = work.head / (params.heads / params.kv_heads);
    kv_offset = static_cast<long long>(kv_head) * params.seqlen_kv * (kHeadDim * 2);
    warp_row = first_row_of_warp(threadIdx.x);
    side = side_of_warp(threadIdx.x);
    softmax.reset();
#pragma unroll
    for (int b = 0; b < kRowBlocks; ++b)
      for (int n = 0; n < kOutputBlocks; ++n)
        for (int i = 0; i < 4; ++i) output[b][n][i] = 0.0f;
  }

  __device__ __forceinline__ static int first_row_of_warp(int thread) {
    return thread / (32 * kSides) * (kRowBlocks * 16);
  }
  __device__ __forceinline__ static int side_of_warp(int thread) { return thread / 32 % kSides; }

  // ---- load ------------------------------------------------------------------------------------------------------

  __device__ __forceinline__ void load_queries() const {
    const long long row = static_cast<long long>(work.head) * params.seqlen_q + work.first_row;
    load_tile<kHeadDim, kTileM, kThreads>(q_tile, static_cast<const char*>(params.q) + row * (kHeadDim * 2),
                                          params.seqlen_q - work.first_row);
  }
  __device__ __forceinline__ void load_keys(int tile) const { load_kv(k_tiles, params.k, tile); }
  __device__ __forceinline__ void load_values(int tile) const { load_kv(v_tiles, params.v, tile); }

  __device__ __forceinline__ void load_kv(unsigned tiles, const void* tensor, int tile) const {
    const long long offset = kv_offset + static_cast<long long>(tile) * (kTileN * kHeadDim * 2);
    load_tile<kHeadDim, kTileN, kThreads>(tiles + slot(tile) * kKeyBytes, static_cast<const char*>(tensor) + offset,
                                          params.seqlen_kv - tile * kTileN);
  }

  /// The stage that holds a tile.
  __device__ __forceinline__ static int slot(int tile) { return static_cast<unsigned>(tile) % kStages; }

  __device__ __forceinline__ void load_stage(int tile) const {
    if (tile >= work.first_tile) {
      load_keys(tile);
      load_values(tile);
    }
    cp_async_commit();  // also when empty: waits count groups
  }

  // ---- compute ---------------------------------------------------------------------------------------------------

  /// S = Q K^T of this warp's rows and its side's keys of a tile.
  __device__ __forceinline__ void score(Scores& scores, int tile) const {
#pragma unroll
    for (int b = 0; b < kRowBlocks; ++b)
      for (int n = 0; n < kScoreBlocks; ++n)
        for (int i = 0; i < 4; ++i) scores[b][n][i] = 0.0f;
    const unsigned q_lane = q_tile + warp_row * Layout::kPitch + lane_offset_rows_first<Layout>();
    const unsigned k_lane = k_tiles + slot(tile) * kKeyBytes + side * (kScoreBlocks * 8 * Layout::kPitch) +
                            lane_offset_columns_first<Layout>();
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
    const Visibility<Config> visible{params};
    const int lane = threadIdx.x % 32;
    const int first_key = tile * kTileN + side * (kScoreBlocks * 8) + lane % 4 * 2;
#pragma unroll
    for (int r = 0; r < kRows; ++r) {
      const int row = work.first_row + warp_row + r * 8 + lane / 4;
      const int begin = visible.begin(row) - first_key;
      const int end = visible.end(row) - first_key;
#pragma unroll
      for (int n = 0; n < kScoreBlocks; ++n)
        for (int i = 0; i < 2; ++i) {
          const int key = n * 8 + i;
          if (key >= end || (Config::kWindow && key < begin)) scores[r / 2][n][r % 2 * 2 + i] = negative_infinity();
        }
    }
  }

  /// O += P V for the 16 keys of one step; `first_key` counts within the tile.
  __device__ __forceinline__ void accumulate_step(const Probabilities& p, int tile, int first_key) {
    const unsigned v_lane = v_tiles + slot(tile) * kKeyBytes + first_key * Layout::kPitch +
                            side * (kOutputBlocks * 16) + lane_offset_rows_first<Layout>();
#pragma unroll
    for (int n = 0; n < kOutputBlocks; n += 2) {
      unsigned v[4];
      ldmatrix_x4_transposed(v, v_lane + n * 16);
#pragma unroll
      for (int b = 0; b < kRowBlocks; ++b) {
        mma_m16n8k16<Element>(output[b][n], p[b], v[0], v[1]);
        if (n + 1 < kOutputBlocks) mma_m16n8k16<Element>(output[b][n + 1], p[b], v[2], v[3]);
      }
    }
  }

  /// O += P V, 16 keys at a time: one step's exponentials overlap with the products of the step before.
  __device__ __forceinline__ void accumulate(const Scores& scores, const float (&offset)[kRows], int tile) {
#pragma unroll
    for (int step = 0; step < kKeySteps; ++step) {
      Probabilities p;
      softmax.template exponentiate<Element>(p, scores, step, offset, params.scale_log2);
      accumulate_step(p, tile, step * 16);
    }
  }

  // ---- two warps on the same rows --------------------------------------------------------------------------------

  __device__ __forceinline__ void sync_sides() const { barrier_sync(1 + threadIdx.x / 64, 64); }

  /// Where this thread's rows keep one float a side.
  __device__ __forceinline__ float* shared_rows() const {
    constexpr unsigned kOffset = kQueryBytes + 2 * kStages * kKeyBytes + kTileM * ProbabilityLayout::kPitch;
    return reinterpret_cast<float*>(shared + kOffset) + warp_row + threadIdx.x % 32 / 4;
  }
  __device__ __forceinline__ void publish_rows(const float (&value)[kRows]) const {
#pragma unroll
    for (int r = 0; r < kRows; ++r)
      if (threadIdx.x % 4 == 0) shared_rows()[side * kTileM + r * 8] = value[r];
  }
  /// What the other side published, after a barrier.
  __device__ __forceinline__ float other_row(int r) const { return shared_rows()[(side ^ 1) * kTileM + r * 8]; }

  /// O += P V: first with this side's keys, whose P is in registers, then with the other side's, from shared memory.
  __device__ __forceinline__ void accumulate_both_sides(const Scores& scores, const float (&offset)[kRows], int tile) {
    constexpr unsigned kOffset = kQueryBytes + 2 * kStages * kKeyBytes;
    constexpr int kPitch = ProbabilityLayout::kPitch;
    const int lane = threadIdx.x % 32;
    const int own_key = side * (kScoreBlocks * 8), other_key = (side ^ 1) * (kScoreBlocks * 8);
    unsigned char* const own = shared + kOffset + (warp_row + lane / 4) * kPitch + own_key * 2 + lane % 4 * 4;
    Probabilities p[kKeySteps];
#pragma unroll
    for (int step = 0; step < kKeySteps; ++step) {
      softmax.template exponentiate<Element>(p[step], scores, step, offset, params.scale_log2);
#pragma unroll
      for (int b = 0; b < kRowBlocks; ++b)
        for (int i = 0; i < 4; ++i)
          *reinterpret_cast<unsigned*>(own + (b * 16 + i % 2 * 8) * kPitch + step * 32 + i / 2 * 16) = p[step][b][i];
    }
#pragma unroll
    for (int step = 0; step < kKeySteps; ++step) accumulate_step(p[step], tile, own_key + step * 16);
    sync_sides();
    const unsigned other = smem_address(shared) + kOffset + warp_row * kPitch + other_key * 2 +
                           lane_offset_rows_first<ProbabilityLayout>();
#pragma unroll
    for (int step = 0; step < kKeySteps; ++step) {
#pragma unroll
      for (int b = 0; b < kRowBlocks; ++b) ldmatrix_x4(p[0][b], other + b * 16 * kPitch + step * 32);
      accumulate_step(p[0], tile, other_key + step * 16);
    }
  }

  // ---- the walk --------------------------------------------------------------------------------------------------

  /// One key tile, with its hand-over and the loads that it makes room for.
  template <bool kMasked>
  __device__ __forceinline__ void visit(int tile) {
    Scores scores;
    float largest[kRows], offset[kRows];
    cp_async_wait<(kStages > 2 ? kStages - 2 : 0)>();
    __syncthreads();  // the tile has landed for all, and all have left the tile before it
    if constexpr (kStages == 1) {
      load_values(tile);
      cp_async_commit();
    } else {
      load_stage(tile - (kStages - 1));
    }
    score(scores, tile);
    if constexpr (kMasked) mask(scores, tile);
    softmax.find_largest(largest, scores);
    if constexpr (kSides == 2) publish_rows(largest);
    if constexpr (kStages == 1) {
      cp_async_wait<0>();
      __syncthreads();  // V has landed, K has been read; the other side's maxima are there
      if (tile > work.first_tile) load_keys(tile - 1);
      cp_async_commit();
    } else if constexpr (kSides == 2) {
      sync_sides();
    }
    if constexpr (kSides == 2) {
#pragma unroll
      for (int r = 0; r < kRows; ++r) largest[r] = fmaxf(largest[r], other_row(r));
    }
    softmax.raise_maximum(largest, output, params.scale_log2);
    softmax.template exponent_offsets<kMasked>(offset, scores, params.scale_log2);
    if constexpr (kSides == 1) accumulate(scores, offset, tile);
    else accumulate_both_sides(scores, offset, tile);
  }

  /// Tiles from the right: those cut by the diagonal or the end of the keys come first, under the mask.
  __device__ __forceinline__ void visit_all() {
    load_queries();
    if constexpr (kStages == 1) {
      if (work.last_tile > work.first_tile) load_keys(work.last_tile - 1);
      cp_async_commit();
    } else {
      for (int ahead = 1; ahead < kStages; ++ahead) load_stage(work.last_tile - ahead);
    }
    int tile = work.last_tile - 1;
    if constexpr (Config::kWindow) {
      for (; tile >= work.first_tile; --tile) {
        if (tile >= work.first_whole && tile < work.last_whole) visit<false>(tile);
        else visit<true>(tile);
      }
    } else {
      for (; tile >= work.last_whole; --tile) visit<true>(tile);
      for (; tile >= work.first_tile; --tile) visit<false>(tile);
    }
  }

  // ---- store -----------------------------------------------------------------------------------------------------

  /// O through the Q tile's rows, so that global stores are 16 bytes wide; LSE from one lane a quad.
  __device__ __forceinline__ void store() {
    float factor[kRows], lse[kRows];
    softmax.reduce_sums();
    cp_async_wait<0>();
    __syncthreads();  // Q is read no more (and has arrived, also where there was no key)
    if constexpr (kSides == 2) {
      publish_rows(softmax.sum);
      sync_sides();
#pragma unroll
      for (int r = 0; r < kRows; ++r) softmax.sum[r] += other_row(r);
    }
    softmax.finish(factor, lse, params.scale_log2);

    const int thread = recomputed(threadIdx.x);
    const BlockWork where = find_work<Config>(params, recomputed(blockIdx.x));
    const int lane = thread % 32;
    const int warp_row = first_row_of_warp(thread), side = side_of_warp(thread);
    const int rows_left = params.seqlen_q - where.first_row - warp_row;
    const long long global_row = static_cast<long long>(where.head) * params.seqlen_q + where.first_row + warp_row;
    unsigned char* const stage = shared + warp_row * Layout::kPitch;
#pragma unroll
    for (int r = 0; r < kRows; ++r) {
      const int row = r * 8 + lane / 4;
      if (side == 0 && lane % 4 == 0 && row < rows_left) params.lse[global_row + row] = lse[r];
#pragma unroll
      for (int n = 0; n < kOutputBlocks; ++n) {
        const float(&o)[4] = output[r / 2][n];
        *reinterpret_cast<unsigned*>(stage + row * Layout::kPitch + (side * kOutputBlocks + n) * 16 + lane % 4 * 4) =
            pack_2<Element>(o[r % 2 * 2] * factor[r], o[r % 2 * 2 + 1] * factor[r]);
      }
    }
    if constexpr (kSides == 2) sync_sides();
    else __syncwarp();
    constexpr int kRowChunks = kHeadDim / 8;
    uint4* const out = reinterpret_cast<uint4*>(static_cast<char*>(params.o) + global_row * (kHeadDim * 2));
    for (int i = side * 32 + lane; i < kRowBlocks * 16 * kRowChunks; i += kSides * 32) {
      const int row = i / kRowChunks, chunk = i % kRowChunks;
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
  static constexpr int kSides = ATTNPROF_SIDES;              ///< warps that share the same rows
  static constexpr int kBlocksPerSm = ATTNPROF_BLOCKS_PER_SM;  ///< registers are capped so that this many fit
  static constexpr bool kCausal = ATTNPROF_CAUSAL;
  static constexpr bool kWindow = ATTNPROF_WINDOW;
  static_assert(kHeadDim % 8 == 0 && kHeadDim >= 8 && kHeadDim <= 256, "head_dim: 8 to 256 in steps of 8");
  static_assert(kSides == 1 || kSides == 2, "one or two warps share rows");
  static_assert(kWarps >= 1 && kWarps <= 16 && kWarps % kSides == 0, "warps: 1 to 16, in pairs with two sides");
  static_assert(kTileM * kSides % (16 * kWarps) == 0, "tile_m: a multiple of 16 rows for each warp or pair of warps");
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
