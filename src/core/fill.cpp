#include "core/fill.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <system_error>
#include <thread>
#include <vector>

#include "core/random.hpp"

namespace attnprof {

namespace {

/// Below this many elements starting threads costs more than it saves.
constexpr int64_t kSerialElements = int64_t{1} << 16;

/// Round to nearest even on the upper 16 bits; only for values that are not NaN.
uint16_t round_to_bf16(float x) {
  const uint32_t bits = std::bit_cast<uint32_t>(x);
  return static_cast<uint16_t>((bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16);
}

/// `convert(float)` over elements [begin, end): one simple loop per type, which the compiler keeps free of
/// calls.
template <class T, class Convert>
void fill_normal_range(T* dst, int64_t begin, int64_t end, uint64_t key, Convert convert) {
  for (int64_t i = begin; i < end; ++i) dst[i] = convert(random_normal(key, static_cast<uint64_t>(i)));
}

void fill_range(void* dst, DType dtype, int64_t begin, int64_t end, uint64_t key) {
  switch (dtype) {
    case DType::fp32:
      return fill_normal_range(static_cast<float*>(dst), begin, end, key, [](float x) { return x; });
    case DType::bf16:
      return fill_normal_range(static_cast<uint16_t*>(dst), begin, end, key, round_to_bf16);
    case DType::fp16:
      return fill_normal_range(static_cast<uint16_t*>(dst), begin, end, key, to_fp16);
  }
}

}  // namespace

float normal_value(uint64_t seed, uint32_t stream, uint64_t index) {
  return random_normal(random_key(seed, stream), index);
}

uint16_t to_bf16(float x) {
  const uint32_t bits = std::bit_cast<uint32_t>(x);
  // Rounding could carry a NaN's mantissa into infinity; keep its top bits and make it quiet.
  if ((bits & 0x7fffffffu) > 0x7f800000u) return static_cast<uint16_t>((bits >> 16) | 0x0040u);
  return round_to_bf16(x);
}

float from_bf16(uint16_t x) {
  return std::bit_cast<float>(static_cast<uint32_t>(x) << 16);
}

uint16_t to_fp16(float x) {
  constexpr uint32_t kInfinity = 0x7f800000u;
  constexpr uint32_t kSmallestNormal = 0x38800000u;  // 2^-14
  constexpr uint32_t kOverflow = 0x477ff000u;        // 65520: halfway between 65504 and what would be 65536
  const uint32_t bits = std::bit_cast<uint32_t>(x);
  const uint32_t sign = (bits >> 16) & 0x8000u;
  const uint32_t magnitude = bits & 0x7fffffffu;
  if (magnitude > kInfinity) return static_cast<uint16_t>(sign | 0x7e00u | ((magnitude >> 13) & 0x3ffu));
  if (magnitude >= kOverflow) return static_cast<uint16_t>(sign | 0x7c00u);
  if (magnitude < kSmallestNormal) {
    // Adding 0.5 puts one unit of the sum's last place at 2^-24, the spacing of half subnormals: the addition
    // rounds to nearest even for us, and the mantissa is then the subnormal (or the smallest normal) itself.
    const float sum = std::bit_cast<float>(magnitude) + 0.5f;
    return static_cast<uint16_t>(sign | (std::bit_cast<uint32_t>(sum) - 0x3f000000u));
  }
  const uint32_t rebiased = magnitude - ((127u - 15u) << 23);
  return static_cast<uint16_t>(sign | ((rebiased + 0xfffu + ((rebiased >> 13) & 1u)) >> 13));
}

float from_fp16(uint16_t x) {
  const uint32_t sign = (x & 0x8000u) << 16;
  const uint32_t exponent = (x >> 10) & 0x1fu;
  const uint32_t mantissa = x & 0x3ffu;
  if (exponent == 0x1fu) return std::bit_cast<float>(sign | 0x7f800000u | (mantissa << 13));
  if (exponent == 0) {
    const float value = static_cast<float>(mantissa) * 0x1p-24f;  // subnormal or zero: exact
    return std::bit_cast<float>(sign | std::bit_cast<uint32_t>(value));
  }
  return std::bit_cast<float>(sign | ((exponent + 127u - 15u) << 23) | (mantissa << 13));
}

void store_element(void* array, DType dtype, int64_t index, float x) {
  switch (dtype) {
    case DType::fp32:
      static_cast<float*>(array)[index] = x;
      return;
    case DType::fp16:
      static_cast<uint16_t*>(array)[index] = to_fp16(x);
      return;
    case DType::bf16:
      static_cast<uint16_t*>(array)[index] = to_bf16(x);
      return;
  }
}

float load_element(const void* array, DType dtype, int64_t index) {
  switch (dtype) {
    case DType::fp32:
      return static_cast<const float*>(array)[index];
    case DType::fp16:
      return from_fp16(static_cast<const uint16_t*>(array)[index]);
    case DType::bf16:
      return from_bf16(static_cast<const uint16_t*>(array)[index]);
  }
  return 0.0f;
}

void fill_host(void* dst, DType dtype, int64_t count, Fill fill, uint64_t seed, uint32_t stream) {
  if (count <= 0) return;
  if (fill == Fill::zeros) {
    std::memset(dst, 0, static_cast<size_t>(count * dtype_bytes(dtype)));
    return;
  }
  const uint64_t key = random_key(seed, stream);
  const int64_t hardware = std::max(1u, std::thread::hardware_concurrency());
  const int64_t workers = std::min(hardware, (count + kSerialElements - 1) / kSerialElements);
  // Chunks are multiples of 64 elements, so that no two threads write to one cache line.
  const int64_t chunk = ((count + workers - 1) / workers + 63) / 64 * 64;
  std::vector<std::jthread> threads;
  for (int64_t begin = chunk; begin < count; begin += chunk) {
    const int64_t end = std::min(count, begin + chunk);
    try {
      threads.emplace_back(fill_range, dst, dtype, begin, end, key);
    } catch (const std::system_error&) {  // no memory for a thread: this one does it
      fill_range(dst, dtype, begin, end, key);
    }
  }
  fill_range(dst, dtype, 0, std::min(count, chunk), key);
}

}  // namespace attnprof
