// naive and fused on the CPU against float64: values, shapes, masks, instruction sets.
#include <hwy/highway.h>

#include "catch.hpp"
#include "host_case.hpp"

using namespace attnprof;
using namespace attnprof::host_test;

namespace {

/// V row j holds j: with equal weights the output says which keys were visible.
double row_number(int64_t, int64_t row, int64_t) {
  return static_cast<double>(row);
}
HostCase::Value constant(double value) {
  return [value](int64_t, int64_t, int64_t) { return value; };
}

}  // namespace

TEST_CASE("Equal scores of any size give the mean of V", "[host][numerics]") {
  for (const Implementation& impl : both()) {
    for (const DType dtype : {DType::fp32, DType::bf16, DType::fp16}) {
      for (const double size :
           {4.0, 32.0}) {  // scores 128 (exp overflows) and 8192 (raw product 65536 overflows fp16)
        Problem p = problem(dtype, 129, 64);
        HostCase c(p);
        c.set_q(constant(size));
        c.set_k(constant(size));
        c.set_v(row_number);
        c.run(impl);
        CAPTURE(impl.name, to_string(dtype), size);
        // 64 is representable in every dtype; naive rounds P = 1/129 to the dtype, all rows alike.
        const double allowed = impl.materializes && dtype != DType::fp32 ? 0.5 : 1e-4;
        CHECK(c.output_at(0, 0, 0) == Approx(64.0).margin(allowed));
        CHECK(c.output_at(0, 128, 63) == Approx(64.0).margin(allowed));
      }
    }
  }
}

TEST_CASE("A single key of huge value comes back exactly", "[host][numerics]") {
  // The scaled score is 1.4e11, where fp32 steps are 16384: an exponent taken from two roundings could
  // overflow.
  for (const Implementation& impl : both()) {
    Problem p = problem(DType::bf16, 1, 64);
    HostCase c(p);
    c.set_q(constant(133120.0));
    c.set_k(constant(133120.0));
    c.set_v(constant(133120.0));
    c.run(impl);
    CAPTURE(impl.name);
    for (int64_t column = 0; column < 64; ++column) REQUIRE(c.output_at(0, 0, column) == 133120.0);
  }
}

TEST_CASE("Scores that dwarf each other pick one key", "[host][numerics]") {
  for (const Implementation& impl : both()) {
    Problem p = problem(DType::bf16, 200, 64);
    HostCase c(p);
    c.set_q(constant(1000.0));
    c.set_k([](int64_t, int64_t row, int64_t) { return row == 170 ? 4096.0 : -4096.0; });
    c.set_v(row_number);
    c.run(impl);
    CAPTURE(impl.name);
    CHECK(c.output_at(0, 3, 5) == 170.0);
    CHECK(c.output_at(0, 199, 0) == 170.0);
  }
}

TEST_CASE("Rows that see no key are zero, with log-sum-exp minus infinity", "[host][numerics]") {
  for (const Implementation& impl : both()) {
    for (const KernelConfig tile : {KernelConfig{}, KernelConfig{1, 1, 0, 0}, KernelConfig{2, 1, 0, 0}}) {
      Problem p = problem(DType::fp32, 5, 8);
      p.seqlen_kv = 2;
      p.causal = true;
      HostCase c(p);
      c.set_q(constant(0.0));
      c.set_v(row_number);
      c.run(impl, tile);
      CAPTURE(impl.name, tile.tile_m, tile.tile_n);
      const double expected[] = {0, 0, 0, 0, 0.5};
      for (int64_t row = 0; row < 5; ++row) {
        for (int64_t column = 0; column < 8; ++column) CHECK(c.output_at(0, row, column) == expected[row]);
        if (!impl.omits.empty()) continue;
        const float lse = c.lse()[static_cast<size_t>(row)];
        if (row < 3) CHECK((std::isinf(lse) && lse < 0));
        if (row == 3) CHECK(lse == 0.0f);
        if (row == 4) CHECK(lse == Approx(std::log(2.0)));
      }
    }
  }
}

TEST_CASE("A NaN among the inputs reaches the rows that see it", "[host][numerics]") {
  for (const Implementation& impl : both()) {
    for (const bool in_k : {true, false}) {
      Problem p = problem(DType::fp32, 40, 16);
      p.causal = true;
      HostCase c(p);
      store_element(in_k ? c.k() : c.v(), p.dtype, 39 * 16 + 3, std::numeric_limits<float>::quiet_NaN());
      c.run(impl);
      CAPTURE(impl.name, in_k);
      CHECK(std::isnan(c.output_at(0, 39, 3)));
      if (in_k) CHECK(std::isfinite(c.output_at(0, 38, 3)));  // masked scores are not looked at
    }
  }
}

TEST_CASE("Errors stay within the tolerance of the dtype, short and long", "[host][numerics]") {
  for (const DType dtype : {DType::fp32, DType::fp16, DType::bf16}) {
    for (const int64_t keys : {int64_t{128}, int64_t{16384}}) {
      Problem p = problem(dtype, keys, 64);
      p.seqlen_q = 48;
      HostCase c(p);
      c.run(naive_host());
      const Errors naive = c.errors(32);
      c.run(fused_host());
      const Errors fused = c.errors(32);
      CAPTURE(to_string(dtype), keys, naive.rel, fused.rel);
      CHECK(naive.rel <= tolerance(p, true));
      CHECK(fused.rel <= tolerance(p, false));
      CHECK(fused.rel <= 2 * naive.rel);
      CHECK(fused.lse_abs <= 1e-5);
      if (dtype == DType::fp32) CHECK(fused.rel < 2e-6);
    }
  }
}

TEST_CASE("Every head width is right, also from a base that is off by one element", "[host][shape]") {
  for (const int64_t d : {1, 8, 40, 63, 64, 72, 80, 96, 100, 128, 160, 192, 256, 361, 512}) {
    for (const DType dtype : {DType::fp32, DType::bf16, DType::fp16}) {
      Problem p = problem(dtype, 67, d);
      p.causal = true;
      for (const Implementation& impl : both()) {
        CAPTURE(impl.name, d, to_string(dtype));
        CHECK(is_right(p, impl));
        CHECK(is_right(p, impl, {}, 1));
      }
    }
  }
}

TEST_CASE("The last column of an odd width counts", "[host][shape]") {
  for (const int64_t d : {63, 100, 128}) {
    for (const Implementation& impl : both()) {
      Problem p = problem(DType::fp32, 50, d);
      p.scale = 1.0;
      HostCase c(p);
      const auto last_only = [d](double value) {
        return [=](int64_t, int64_t row, int64_t column) {
          return column == d - 1 ? value * double(row % 7) : 0.0;
        };
      };
      c.set_q(last_only(1.0));
      c.set_k(last_only(0.5));
      c.set_v(last_only(3.0));
      c.run(impl);
      const Errors e = c.errors();
      CAPTURE(impl.name, d);
      CHECK(e.rel < 1e-6);
      CHECK(c.output_at(0, 6, d - 1) > 15.0);  // weights lean to the largest rows; without the column: 8.6
      CHECK(c.output_at(0, 6, 0) == 0.0);
    }
  }
}

TEST_CASE("Query heads read the key/value head of their group", "[host][shape]") {
  const std::pair<int64_t, int64_t> groups[] = {{6, 2}, {28, 4}, {12, 12}, {8, 1}};
  for (const auto& [heads, kv_heads] : groups) {
    for (const Implementation& impl : both()) {
      Problem p = problem(DType::bf16, 20, 16);
      p.batch = 2;
      p.heads = heads;
      p.kv_heads = kv_heads;
      HostCase c(p);
      c.set_v([&](int64_t head, int64_t, int64_t) { return static_cast<double>(head); });
      c.run(impl);
      CAPTURE(impl.name, heads, kv_heads);
      for (int64_t head = 0; head < 2 * heads; ++head) {
        // naive rounds each P to bf16 before it sums them, which need not give 1.
        const auto expected = static_cast<double>(head / (heads / kv_heads));
        CHECK(c.output_at(head, 7, 9) == Approx(expected).epsilon(impl.materializes ? 0.01 : 0));
      }
    }
  }
}

TEST_CASE("Masks are right for every relation of lengths and windows", "[host][shape]") {
  const std::pair<int64_t, int64_t> lengths[] = {{1, 1},    {1, 300},  {300, 1},
                                                 {37, 150}, {150, 37}, {130, 130}};
  for (const auto& [seqlen_q, seqlen_kv] : lengths) {
    for (const bool causal : {false, true}) {
      for (const int64_t window : {0, 1, 33, 1000}) {
        Problem p = problem(DType::fp32, seqlen_q, 24);
        p.seqlen_kv = seqlen_kv;
        p.causal = causal;
        p.window = window;
        for (const Implementation& impl : both()) {
          CAPTURE(impl.name, describe(p));
          CHECK(is_right(p, impl));
          CHECK(is_right(p, impl, {16, 48, 0, 0}));
        }
      }
    }
  }
}

TEST_CASE("Every instruction set of this CPU gives right results", "[host][numerics]") {
  struct Restore {
    ~Restore() { choose(0); }
    static void choose(int64_t targets) {  // 0: what the CPU supports
      hwy::SetSupportedTargetsForTest(targets);
      hwy::GetChosenTarget().Update(hwy::SupportedTargets());
    }
  } restore;
  for (int64_t left = hwy::SupportedTargets() & HWY_TARGETS; left != 0; left &= left - 1) {
    const int64_t target = left & -left;
    Restore::choose(target);
    for (const DType dtype : {DType::fp32, DType::bf16, DType::fp16}) {
      for (const int64_t d : {40, 63}) {
        Problem p = problem(dtype, 131, d);
        p.causal = true;
        for (const Implementation& impl : both()) {
          CAPTURE(impl.name, hwy::TargetName(target), describe(p));
          CHECK(is_right(p, impl));
        }
      }
    }
  }
}
