// The sizes that follow from flash2's configuration, and the loads of one block.
#pragma once

#include "kernels/device/mma_tile.cuh"
#include "kernels/flash2/layout.hpp"
#include "kernels/flash2/work.cuh"

namespace attnprof {

template <class Config>
struct Flash2Shape {
  using Layout = TileLayout<Config::kHeadDim>;           ///< of Q, K and V tiles
  using ProbabilityLayout = TileLayout<Config::kTileN>;  ///< of P, where two warps exchange it
  static constexpr int kHeadDim = Config::kHeadDim;
  static constexpr int kTileM = Config::kTileM;
  static constexpr int kTileN = Config::kTileN;
  static constexpr int kStages = Config::kStages;
  static constexpr int kSides = Config::kSides;
  static constexpr int kThreads = Config::kWarps * 32;
  static constexpr int kRowBlocks = kTileM * kSides / (16 * Config::kWarps);     ///< m16 blocks of a warp
  static constexpr int kRows = 2 * kRowBlocks;                                   ///< of a thread
  static constexpr int kScoreBlocks = kTileN / 8 / kSides;                       ///< n8 blocks of S of a warp
  static constexpr int kOutputBlocks = (Layout::kChunks + kSides - 1) / kSides;  ///< n8 blocks of O of a warp
  static constexpr int kDepthSteps = Layout::kColumns / 16;                      ///< k16 steps of Q K^T
  static constexpr int kKeySteps = kScoreBlocks / 2;  ///< k16 steps of P V, of one side's keys

  static constexpr flash2_layout::Places kPlaces =
      flash2_layout::places({kHeadDim, kTileM, kTileN, kStages, kSides});
  static constexpr unsigned kKeyBytes = kTileN * Layout::kPitch;
  static constexpr unsigned kKeysAt = kPlaces.keys, kValuesAt = kPlaces.values;
  static constexpr unsigned kProbabilitiesAt = kPlaces.probabilities, kRowsAt = kPlaces.rows;
};

/// Asynchronous copies of whole tiles, by all threads of the block together.
template <class Config>
struct Flash2Loads {
  using Shape = Flash2Shape<Config>;
  static constexpr int kRowBytes = Config::kHeadDim * 2;

  const AttentionParams& params;
  BlockWork work;
  unsigned shared;      ///< address of the block's shared memory
  long long kv_offset;  ///< bytes to this block's KV head

  __device__ __forceinline__ Flash2Loads(const AttentionParams& p, const unsigned char* s)
      : params(p), work(find_work<Config>(p, blockIdx.x)), shared(smem_address(s)) {
    // Both BHSD: adjacent query heads share a KV head, so the quotient indexes batch * kv_heads.
    const int kv_head = work.head / (params.heads / params.kv_heads);
    kv_offset = static_cast<long long>(kv_head) * params.seqlen_kv * kRowBytes;
  }

  /// Where the keys and values of a tile are, while they are.
  __device__ __forceinline__ unsigned key_tile(int tile) const {
    return shared + Shape::kKeysAt + static_cast<unsigned>(tile) % Config::kStages * Shape::kKeyBytes;
  }
  __device__ __forceinline__ unsigned value_tile(int tile) const {
    return shared + Shape::kValuesAt + static_cast<unsigned>(tile) % Config::kStages * Shape::kKeyBytes;
  }

  __device__ __forceinline__ void queries() const {
    const long long row = static_cast<long long>(work.head) * params.seqlen_q + work.first_row;
    load_tile<Config::kHeadDim, Config::kTileM, Shape::kThreads>(
        shared, static_cast<const char*>(params.q) + row * kRowBytes, params.seqlen_q - work.first_row);
  }
  __device__ __forceinline__ void keys(int tile) const { kv(key_tile(tile), params.k, tile); }
  __device__ __forceinline__ void values(int tile) const { kv(value_tile(tile), params.v, tile); }

  __device__ __forceinline__ void kv(unsigned destination, const void* tensor, int tile) const {
    const long long offset = kv_offset + static_cast<long long>(tile) * (Config::kTileN * kRowBytes);
    load_tile<Config::kHeadDim, Config::kTileN, Shape::kThreads>(
        destination, static_cast<const char*>(tensor) + offset, params.seqlen_kv - tile * Config::kTileN);
  }

  /// Keys and values of a tile as one group of copies; an empty group past the end, since waits count groups.
  __device__ __forceinline__ void stage(int tile) const {
    if (tile >= work.first_tile) {
      keys(tile);
      values(tile);
    }
    cp_async_commit();
  }
};

}  // namespace attnprof
