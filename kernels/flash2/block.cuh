// One block of flash2: scores, online softmax, accumulation and the store, for one tile of query rows.
#pragma once

#include "kernels/flash2/load.cuh"
#include "kernels/flash2/softmax.cuh"

namespace attnprof {

template <class Config>
struct Flash2 {
  using Element = typename Config::Element;
  using Shape = Flash2Shape<Config>;
  using Layout = typename Shape::Layout;
  using ProbabilityLayout = typename Shape::ProbabilityLayout;
  static constexpr int kTileM = Config::kTileM, kTileN = Config::kTileN;
  static constexpr int kStages = Config::kStages, kSides = Config::kSides;
  static constexpr int kRowBlocks = Shape::kRowBlocks, kRows = Shape::kRows;
  static constexpr int kScoreBlocks = Shape::kScoreBlocks, kOutputBlocks = Shape::kOutputBlocks;

  using Scores = float[kRowBlocks][kScoreBlocks][4];
  using Probabilities = unsigned[kRowBlocks][4];  ///< of 16 keys, as an A operand

  const AttentionParams& params;
  unsigned char* shared;
  Flash2Loads<Config> load;
  int warp_row;  ///< first row of this warp within the tile
  int side;
  OnlineSoftmax<kRowBlocks> softmax;
  float output[kRowBlocks][kOutputBlocks][4];

  __device__ __forceinline__ Flash2(const AttentionParams& p, unsigned char* s)
      : params(p), shared(s), load(p, s) {
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
  __device__ __forceinline__ static int side_of_warp(int thread) {
    return thread / 32 % kSides;
  }

  // ---- compute

  /// S = Q K^T of this warp's rows and its side's keys of a tile.
  __device__ __forceinline__ void score(Scores& scores, int tile) const {
#pragma unroll
    for (int b = 0; b < kRowBlocks; ++b)
      for (int n = 0; n < kScoreBlocks; ++n)
        for (int i = 0; i < 4; ++i) scores[b][n][i] = 0.0f;
    const unsigned q_lane = load.shared + warp_row * Layout::kPitch + lane_offset_rows_first<Layout>();
    const unsigned k_lane = load.key_tile(tile) + side * (kScoreBlocks * 8 * Layout::kPitch) +
                            lane_offset_columns_first<Layout>();
#pragma unroll
    for (int step = 0; step < Shape::kDepthSteps; ++step) {
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
  __device__ __forceinline__ void hide_unseen(Scores& scores, int tile) const {
    const int lane = threadIdx.x % 32;
    const int first_key = tile * kTileN + side * (kScoreBlocks * 8) + lane % 4 * 2;
#pragma unroll
    for (int r = 0; r < kRows; ++r) {
      const int row = load.work.first_row + warp_row + r * 8 + lane / 4;
      const Mask<int> mask = mask_of<Config>(params);
      const int begin = Config::kWindow ? unclipped_begin(mask, row) - first_key : 0;
      const int end = visible_end(mask, row) - first_key;
#pragma unroll
      for (int n = 0; n < kScoreBlocks; ++n)
        for (int i = 0; i < 2; ++i) {
          const int key = n * 8 + i;
          if (key >= end || (Config::kWindow && key < begin))
            scores[r / 2][n][r % 2 * 2 + i] = negative_infinity();
        }
    }
  }

  /// O += P V for the 16 keys of one step; `first_key` counts within the tile.
  __device__ __forceinline__ void accumulate_step(const Probabilities& p, int tile, int first_key) {
    const unsigned v_lane = load.value_tile(tile) + first_key * Layout::kPitch + side * (kOutputBlocks * 16) +
                            lane_offset_rows_first<Layout>();
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
    for (int step = 0; step < Shape::kKeySteps; ++step) {
      Probabilities p;
      softmax.template exponentiate<Element>(p, scores, step, offset, params.scale_log2);
      accumulate_step(p, tile, step * 16);
    }
  }

  // ---- two warps on the same rows

  __device__ __forceinline__ void sync_sides() const {
    barrier_sync(1 + threadIdx.x / 64, 64);
  }

  /// Where this thread's rows keep one float a side.
  __device__ __forceinline__ float* shared_rows() const {
    return reinterpret_cast<float*>(shared + Shape::kRowsAt) + warp_row + threadIdx.x % 32 / 4;
  }
  __device__ __forceinline__ void publish_rows(const float (&value)[kRows]) const {
#pragma unroll
    for (int r = 0; r < kRows; ++r)
      if (threadIdx.x % 4 == 0) shared_rows()[side * kTileM + r * 8] = value[r];
  }
  /// What the other side published, after a barrier.
  __device__ __forceinline__ float other_row(int r) const {
    return shared_rows()[(side ^ 1) * kTileM + r * 8];
  }

  /// O += P V: first with this side's keys, whose P is in registers, then with the other side's, from shared
  /// memory.
  __device__ __forceinline__ void accumulate_both_sides(const Scores& scores, const float (&offset)[kRows],
                                                        int tile) {
    constexpr int kPitch = ProbabilityLayout::kPitch;
    const int lane = threadIdx.x % 32;
    const int own_key = side * (kScoreBlocks * 8), other_key = (side ^ 1) * (kScoreBlocks * 8);
    unsigned char* const own =
        shared + Shape::kProbabilitiesAt + (warp_row + lane / 4) * kPitch + own_key * 2 + lane % 4 * 4;
    Probabilities p[Shape::kKeySteps];
#pragma unroll
    for (int step = 0; step < Shape::kKeySteps; ++step) {
      softmax.template exponentiate<Element>(p[step], scores, step, offset, params.scale_log2);
#pragma unroll
      for (int b = 0; b < kRowBlocks; ++b)
        for (int i = 0; i < 4; ++i)
          *reinterpret_cast<unsigned*>(own + (b * 16 + i % 2 * 8) * kPitch + step * 32 + i / 2 * 16) =
              p[step][b][i];
    }
#pragma unroll
    for (int step = 0; step < Shape::kKeySteps; ++step) accumulate_step(p[step], tile, own_key + step * 16);
    sync_sides();
    const unsigned other = load.shared + Shape::kProbabilitiesAt + warp_row * kPitch + other_key * 2 +
                           lane_offset_rows_first<ProbabilityLayout>();
#pragma unroll
    for (int step = 0; step < Shape::kKeySteps; ++step) {
#pragma unroll
      for (int b = 0; b < kRowBlocks; ++b) ldmatrix_x4(p[0][b], other + b * 16 * kPitch + step * 32);
      accumulate_step(p[0], tile, other_key + step * 16);
    }
  }

  // ---- the walk

  /// One key tile, with its hand-over and the loads that it makes room for.
  template <bool kMasked>
  __device__ __forceinline__ void visit(int tile) {
    Scores scores;
    float largest[kRows], offset[kRows];
    cp_async_wait<(kStages > 2 ? kStages - 2 : 0)>();
    __syncthreads();  // the tile has landed for all, and all have left the tile before it
    if constexpr (kStages == 1) {
      load.values(tile);
      cp_async_commit();
    } else {
      load.stage(tile - (kStages - 1));
    }
    score(scores, tile);
    if constexpr (kMasked) hide_unseen(scores, tile);
    softmax.find_largest(largest, scores);
    if constexpr (kSides == 2) publish_rows(largest);
    if constexpr (kStages == 1) {
      cp_async_wait<0>();
      __syncthreads();  // V has landed, K has been read; the other side's maxima are there
      if (tile > load.work.first_tile) load.keys(tile - 1);
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
    if constexpr (kSides == 1)
      accumulate(scores, offset, tile);
    else
      accumulate_both_sides(scores, offset, tile);
  }

  /// Tiles from the right: those cut by the diagonal or the end of the keys come first, under the mask.
  __device__ __forceinline__ void visit_all() {
    load.queries();
    if constexpr (kStages == 1) {
      if (load.work.last_tile > load.work.first_tile) load.keys(load.work.last_tile - 1);
      cp_async_commit();
    } else {
      for (int ahead = 1; ahead < kStages; ++ahead) load.stage(load.work.last_tile - ahead);
    }
    int tile = load.work.last_tile - 1;
    if constexpr (Config::kWindow) {
      for (; tile >= load.work.first_tile; --tile) {
        if (tile >= load.work.first_whole && tile < load.work.last_whole)
          visit<false>(tile);
        else
          visit<true>(tile);
      }
    } else {
      for (; tile >= load.work.last_whole; --tile) visit<true>(tile);
      for (; tile >= load.work.first_tile; --tile) visit<false>(tile);
    }
  }

  // ---- store

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
    const long long global_row =
        static_cast<long long>(where.head) * params.seqlen_q + where.first_row + warp_row;
    unsigned char* const stage = shared + warp_row * Layout::kPitch;
#pragma unroll
    for (int r = 0; r < kRows; ++r) {
      const int row = r * 8 + lane / 4;
      if (side == 0 && lane % 4 == 0 && row < rows_left) params.lse[global_row + row] = lse[r];
#pragma unroll
      for (int n = 0; n < kOutputBlocks; ++n) {
        const float(&o)[4] = output[r / 2][n];
        *reinterpret_cast<unsigned*>(stage + row * Layout::kPitch + (side * kOutputBlocks + n) * 16 +
                                     lane % 4 * 4) =
            pack_2<Element>(o[r % 2 * 2] * factor[r], o[r % 2 * 2 + 1] * factor[r]);
      }
    }
    if constexpr (kSides == 2)
      sync_sides();
    else
      __syncwarp();
    constexpr int kRowChunks = Config::kHeadDim / 8;
    uint4* const out =
        reinterpret_cast<uint4*>(static_cast<char*>(params.o) + global_row * (Config::kHeadDim * 2));
    for (int i = side * 32 + lane; i < kRowBlocks * 16 * kRowChunks; i += kSides * 32) {
      const int row = i / kRowChunks, chunk = i % kRowChunks;
      if (row < rows_left)
        out[i] = *reinterpret_cast<const uint4*>(stage + row * Layout::kPitch + chunk * 16);
    }
  }
};

}  // namespace attnprof
