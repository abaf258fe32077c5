// flash3's compile-time choices, from macros, and the shared memory they imply.
//
//   ATTNPROF_HEAD_DIM   8..256 in steps of 8; padded with zeros to 64-column panels in shared memory only
//   ATTNPROF_BF16       1: bf16, 0: fp16
//   ATTNPROF_TILE_M     query rows per block: 64 per consumer warpgroup, so 64, 128, 192 or 256
//   ATTNPROF_TILE_N     keys per step, a multiple of 16, at most 256
//   ATTNPROF_STAGES     K tiles and V tiles in flight, each
//   ATTNPROF_CAUSAL, ATTNPROF_WINDOW   which masks exist
// The ladder, each 0 or 1 (flash3 proper is 1, 0, 1: kernels/NOTES.md says what each gave):
//   ATTNPROF_SPECIALIZE a warpgroup of its own loads, with registers moved from it to the others
//   ATTNPROF_PINGPONG   warpgroups take turns on the tensor cores
//   ATTNPROF_OVERLAP    a warpgroup's softmax runs under its own products (Q K^T one step ahead of P V)
// Tuning:
//   ATTNPROF_LAZY_RESCALE  log2 of the growth of a row's maximum left in P before O is rescaled; 0: none
#pragma once

#include "kernels/device/ptx_sm90.cuh"
#include "kernels/flash3/layout.hpp"

namespace attnprof {

#if ATTNPROF_BF16
using Element = Bf16;
#else
using Element = Fp16;
#endif

constexpr int kHeadDim = ATTNPROF_HEAD_DIM;
constexpr int kTileM = ATTNPROF_TILE_M;
constexpr int kTileN = ATTNPROF_TILE_N;
constexpr int kStages = ATTNPROF_STAGES;
constexpr bool kCausal = ATTNPROF_CAUSAL;
constexpr bool kWindow = ATTNPROF_WINDOW;
constexpr bool kSpecialize = ATTNPROF_SPECIALIZE;
constexpr bool kOverlap = ATTNPROF_OVERLAP;
constexpr float kLazyRescale = ATTNPROF_LAZY_RESCALE;

using flash3_layout::kPanelColumns;
using flash3_layout::kPanelRowBytes;
using flash3_layout::kSharedLimit;
using flash3_layout::kWarpgroup;
using flash3_layout::kWarpgroupRows;
constexpr flash3_layout::TileShape kShape{kHeadDim, kTileM, kTileN, kStages, kSpecialize};
constexpr int kConsumers = consumers(kShape);
constexpr bool kPingPong = ATTNPROF_PINGPONG && kConsumers > 1;
constexpr int kThreads = threads(kShape);
// 65,536 registers an SM: what the loader gives up, the consumers take.
constexpr int kLoaderRegisters = kConsumers == 1 ? 56 : kConsumers == 2 ? 40 : 32;
constexpr int kConsumerRegisters = kConsumers == 1   ? 240
                                   : kConsumers == 2 ? 232
                                   : kConsumers == 3 ? 160
                                                     : 112;

constexpr int kPanels = panels(kShape);
constexpr int kQkSteps = (kHeadDim + 15) / 16;  // wgmma consumes 16 of the contracted dimension
constexpr int kPvSteps = kTileN / 16;

constexpr int kQBytes = q_bytes(kShape);
constexpr int kKvBytes = kv_bytes(kShape);
constexpr int kQBuffers = q_buffers(kShape);

static_assert(kHeadDim >= 8 && kHeadDim <= 256 && kHeadDim % 8 == 0, "head_dim: 8 to 256 in steps of 8");
static_assert(kTileM >= 64 && kTileM <= 256 && kTileM % 64 == 0, "tile_m: 64, 128, 192 or 256");
static_assert(kTileN >= 16 && kTileN <= 256 && kTileN % 16 == 0, "tile_n: 16 to 256 in steps of 16");
static_assert(kStages >= (kOverlap ? 2 : 1), "stages: at least 1, with overlap 2");

/// The part of the problem that a block, or a warpgroup of it, works on at a time. Rows are packed: the query
/// heads of one KV head, one after the other, are one run of heads / kv_heads * seqlen_q rows (BHSD makes
/// them contiguous).
struct TileWork {
  int first_row;   ///< packed row; a causal head's first tile may begin before row 0
  int kv_head;     ///< batch * kv_heads + kv head
  int last_block;  ///< K/V blocks are visited from this one down
  int blocks;      ///< how many; 0: no more work
};

/// Offsets are multiples of 1024: the swizzle pattern repeats every 1024 bytes.
struct SharedMemory {
  unsigned char q[kQBuffers][kConsumers][kQBytes];
  unsigned char k[kStages][kKvBytes];
  unsigned char v[kStages][kKvBytes];
  TileWork work[kQBuffers][kConsumers];
  uint64 q_full[kQBuffers][kConsumers];
  uint64 q_empty[kQBuffers][kConsumers];
  uint64 k_full[kStages];
  uint64 k_empty[kStages];
  uint64 v_full[kStages];
  uint64 v_empty[kStages];
};

static_assert(sizeof(SharedMemory) == smem_bytes(kShape), "the plan asks for the shared memory that is used");
static_assert(sizeof(SharedMemory) <= kSharedLimit,
              "Q, K and V tiles exceed the 227 KiB of shared memory of a block");

/// Position in a ring of `kCount` stages and the parity of the phase to wait for.
template <int kCount>
struct Ring {
  int stage = 0;
  uint32 parity = 0;
  __device__ __forceinline__ void advance() {
    if (++stage == kCount) {
      stage = 0;
      parity ^= 1;
    }
  }
};

}  // namespace attnprof
