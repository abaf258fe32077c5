// Counter-based random integers behind the inputs: element -> integer, the same on every machine and device.
// Compiled by the host compiler and by NVRTC, so it includes nothing and uses no <cstdint> names.
#pragma once

namespace attnprof {

/// Finaliser of SplitMix64 (Steele, Lea & Flood, "Fast Splittable Pseudorandom Number Generators", 2014; the
/// constants are Stafford's variant 13): a bijection on 64 bits in which every input bit reaches every output
/// bit.
inline unsigned long long random_mix(unsigned long long z) {
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
  return z ^ (z >> 31);
}

/// Where the sequence of one stream of one seed starts. Compute it once, outside the loop over elements.
inline unsigned long long random_key(unsigned long long seed, unsigned stream) {
  return random_mix(seed + 0x9e3779b97f4a7c15ull * (stream + 1ull));
}

/// Sum of twelve uniform 16-bit integers, less its mean 6 * 65535: an integer in [-393210, 393210] whose
/// standard deviation is 65536 to within one part in 2^33. By the central limit theorem close to normal. Its
/// 20 bits fit a float exactly, so `float(n) * 2^-16` rounds nowhere.
inline int random_normal_integer(unsigned long long key, unsigned long long index) {
  // Three consecutive outputs of the generator, twelve 16-bit lanes; two lanes are summed at a time in 32-bit
  // halves.
  const unsigned long long gamma = 0x9e3779b97f4a7c15ull;
  const unsigned long long lanes = 0x0000ffff0000ffffull;
  const unsigned long long state = key + 3ull * index * gamma;
  const unsigned long long a = random_mix(state);
  const unsigned long long b = random_mix(state + gamma);
  const unsigned long long c = random_mix(state + 2ull * gamma);
  const unsigned long long sum = (a & lanes) + ((a >> 16) & lanes) + (b & lanes) + ((b >> 16) & lanes) +
                                 (c & lanes) + ((c >> 16) & lanes);
  return static_cast<int>((sum & 0xffffffffull) + (sum >> 32)) - 6 * 65535;
}

/// The element itself: approximately standard normal, |x| < 6, a multiple of 2^-16.
inline float random_normal(unsigned long long key, unsigned long long index) {
  return static_cast<float>(random_normal_integer(key, index)) * (1.0f / 65536.0f);
}

}  // namespace attnprof
