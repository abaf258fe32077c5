// Compiled once per instruction set by Highway, which picks the best one at run time.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "host/peak_loops.cpp"
#include <hwy/foreach_target.h>
// must come after foreach_target.h
#include <hwy/highway.h>

#include "host/peak_loops.hpp"
#include "host/simd.hpp"

HWY_BEFORE_NAMESPACE();
namespace attnprof {
namespace HWY_NAMESPACE {

/// Twelve independent chains: more than latency (4 or 5) times units (2) asks for, and with two operands
/// within the sixteen registers of AVX2. step(x) is applied `rounds` times to each.
template <class Step>
float chains(int64_t rounds, Step step) {
  const FloatTag d;
  auto x0 = hn::Set(d, 0.0f), x1 = hn::Set(d, 0.1f), x2 = hn::Set(d, 0.2f), x3 = hn::Set(d, 0.3f);
  auto x4 = hn::Set(d, 0.4f), x5 = hn::Set(d, 0.5f), x6 = hn::Set(d, 0.6f), x7 = hn::Set(d, 0.7f);
  auto x8 = hn::Set(d, 0.8f), x9 = hn::Set(d, 0.9f), x10 = hn::Set(d, 1.1f), x11 = hn::Set(d, 1.2f);
  for (int64_t i = 0; i < rounds; ++i) {
    x0 = step(x0), x1 = step(x1), x2 = step(x2), x3 = step(x3);
    x4 = step(x4), x5 = step(x5), x6 = step(x6), x7 = step(x7);
    x8 = step(x8), x9 = step(x9), x10 = step(x10), x11 = step(x11);
  }
  const auto sum = hn::Add(
      hn::Add(hn::Add(x0, x1), hn::Add(x2, x3)),
      hn::Add(hn::Add(hn::Add(x4, x5), hn::Add(x6, x7)), hn::Add(hn::Add(x8, x9), hn::Add(x10, x11))));
  return hn::GetLane(hn::SumOfLanes(d, sum));
}

float fma_chains(int64_t rounds) {
  const FloatTag d;
  const auto b = hn::Set(d, 0.999f);
  const auto c = hn::Set(d, 0.001f);  // x = 0.999 x + 0.001 tends to 1: no overflow, no subnormals
  return chains(rounds, [&](auto x) HWY_ATTR { return hn::MulAdd(x, b, c); });
}

float exp_chains(int64_t rounds) {
  // x = 2^-x tends to 0.641.
  return chains(rounds, [](auto x) HWY_ATTR { return exp2_vec(hn::Neg(x)); });
}

int64_t lanes() {
  return static_cast<int64_t>(hn::Lanes(FloatTag()));
}

uint64_t read(const void* data, int64_t bytes) {
  const hn::ScalableTag<uint64_t> d;
  const int64_t step = static_cast<int64_t>(hn::Lanes(d));
  const uint64_t* const from = static_cast<const uint64_t*>(data);
  const int64_t words = bytes / 8;
  auto a = hn::Zero(d), b = hn::Zero(d), c = hn::Zero(d), e = hn::Zero(d);
  for (int64_t i = 0; i + 4 * step <= words; i += 4 * step) {
    a = hn::Xor(a, hn::LoadU(d, from + i));
    b = hn::Xor(b, hn::LoadU(d, from + i + step));
    c = hn::Xor(c, hn::LoadU(d, from + i + 2 * step));
    e = hn::Xor(e, hn::LoadU(d, from + i + 3 * step));
  }
  return hn::GetLane(hn::Xor(hn::Xor(a, b), hn::Xor(c, e)));
}

}  // namespace HWY_NAMESPACE
}  // namespace attnprof
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace attnprof {

HWY_EXPORT(fma_chains);
HWY_EXPORT(exp_chains);
HWY_EXPORT(lanes);
HWY_EXPORT(read);

float peak_fma_chains(int64_t rounds) {
  return HWY_DYNAMIC_DISPATCH(fma_chains)(rounds);
}
float peak_exp_chains(int64_t rounds) {
  return HWY_DYNAMIC_DISPATCH(exp_chains)(rounds);
}
int64_t peak_lanes() {
  return HWY_DYNAMIC_DISPATCH(lanes)();
}
uint64_t peak_read(const void* data, int64_t bytes) {
  return HWY_DYNAMIC_DISPATCH(read)(data, bytes);
}

}  // namespace attnprof
#endif  // HWY_ONCE
