// Sizes in shared memory of tiles for mma.sync, which the plans on the host compute as well. Compiled by the
// host compiler and by NVRTC, so it includes nothing.
#pragma once

namespace attnprof {

/// 16-bit elements in a row of a tile that holds `elements` of them: whole k16 steps, padded with zeros.
constexpr long long padded_columns(long long elements) {
  return (elements + 15) / 16 * 16;
}

/// Bytes from one row to the next: an odd number of 16-byte chunks, since the columns are an even number. The
/// eight rows that one ldmatrix phase reads then start in eight different groups of four banks, so no access
/// conflicts, and every fragment's address is a lane's base plus a constant. (A XOR swizzle would save the
/// one chunk a row, and cost address registers.)
constexpr long long pitch_bytes(long long elements) {
  return 2 * padded_columns(elements) + 16;
}

}  // namespace attnprof
