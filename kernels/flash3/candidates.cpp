#include "kernels/flash3/candidates.hpp"

#include "kernels/flash3/flash3.hpp"
#include "kernels/flash3/tile.hpp"

namespace attnprof {

// For each height and number of stages the three widest tiles that registers and shared memory hold: keys a
// step are what hides latencies, and a narrower tile only pays more steps. One warpgroup alone has nothing to
// hide behind: it is for problems that have no more rows.
std::vector<KernelConfig> flash3_candidates(const Problem& p, const DeviceInfo& device) {
  constexpr int kWidest = 3;
  const Implementation flash3 = flash3_gpu();
  std::vector<KernelConfig> all;
  for (const int tile_m : {64, 128, 192, 256}) {
    if (tile_m == 64 && flash3::packed_rows(p) > 64) continue;
    for (const int stages : {2, 3, 4, 6}) {
      int taken = 0;
      for (int tile_n = 256; tile_n >= 16 && taken < kWidest; tile_n -= 16) {
        const KernelConfig k{tile_m, tile_n, stages, flash3::warps(tile_m, true)};
        if (flash3.supports({p, std::string(flash3.name), k}, device)) continue;
        all.push_back(k);
        ++taken;
      }
    }
  }
  return all;
}

}  // namespace attnprof
