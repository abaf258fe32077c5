#include "gate/noise.hpp"

#include <cmath>
#include <limits>
#include <random>

#include "catch.hpp"

using namespace attnprof;

namespace {
constexpr double kInfinity = std::numeric_limits<double>::infinity();
}

TEST_CASE("quantiles of the normal distribution are the tables' and undo its tail", "[noise]") {
  CHECK(noise::upper_normal_quantile(0.025) == Approx(1.959964).epsilon(1e-6));
  CHECK(noise::upper_normal_quantile(0.001) == Approx(3.090232).epsilon(1e-6));
  CHECK(noise::upper_normal_tail(4.753424) == Approx(1e-6).epsilon(1e-5));
  CHECK(noise::upper_normal_quantile(noise::upper_normal_tail(6.5)) == Approx(6.5));
}

TEST_CASE("Student's t has the tails of its tables, or a little wider ones", "[noise]") {
  struct Known {
    double df, tail, t;
  };
  // Tables of Student's distribution, upper tails.
  for (const Known& k : {Known{5, 0.025, 2.571},
                         {5, 0.0005, 6.869},
                         {12, 0.025, 2.179},
                         {12, 0.0005, 4.318},
                         {30, 0.0005, 3.646},
                         {4, 0.005, 4.604},
                         {5, 4.17e-5, 11.605},
                         {12, 4.17e-5, 5.810}}) {
    INFO(k.df << " degrees of freedom, tail " << k.tail);
    const double t = noise::z_to_t(noise::upper_normal_quantile(k.tail), k.df);
    CHECK(t > k.t * 0.999);
    CHECK(t < k.t * (k.df < 12 ? 1.045 : 1.005));
  }
  CHECK(noise::t_to_z(noise::z_to_t(4.2, 7), 7) == Approx(4.2));
  CHECK(noise::t_to_z(-3, 12) == Approx(-noise::t_to_z(3, 12)));
  CHECK(noise::z_to_t(3, kInfinity) == 3);
}

TEST_CASE("digamma and trigamma have their known values", "[noise]") {
  CHECK(noise::digamma(1) == Approx(-0.5772156649).epsilon(1e-9));
  CHECK(noise::digamma(0.5) == Approx(-1.9635100260).epsilon(1e-9));
  CHECK(noise::trigamma(1) == Approx(1.6449340668).epsilon(1e-9));    // pi^2 / 6
  CHECK(noise::trigamma(0.5) == Approx(4.9348022005).epsilon(1e-9));  // pi^2 / 2
  for (const double x : {0.01, 0.5, 3.0, 400.0})
    CHECK(noise::inverse_trigamma(noise::trigamma(x)) == Approx(x).epsilon(1e-6));
}

TEST_CASE("repeats of many cases tell how much variances differ between cases", "[noise]") {
  std::mt19937_64 random(7);
  const int df = 3;
  std::chi_squared_distribution<double> sampling(df), between(8);
  std::vector<noise::Variance> alike, differing;
  for (int i = 0; i < 4000; ++i) {
    alike.push_back({2.0 * sampling(random) / df, df});
    const double own = 2.0 * 8 / between(random);  // scaled inverse chi-square, 8 degrees of freedom
    differing.push_back({own * sampling(random) / df, df});
  }
  const noise::Prior same = noise::fit_prior(alike);
  CHECK(same.variance == Approx(2).epsilon(0.05));
  CHECK(same.df > 60);
  const noise::Prior spread = noise::fit_prior(differing);
  CHECK(spread.variance == Approx(2).epsilon(0.1));
  CHECK(spread.df == Approx(8).epsilon(0.25));
}

TEST_CASE("a case's own repeats and the others' are weighed by their degrees of freedom", "[noise]") {
  const noise::Posterior p = noise::moderate({1, 4}, {7, 2});
  CHECK(p.variance == Approx((4 * 1 + 2 * 7) / 6.0));
  CHECK(p.df == 6);
  CHECK(noise::moderate({1, 4}, {0, 0}).variance == 1);  // no repeats: what the others say
  CHECK(noise::moderate({1, kInfinity}, {7, 2}).variance == 1);
  CHECK(noise::fit_prior({}).variance == 1);
  const noise::Prior few = noise::fit_prior({{1, 1}, {3, 1}});
  CHECK(few.variance == 2);
  CHECK(few.df == 10);
}

TEST_CASE("the scatter of the bulk ignores what a third of the cases did, and where the bulk lies",
          "[noise]") {
  std::mt19937_64 random(3);
  std::normal_distribution<double> normal(0, 2);
  std::vector<double> z;
  for (int i = 0; i < 1200; ++i) z.push_back(normal(random));
  CHECK(noise::bulk_scatter(z) == Approx(2).epsilon(0.15));
  for (double& x : z) x += 40;
  CHECK(noise::bulk_scatter(z) == Approx(2).epsilon(0.15));
  for (size_t i = 0; i < 400; ++i) z[i] += 10.0 + static_cast<double>(i);
  CHECK(noise::bulk_scatter(z) == Approx(2).epsilon(0.6));
  CHECK(noise::bulk_scatter({5, 1, 9}) == 1);  // too few to say
}

TEST_CASE("Holm rejects step by step and stops at the first that stands", "[noise]") {
  using B = std::vector<bool>;
  CHECK(noise::holm({0.01, 0.04, 0.03, 0.005}, 0.05) == B{true, false, false, true});
  CHECK(noise::holm({0.01, 0.02, 0.03, 0.005}, 0.05) == B{true, true, true, true});
  CHECK(noise::holm({0.03, 0.001}, 0.05) == B{true, true});  // Bonferroni would let the first stand
  CHECK(noise::holm({}, 0.05).empty());
  CHECK(noise::holm({std::nan("")}, 0.05) == B{false});
}
