// The schedules of naive and fused on the CPU: tiles, repeatability, and bytes counted against the model.
#include "catch.hpp"
#include "core/error.hpp"
#include "host_case.hpp"

using namespace attnprof;
using namespace attnprof::host_test;

namespace {

Case resolved(const Problem& p, const Implementation& impl, KernelConfig config = {}) {
  return {p, std::string(impl.name), impl.resolved(p, config, device().info())};
}

Traffic modelled(const Problem& p, const Implementation& impl, KernelConfig config = {}) {
  return impl.model(resolved(p, impl, config), device().info()).hbm;
}

}  // namespace

TEST_CASE("The host's result does not depend on the tile", "[host][shape]") {
  Problem p = problem(DType::fp32, 150, 40);
  p.seqlen_kv = 170;
  p.causal = true;
  const KernelConfig tiles[] = {{16, 128, 0, 0}, {128, 16, 0, 0}, {48, 80, 0, 0},    {1, 1, 0, 0},
                                {7, 5, 0, 0},    {64, 64, 0, 0},  {4096, 4096, 0, 0}};
  for (const KernelConfig& tile : tiles) {
    CAPTURE(tile.tile_m, tile.tile_n);
    CHECK(is_right(p, fused_host(), tile));
  }
}

TEST_CASE("Taller query tiles change no bit", "[host][shape]") {
  Problem p = problem(DType::fp32, 300, 64);
  p.causal = true;
  HostCase c(p);
  c.run(fused_host(), {16, 64, 0, 0});
  const std::vector<char> first = c.output();
  for (const int tile_m : {1, 7, 100, 300}) {
    c.run(fused_host(), {tile_m, 64, 0, 0});
    CAPTURE(tile_m);
    CHECK(c.output() == first);
  }
}

TEST_CASE("Bits are the same over runs, threads and batch", "[host][repeatability]") {
  for (const Implementation& impl : both()) {
    for (const DType dtype : {DType::fp32, DType::bf16}) {
      Problem p = problem(dtype, 210, 48);
      p.heads = 2;
      p.kv_heads = 1;
      p.causal = true;
      HostCase one(p);
      one.run(impl);
      const std::vector<char> first = one.output();
      CAPTURE(impl.name, to_string(dtype));
      int same = 0;
      for (int run = 0; run < 20; ++run) {
        one.run(impl);
        same += one.output() == first;
      }
      CHECK(same == 20);

      for (const int threads : {1, 3}) {
        const auto other = open_host(threads);
        one.run(impl, {}, *other);
        CHECK(one.output() == first);
      }

      Problem four = p;
      four.batch = 4;
      HostCase copies(four);
      const auto copy = [&](void* to, const void* from, int64_t bytes) {
        for (int64_t b = 0; b < 4; ++b)
          std::memcpy(static_cast<char*>(to) + b * bytes, from, static_cast<size_t>(bytes));
      };
      copy(copies.q(), one.q(), q_bytes(p));
      copy(copies.k(), one.k(), kv_bytes(p));
      copy(copies.v(), one.v(), kv_bytes(p));
      copies.run(impl);
      for (size_t b = 0; b < 4; ++b) {
        CHECK(std::memcmp(copies.output().data() + b * first.size(), first.data(), first.size()) == 0);
      }
    }
  }
}

TEST_CASE("More heads than a 16-bit grid could hold are all computed", "[host][shape]") {
  const std::pair<int64_t, int64_t> sizes[] = {{10922, 6}, {10923, 6}, {65536, 1}};
  for (const auto& [batch, heads] : sizes) {
    Problem p = problem(DType::bf16, 16, 16);
    p.batch = batch;
    p.heads = p.kv_heads = heads;
    HostCase c(p);
    c.run(fused_host());
    CAPTURE(batch, heads);
    CHECK(c.errors(4096).rel <= tolerance(p, false));
    int64_t unwritten = 0;  // every element, not a sample: outputs start as NaN
    for (int64_t i = 0; i < o_bytes(p) / 2; ++i) unwritten += std::isnan(load_element(c.o(), p.dtype, i));
    CHECK(unwritten == 0);
  }
}

TEST_CASE("Counted bytes equal the model to the byte", "[host][bytes]") {
  const KernelConfig tiles[] = {{}, {16, 128, 0, 0}, {48, 80, 0, 0}, {7, 5, 0, 0}, {512, 512, 0, 0}};
  const std::pair<int64_t, int64_t> lengths[] = {{150, 150}, {40, 200}, {200, 40}, {1, 77}};
  for (const auto& [seqlen_q, seqlen_kv] : lengths) {
    for (const DType dtype : {DType::fp32, DType::bf16}) {
      for (const bool causal : {false, true}) {
        for (const int64_t window : {0, 30}) {
          Problem p = problem(dtype, seqlen_q, 33);
          p.seqlen_kv = seqlen_kv;
          p.batch = 2;
          p.heads = 4;
          p.kv_heads = 2;
          p.causal = causal;
          p.window = window;
          for (const Implementation& impl : both()) {
            for (const KernelConfig& tile : tiles) {
              if (impl.name == "naive" && tile.tile_m > 0) continue;
              const Traffic counted = HostCase(p).run(impl, tile);
              const Traffic model = modelled(p, impl, tile);
              CAPTURE(impl.name, describe(p), tile.tile_m, tile.tile_n);
              CHECK(counted.read_bytes == model.read_bytes);
              CHECK(counted.write_bytes == model.write_bytes);
            }
          }
        }
      }
    }
  }
}

TEST_CASE("Naive adds four passes over the score matrix", "[host][bytes]") {
  Problem p = problem(DType::bf16, 1024, 64);
  HostCase one(p);
  CHECK(one.run(naive_host()).total() == 524288 + 8388608);

  // Grouped heads: every query head reads its key/value head anew, in either schedule.
  p.heads = 8;
  p.kv_heads = 2;
  HostCase grouped(p);
  CHECK(compulsory_traffic(p).read_bytes == 1048576 + 524288);
  const Traffic naive = grouped.run(naive_host());
  const Traffic whole = grouped.run(fused_host(), {1024, 128, 0, 0});
  CHECK(naive.total() == 8 * (524288 + 8388608));
  CHECK(whole.total() == 8 * 524288 + lse_bytes(p));
}

TEST_CASE("Taller query tiles and causal masks never move more bytes", "[host][bytes]") {
  Problem p = problem(DType::fp16, 1024, 64);
  p.heads = 8;
  p.kv_heads = 2;
  Problem masked = p;
  masked.causal = true;
  int64_t before = std::numeric_limits<int64_t>::max(), masked_before = before;
  for (const int tile_m : {16, 128, 256, 1024}) {
    const int64_t full = modelled(p, fused_host(), {tile_m, 128, 0, 0}).total();
    const int64_t causal = modelled(masked, fused_host(), {tile_m, 128, 0, 0}).total();
    CAPTURE(tile_m);
    CHECK(full < before);
    CHECK(causal <= masked_before);
    CHECK(causal <= full);
    before = full;
    masked_before = causal;
  }
  CHECK(modelled(masked, naive_host(), {}).total() < modelled(p, naive_host(), {}).total());
}

TEST_CASE("The model counts the arithmetic that is executed", "[host][bytes]") {
  Problem p = problem(DType::fp32, 512, 64);
  for (const Implementation& impl : both()) {
    const ModelledWork work = impl.model(resolved(p, impl), device().info());
    CHECK(work.executed_flops == algorithmic_flops(p));
    CHECK(work.exp_count == 512 * 512);
  }
  p.causal = true;
  const ModelledWork fused = fused_host().model(resolved(p, fused_host()), device().info());
  CHECK(fused.executed_flops > algorithmic_flops(p));
  CHECK(fused.executed_flops * 10 < algorithmic_flops(p) * 11);  // only the edge of the mask is wasted
}

TEST_CASE("What cannot run is refused by name", "[host][cli]") {
  Problem p = problem(DType::fp32, 64, 64);
  for (const Implementation& impl : both()) {
    Problem backward = p;
    backward.pass = Pass::bwd;
    const Unsupported reason = refusal(impl, resolved(backward, impl), device().info());
    REQUIRE(reason);
    CHECK(reason->find("fwd only, not bwd") != std::string::npos);
    CHECK_FALSE(refusal(impl, resolved(p, impl), device().info()));
  }
  Problem large = problem(DType::fp32, 1 << 20, 512);
  const Case wide = resolved(large, fused_host(), {1 << 20, 1 << 20, 0, 0});
  const Unsupported reason = refusal(fused_host(), wide, device().info());
  REQUIRE(reason);
  CHECK(reason->find("1048576x1048576") != std::string::npos);

  // Two threads share the last cache: a tile of more than half of it would count bytes that are not all there
  // are.
  DeviceInfo info = device().info();
  info.multiprocessors = 2;
  info.smem_per_block_bytes = 1 << 20;
  const auto refused = [&info](int tile, int64_t cache_bytes) {
    info.last_level_cache_bytes = cache_bytes;
    Problem long_one = problem(DType::bf16, 1 << 16, 64);
    return refusal(fused_host(), resolved(long_one, fused_host(), {tile, tile, 0, 0}), info);
  };
  CHECK_FALSE(refused(512, 32 << 20));
  REQUIRE(refused(1 << 16, 32 << 20));
  CHECK(refused(1 << 16, 32 << 20)->find("last-level cache is 16777216") != std::string::npos);
  CHECK_FALSE(refused(1 << 16, int64_t{1} << 30));
  CHECK_FALSE(refused(128, 1 << 10));  // what the implementation chooses by itself is never refused
  CHECK_FALSE(refused(1 << 16, 0));    // unknown
}

TEST_CASE("The CPU is not bound by what fits a GPU block", "[host][shape]") {
  for (const int tile : {32, 256}) {
    for (const int64_t d : {64, 512}) {
      Problem p = problem(DType::fp16, 256, d);
      CAPTURE(tile, d);
      CHECK(is_right(p, fused_host(), {tile, tile, 0, 0}));
    }
  }
}

TEST_CASE("Operands that cannot be used are named before anything runs", "[host][cli]") {
  const Problem p = problem(DType::fp32, 8, 8);
  std::vector<float> data(8 * 8 + 1);
  char* const base = reinterpret_cast<char*>(data.data());
  for (const Implementation& impl : both()) {
    std::vector<char> workspace(static_cast<size_t>(2 * score_matrix_bytes(p)));
    const Tensors misaligned{{{"q", base}, {"k", base + 1}, {"v", base}, {"o", base}, {"lse", data.data()}},
                             workspace.data()};
    try {
      impl.prepare(resolved(p, impl), misaligned, device());
      FAIL("accepted");
    } catch (const CaseError& e) {
      CHECK(std::string(e.what()).find("k at") != std::string::npos);
    }
  }
}

TEST_CASE("Default tiles fit the second-level cache and give every thread work", "[host][shape]") {
  DeviceInfo info = device().info();
  info.smem_per_block_bytes = 512 << 10;
  info.multiprocessors = 16;
  for (const int64_t d : {8, 64, 128, 256, 512}) {
    Problem p = problem(DType::fp32, 4096, d);
    const KernelConfig tile = fused_host().resolve(p, {}, info);
    CAPTURE(d, tile.tile_m, tile.tile_n);
    CHECK(tile.tile_m >= 12);
    CHECK(tile.tile_n >= 16);
    CHECK((p.seqlen_q + tile.tile_m - 1) / tile.tile_m >= 3 * info.multiprocessors);
    p.heads = p.kv_heads = 64;
    const KernelConfig tall = fused_host().resolve(p, {}, info);
    CHECK(tall.tile_m >= tile.tile_m);
    CHECK(4 * (2 * tall.tile_m + 2 * tall.tile_n) * d <= info.smem_per_block_bytes);
  }
  CHECK(fused_host().resolve(problem(DType::fp32, 64, 64), {7, 0, 0, 0}, info).tile_m == 7);
}
