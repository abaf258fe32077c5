#include "core/fill.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#include "catch.hpp"

using namespace attnprof;

namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();
const float kNan = std::numeric_limits<float>::quiet_NaN();

/// Value of a small float format from its fields, in double: sign, exponent, mantissa.
double value_of(uint16_t bits, int mantissa_bits, int bias) {
  const int exponent_mask = (1 << (15 - mantissa_bits)) - 1;
  const int exponent = (bits >> mantissa_bits) & exponent_mask;
  const int mantissa = bits & ((1 << mantissa_bits) - 1);
  const double sign = (bits & 0x8000) != 0 ? -1 : 1;
  if (exponent == exponent_mask) return mantissa == 0 ? sign * kInfinity : std::nan("");
  if (exponent == 0) return sign * std::ldexp(mantissa, 1 - bias - mantissa_bits);
  return sign * std::ldexp(mantissa + (1 << mantissa_bits), exponent - bias - mantissa_bits);
}

/// Every finite number of the format comes back unchanged, and between two neighbours rounding goes to the
/// nearer one, at the middle to the even one.
template <class To, class From>
void check_format(int mantissa_bits, int bias, uint16_t infinity, To to, From from) {
  int wrong = 0;
  for (uint32_t b = 0; b < 0x10000; ++b) {
    const uint16_t bits = static_cast<uint16_t>(b);
    const double value = value_of(bits, mantissa_bits, bias);
    if (std::isnan(value)) {
      wrong += !std::isnan(from(bits)) || !std::isnan(from(to(from(bits))));
      continue;
    }
    wrong += static_cast<double>(from(bits)) != value || to(from(bits)) != bits;
  }
  CHECK(wrong == 0);
  for (uint16_t bits = 0; bits + 1 < infinity; ++bits) {
    const uint16_t next = static_cast<uint16_t>(bits + 1);
    const float middle =
        static_cast<float>((value_of(bits, mantissa_bits, bias) + value_of(next, mantissa_bits, bias)) / 2);
    const uint16_t even = (bits & 1) == 0 ? bits : next;
    wrong += to(middle) != even;
    wrong += to(std::nextafter(middle, 0.0f)) != bits;
    wrong += to(std::nextafter(middle, kInfinity)) != next;
    wrong += to(-middle) != (even | 0x8000);
  }
  CHECK(wrong == 0);
}

std::vector<float> host_fill(DType dtype, int64_t count, uint64_t seed, uint32_t stream) {
  std::vector<float> raw(static_cast<size_t>(count));  // wide enough for every dtype
  fill_host(raw.data(), dtype, count, Fill::normal, seed, stream);
  std::vector<float> values(static_cast<size_t>(count));
  for (int64_t i = 0; i < count; ++i) values[static_cast<size_t>(i)] = load_element(raw.data(), dtype, i);
  return values;
}

}  // namespace

TEST_CASE("bf16 conversions are exact at every value and round to nearest even between", "[fill]") {
  check_format(7, 127, 0x7f80, to_bf16, from_bf16);
}

TEST_CASE("fp16 conversions are exact at every value and round to nearest even between", "[fill]") {
  check_format(10, 15, 0x7c00, to_fp16, from_fp16);
}

TEST_CASE("what is too large becomes infinity, NaN stays NaN, zero keeps its sign", "[fill]") {
  CHECK(to_fp16(65519.99f) == 0x7bff);
  CHECK(to_fp16(65520.0f) == 0x7c00);
  CHECK(to_fp16(-1e30f) == 0xfc00);
  CHECK(to_bf16(std::numeric_limits<float>::max()) == 0x7f80);
  CHECK(to_bf16(-kInfinity) == 0xff80);
  CHECK(std::isnan(from_fp16(to_fp16(kNan))));
  CHECK(std::isnan(from_bf16(to_bf16(kNan))));
  // A NaN whose mantissa would carry into the exponent, and one whose top bits are all zero.
  for (uint32_t bits : {0x7fffffffu, 0x7f800001u, 0xff800001u}) {
    CHECK(std::isnan(from_bf16(to_bf16(std::bit_cast<float>(bits)))));
    CHECK(std::isnan(from_fp16(to_fp16(std::bit_cast<float>(bits)))));
  }
  CHECK(to_fp16(-0.0f) == 0x8000);
  CHECK(to_bf16(-0.0f) == 0x8000);
  CHECK(to_fp16(1e-30f) == 0);
}

TEST_CASE("the first values of the streams are pinned", "[fill]") {
  // In units of 2^-16; computed by a separate program from the definition in core/random.hpp.
  const struct {
    uint64_t seed;
    uint32_t stream;
    int first[4];
    int far;  // element 2^40
  } known[] = {{1, kStreamQ, {50638, -1948, -91297, -71831}, 123686},
               {1, kStreamK, {104125, -115364, 5676, 55021}, -73666},
               {1, kStreamV, {-87986, 11522, 97559, -30596}, 27484},
               {42, kStreamQ, {101866, -73461, -33749, -60231}, -80768}};
  for (const auto& k : known) {
    for (uint64_t i = 0; i < 4; ++i)
      CHECK(normal_value(k.seed, k.stream, i) * 65536.0f == static_cast<float>(k.first[i]));
    CHECK(normal_value(k.seed, k.stream, uint64_t{1} << 40) * 65536.0f == static_cast<float>(k.far));
  }
}

TEST_CASE("the normal fill has mean 0, variance 1 and nearly no excess", "[fill]") {
  constexpr int64_t kCount = 1 << 20;
  for (uint32_t stream : {kStreamQ, kStreamK, kStreamV}) {
    const std::vector<float> x = host_fill(DType::fp32, kCount, 1, stream);
    double mean = 0, variance = 0, fourth = 0;
    for (float v : x) mean += v;
    mean /= kCount;
    for (float v : x) {
      const double d = (v - mean) * (v - mean);
      variance += d;
      fourth += d * d;
    }
    variance /= kCount;
    fourth /= kCount;
    // Five standard errors: 1/sqrt(n) of the mean, sqrt(2/n) of the variance, sqrt(24/n) of the kurtosis.
    CHECK(std::abs(mean) < 5.0 / 1024);
    CHECK(std::abs(variance - 1) < 5 * 1.42 / 1024);
    // Twelve uniforms have kurtosis 3 - 1.2 / 12.
    CHECK(std::abs(fourth / (variance * variance) - 2.9) < 5 * 4.9 / 1024);
    CHECK(*std::max_element(x.begin(), x.end()) <= 6);
    CHECK(*std::min_element(x.begin(), x.end()) >= -6);
  }
}

TEST_CASE("streams and seeds are uncorrelated", "[fill]") {
  constexpr int64_t kCount = 1 << 18;
  const std::vector<float> q = host_fill(DType::fp32, kCount, 1, kStreamQ);
  const std::vector<float> others[] = {host_fill(DType::fp32, kCount, 1, kStreamK),
                                       host_fill(DType::fp32, kCount, 2, kStreamQ),
                                       {q.begin() + 1, q.end()}};  // the stream itself, one element on
  for (const std::vector<float>& other : others) {
    double product = 0;
    for (size_t i = 0; i < other.size(); ++i) product += static_cast<double>(q[i]) * other[i];
    CHECK(std::abs(product / kCount) < 5.0 / 512);
  }
}

TEST_CASE("a large fill on many threads equals the values one by one", "[fill]") {
  constexpr int64_t kCount = 1'000'003;  // no multiple of anything: the last chunk is short
  for (DType dtype : {DType::fp32, DType::fp16, DType::bf16}) {
    std::vector<float> raw(kCount + 1, kNan);
    fill_host(raw.data(), dtype, kCount, Fill::normal, 5, kStreamV);
    std::vector<float> expected(kCount + 1, kNan);
    for (int64_t i = 0; i < kCount; ++i) {
      store_element(expected.data(), dtype, i, normal_value(5, kStreamV, static_cast<uint64_t>(i)));
    }
    CHECK(std::memcmp(raw.data(), expected.data(), raw.size() * sizeof(float)) ==
          0);  // and nothing behind it
  }
}

TEST_CASE("the zero fill writes zeros and no more", "[fill]") {
  std::vector<uint16_t> x(11, 0xffff);
  fill_host(x.data(), DType::fp16, 10, Fill::zeros, 1, kStreamQ);
  CHECK(std::count(x.begin(), x.end(), 0) == 10);
  CHECK(x[10] == 0xffff);
  fill_host(nullptr, DType::fp16, 0, Fill::normal, 1, kStreamQ);  // nothing to write needs no memory
}

TEST_CASE("elements are stored and loaded at their index", "[fill]") {
  for (DType dtype : {DType::fp32, DType::fp16, DType::bf16}) {
    float array[4] = {};
    store_element(array, dtype, 2, 1.5f);
    CHECK(load_element(array, dtype, 2) == 1.5f);
    CHECK(load_element(array, dtype, 1) == 0);
    CHECK(load_element(array, dtype, 3) == 0);
  }
}
