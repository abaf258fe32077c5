// The end of a tile: normalise O, and write O and the log-sum-exp straight from registers.
#pragma once

#include "kernels/flash3/softmax.cuh"

namespace attnprof {

struct alignas(16) Vector16 {
  uint32 word[4];
};

/// Transposes a 4 x 4 matrix of words held one row a lane by the lanes of a quad.
__device__ __forceinline__ void transpose_in_quad(uint32 (&w)[4], int lane) {
#pragma unroll
  for (int bit = 1; bit <= 2; bit *= 2) {
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      if (i & bit) continue;
      const bool upper = lane & bit;
      const uint32 received = __shfl_xor_sync(0xFFFFFFFF, upper ? w[i] : w[i | bit], bit);
      w[i] = upper ? received : w[i];
      w[i | bit] = upper ? w[i | bit] : received;
    }
  }
}

/// Writes row `row` + 8h for both h. A quad holds a row's 8-column blocks two columns a lane; transposing
/// four blocks gives each lane one whole block, so that a store is 16 bytes a lane and 64 contiguous bytes a
/// row.
__device__ __forceinline__ void store_tile(const AttentionParams& p, const TileWork& work, int row, int lane,
                                           const float (&o)[kOutputs], const SoftmaxState& state) {
  constexpr float kLn2 = 0.6931471805599453f;
  constexpr int kBlocks = kHeadDim / 8;
  const long long rows = packed_rows(p);
#pragma unroll
  for (int h = 0; h < 2; ++h) {
    const float sum = quad_sum(state.sum[h]);
    const bool empty = sum == 0.0f;  // sees no key
    const float inverse = empty ? 0.0f : 1.0f / sum;
    const bool inside = row + 8 * h >= 0 && row + 8 * h < rows;
    const long long at = work.kv_head * rows + row + 8 * h;
    unsigned char* out = static_cast<unsigned char*>(p.o) + at * (2 * kHeadDim) + 16 * (lane % 4);
#pragma unroll
    for (int group = 0; group < (kBlocks + 3) / 4; ++group) {
      Vector16 v;
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        const int b = 4 * group + i < kBlocks ? 4 * group + i : 0;
        v.word[i] = empty ? 0u : pack_2<Element>(o[4 * b + 2 * h] * inverse, o[4 * b + 2 * h + 1] * inverse);
      }
      transpose_in_quad(v.word, lane);
      if (inside && 4 * group + lane % 4 < kBlocks) *reinterpret_cast<Vector16*>(out + 64 * group) = v;
    }
    if (inside && lane % 4 == 0) {
      p.lse[at] = empty ? negative_infinity() : (state.shift[h] + __log2f(sum)) * kLn2;
    }
  }
}

}  // namespace attnprof
