// Tiles in shared memory and the fragments that mma.sync takes from them.
#pragma once

#include "kernels/device/layout.hpp"
#include "kernels/device/ptx.cuh"

namespace attnprof {

/// Shared-memory layout of a tile of rows of `kElements` 16-bit elements.
template <int kElements>
struct TileLayout {
  static constexpr int kColumns = padded_columns(kElements);
  static constexpr int kChunks = kColumns / 8;           ///< 16-byte chunks that hold them
  static constexpr int kPitch = pitch_bytes(kElements);  ///< bytes
};

/// Copies rows [0, kRows) of a [*, kHeadDim] matrix to a tile, asynchronously and by all threads together.
/// Rows from `rows_left` on become zero and are not read; so do the padding columns.
template <int kHeadDim, int kRows, int kThreads>
__device__ __forceinline__ void load_tile(unsigned tile, const void* rows, int rows_left) {
  using Layout = TileLayout<kHeadDim>;
  constexpr int kRowsPerPass = kThreads / Layout::kChunks;
  constexpr int kPasses = (kRows + kRowsPerPass - 1) / kRowsPerPass;
  const int thread_row = threadIdx.x / Layout::kChunks;
  const int chunk = threadIdx.x % Layout::kChunks;
  if (kThreads % Layout::kChunks != 0 && thread_row >= kRowsPerPass) return;

  const bool in_columns = kHeadDim == Layout::kColumns || chunk < kHeadDim / 8;
  const char* source = static_cast<const char*>(rows) + (thread_row * kHeadDim + chunk * 8) * 2;
  const unsigned destination = tile + thread_row * Layout::kPitch + chunk * 16;
  if (kHeadDim == Layout::kColumns && rows_left >= kRows) {  // the usual case: nothing to check
#pragma unroll
    for (int pass = 0; pass < kPasses; ++pass) {
      const int row = pass * kRowsPerPass;
      if (kRows % kRowsPerPass != 0 && row + thread_row >= kRows) break;
      cp_async_16(destination + row * Layout::kPitch, source + row * kHeadDim * 2);
    }
  } else {
#pragma unroll
    for (int pass = 0; pass < kPasses; ++pass) {
      const int row = pass * kRowsPerPass;
      if (kRows % kRowsPerPass != 0 && row + thread_row >= kRows) break;
      const bool read = in_columns && row + thread_row < rows_left;
      cp_async_16_or_zero(destination + row * Layout::kPitch, read ? source + row * kHeadDim * 2 : rows,
                          read);
    }
  }
}

/// Where this lane points ldmatrix for 16x16 blocks whose four 8x8 matrices are ordered down the rows first:
/// the A operand, and with `ldmatrix_x4_transposed` the B operand from a tile whose rows run along k (V).
template <class Layout>
__device__ __forceinline__ unsigned lane_offset_rows_first() {
  const int lane = threadIdx.x % 32;
  return (lane % 16) * Layout::kPitch + (lane / 16) * 16;
}

/// The same, ordered along the columns first: the B operand from a tile whose rows run along n (K).
template <class Layout>
__device__ __forceinline__ unsigned lane_offset_columns_first() {
  const int lane = threadIdx.x % 32;
  return (lane / 16 * 8 + lane % 8) * Layout::kPitch + (lane / 8 % 2) * 16;
}

}  // namespace attnprof
