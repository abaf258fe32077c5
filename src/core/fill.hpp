// Input data: bit-identical on every machine and device, from a seed and an element index.
#pragma once

#include <cstdint>
#include <vector>

#include "core/problem.hpp"

namespace attnprof {

/// Random streams of one problem: Q, K, V and dO draw from different ones.
constexpr uint32_t kStreamQ = 0, kStreamK = 1, kStreamV = 2, kStreamDo = 3;

/// Element `index` of stream `stream` of `seed`: approximately standard normal (sum of twelve uniform 16-bit
/// integers, |x| <= 6), exact in integers until one final conversion, so host and device agree bit for bit.
/// The integer part lives in core/random.hpp, which device code includes too.
float normal_value(uint64_t seed, uint32_t stream, uint64_t index);

/// Round-to-nearest-even conversions; NaN stays NaN, overflow becomes infinity.
uint16_t to_bf16(float x);
uint16_t to_fp16(float x);
float from_bf16(uint16_t x);
float from_fp16(uint16_t x);

/// Stores `x` as element `index` of an array of `dtype`; loads it back.
void store_element(void* array, DType dtype, int64_t index, float x);
float load_element(const void* array, DType dtype, int64_t index);

/// Writes `count` elements of `fill` to host memory `dst`, using all hardware threads for large arrays.
void fill_host(void* dst, DType dtype, int64_t count, Fill fill, uint64_t seed, uint32_t stream);

}  // namespace attnprof
