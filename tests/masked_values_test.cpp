// What a query may not see cannot change its row, and NaN in what it sees gives NaN: naive and fused on the
// CPU.
#include <cmath>
#include <limits>

#include "catch.hpp"
#include "host_case.hpp"

using namespace attnprof;
using namespace attnprof::host_test;

namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// Puts `bad` into row `key` of every V.
void spoil_v(HostCase& c, const Problem& p, int64_t key, double bad) {
  for (int64_t head = 0; head < p.batch * p.kv_heads; ++head) {
    for (int64_t column = 0; column < p.head_dim; ++column)
      store_element(c.v(), p.dtype, (head * p.seqlen_kv + key) * p.head_dim + column,
                    static_cast<float>(bad));
  }
}

/// Rows are as without the bad key where they do not see it, and not finite where they do.
void check_rows(const Problem& p, const Implementation& impl, KernelConfig config, int64_t key, double bad) {
  HostCase clean(p), spoilt(p);
  clean.run(impl, config);
  spoil_v(spoilt, p, key, bad);
  spoilt.run(impl, config);
  CAPTURE(impl.name, describe(p), config.tile_m, config.tile_n, key, bad);
  for (int64_t row = 0; row < p.seqlen_q; ++row) {
    CAPTURE(row);
    const KeyRange seen = visible_keys(p, row);
    const bool sees = seen.begin <= key && key < seen.end;
    const double with = spoilt.output_at(0, row, 0), without = clean.output_at(0, row, 0);
    if (sees) {
      CHECK_FALSE(std::isfinite(with));
    } else {
      CHECK(with == Approx(without).margin(1e-6));
    }
  }
}

}  // namespace

TEST_CASE("NaN and infinity in a value that a row does not see leave the row alone",
          "[host][numerics][mask]") {
  for (const DType dtype : {DType::fp32, DType::bf16, DType::fp16}) {
    for (const int64_t seqlen : {64, 200}) {
      for (const int64_t window : {0, 5}) {
        Problem p = problem(dtype, seqlen, 40);
        p.causal = true;
        p.window = window;
        for (const Implementation& impl : both()) {
          for (const KernelConfig& config : {KernelConfig{}, KernelConfig{24, 16, 0, 0}}) {
            for (const int64_t key : {int64_t{0}, seqlen / 2 - 1, seqlen - 1}) {
              for (const double bad : {kNan, kInfinity}) check_rows(p, impl, config, key, bad);
            }
          }
        }
      }
    }
  }
}

TEST_CASE("a query that is all NaN gives NaN, whatever the number of keys", "[host][numerics]") {
  for (const int64_t keys : {1, 2, 7, 8, 9, 12, 16, 31, 32, 33, 64, 65, 130, 300}) {
    for (const bool causal : {false, true}) {
      Problem p = problem(DType::fp32, keys, 24);
      p.causal = causal;
      for (const Implementation& impl : both()) {
        HostCase c(p);
        const int64_t bad = keys - 1;
        for (int64_t column = 0; column < p.head_dim; ++column)
          store_element(c.q(), p.dtype, bad * p.head_dim + column, static_cast<float>(kNan));
        c.run(impl);
        CAPTURE(impl.name, keys, causal);
        for (int64_t column = 0; column < p.head_dim; ++column)
          REQUIRE(std::isnan(c.output_at(0, bad, column)));
        if (impl.omits.empty()) CHECK(std::isnan(c.lse()[static_cast<size_t>(bad)]));
        if (bad > 0) CHECK(std::isfinite(c.output_at(0, 0, 0)));
      }
    }
  }
}
