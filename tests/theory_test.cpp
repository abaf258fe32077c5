#include "core/theory.hpp"

#include <random>

#include "catch.hpp"
#include "core/error.hpp"

using namespace attnprof;

namespace {

Problem square(int64_t seqlen, int64_t head_dim, int64_t heads = 1) {
  Problem p;
  p.heads = p.kv_heads = heads;
  p.seqlen_q = p.seqlen_kv = seqlen;
  p.head_dim = head_dim;
  return p;
}

/// Small problems of every kind: more rows than keys and fewer, masks, windows, shared KV heads.
std::vector<Problem> random_problems(int count) {
  std::mt19937 random(7);
  const auto pick = [&](int low, int high) { return std::uniform_int_distribution<int>(low, high)(random); };
  std::vector<Problem> problems;
  for (int i = 0; i < count; ++i) {
    Problem p;
    p.dtype = static_cast<DType>(pick(0, 2));
    p.batch = pick(1, 3);
    p.kv_heads = pick(1, 3);
    p.heads = p.kv_heads * pick(1, 4);
    p.seqlen_q = pick(1, 40);
    p.seqlen_kv = pick(1, 40);
    p.head_dim = pick(1, 20);
    p.causal = pick(0, 1) == 1;
    p.window = pick(0, 1) == 1 ? pick(1, 60) : 0;
    problems.push_back(p);
  }
  return problems;
}

/// The mask's definition, not visible_keys().
bool sees(const Problem& p, int64_t i, int64_t j) {
  const int64_t distance = i + p.seqlen_kv - p.seqlen_q - j;
  return (!p.causal || distance >= 0) && (p.window == 0 || std::abs(distance) < p.window);
}

int64_t pairs_by_counting(const Problem& p) {
  int64_t pairs = 0;
  for (int64_t i = 0; i < p.seqlen_q; ++i) {
    for (int64_t j = 0; j < p.seqlen_kv; ++j) pairs += sees(p, i, j);
  }
  return pairs;
}

bool tile_has_pair(const Problem& p, int64_t row, int64_t key, int tile_m, int tile_n) {
  for (int64_t i = row; i < std::min(row + tile_m, p.seqlen_q); ++i) {
    for (int64_t j = key; j < std::min(key + tile_n, p.seqlen_kv); ++j) {
      if (sees(p, i, j)) return true;
    }
  }
  return false;
}

int64_t executed_by_counting(const Problem& p, int tile_m, int tile_n) {
  int64_t tiles = 0;
  for (int64_t row = 0; row < p.seqlen_q; row += tile_m) {
    for (int64_t key = 0; key < p.seqlen_kv; key += tile_n)
      tiles += tile_has_pair(p, row, key, tile_m, tile_n);
  }
  return tiles * tile_m * tile_n;
}

}  // namespace

TEST_CASE("visible pairs agree with counting them one by one", "[theory]") {
  for (const Problem& p : random_problems(600)) {
    INFO(describe(p));
    REQUIRE(visible_pairs(p) == pairs_by_counting(p));
  }
}

TEST_CASE("executed pairs agree with looking into every tile", "[theory]") {
  const std::pair<int, int> tiles[] = {{1, 1}, {7, 5}, {16, 8}, {8, 16}, {64, 64}, {3, 40}};
  for (const Problem& p : random_problems(300)) {
    for (const auto& [tile_m, tile_n] : tiles) {
      INFO(describe(p) << " tile " << tile_m << "x" << tile_n);
      REQUIRE(executed_pairs(p, tile_m, tile_n) == executed_by_counting(p, tile_m, tile_n));
      REQUIRE(executed_pairs(p, tile_m, tile_n) >= visible_pairs(p));
    }
  }
}

TEST_CASE("a tile of one pair wastes nothing, and a tile without a side is refused", "[theory]") {
  for (const Problem& p : random_problems(100)) CHECK(executed_pairs(p, 1, 1) == visible_pairs(p));
  CHECK_THROWS_AS(executed_pairs(square(8, 8), 0, 8), UsageError);
  CHECK_THROWS_AS(executed_pairs(square(8, 8), 8, -1), UsageError);
}

TEST_CASE("FLOPs are four per pair and column forward, ten backward", "[theory]") {
  for (Problem p : random_problems(100)) {
    const int64_t products = p.batch * p.heads * p.head_dim * pairs_by_counting(p);
    CHECK(algorithmic_flops(p) == 4 * products);
    p.pass = Pass::bwd;
    CHECK(algorithmic_flops(p) == 10 * products);
    p.pass = Pass::fwd_bwd;
    CHECK(algorithmic_flops(p) == 14 * products);
  }
}

TEST_CASE("one head of N tokens takes 2 N^2 d multiply-adds, and doubling N takes four times as many",
          "[theory][seeds]") {
  CHECK(algorithmic_flops(square(4096, 64)) == 2 * (2 * int64_t{4096} * 4096 * 64));
  CHECK(algorithmic_flops(square(8192, 64)) == 4 * algorithmic_flops(square(4096, 64)));
}

TEST_CASE("4,096 tokens have 16,777,216 scores a head, 4,096 times the slots of a 64x64 tile",
          "[theory][seeds]") {
  const int64_t slots = score_slots(square(4096, 64));
  CHECK(slots == 16'777'216);
  CHECK(slots / (64 * 64) == 4096);
}

TEST_CASE("8,192 tokens: 67,108,864 scores, 128 MiB a head, 4 GiB for 32 heads", "[theory][seeds]") {
  CHECK(score_slots(square(8192, 128)) == 67'108'864);
  CHECK(score_matrix_bytes(square(8192, 128)) == int64_t{128} << 20);
  CHECK(score_matrix_bytes(square(8192, 128, 32)) == int64_t{4} << 30);
}

TEST_CASE("32 heads at 32k tokens: 64 GiB of scores against 4 MiB of row statistics", "[theory][seeds]") {
  const Problem p = square(32768, 128, 32);
  CHECK(score_matrix_bytes(p) == int64_t{64} << 30);
  CHECK(lse_bytes(p) == int64_t{4} << 20);
}

TEST_CASE("compulsory bytes count K and V once per KV head", "[theory]") {
  Problem p = square(1024, 64, 8);
  p.kv_heads = 2;
  p.dtype = DType::fp16;
  CHECK(q_bytes(p) + o_bytes(p) == 2'097'152);
  CHECK(2 * kv_bytes(p) == 524'288);
  CHECK(compulsory_traffic(p).read_bytes == 1'048'576 + 524'288);
  CHECK(compulsory_traffic(p).write_bytes == 1'048'576 + 8 * 1024 * 4);
}

TEST_CASE("four passes over the scores make naive traffic of one head 17 times the compulsory", "[theory]") {
  Problem p = square(1024, 64);
  p.dtype = DType::fp16;
  const int64_t operands = q_bytes(p) + 2 * kv_bytes(p) + o_bytes(p);
  CHECK(operands == 524'288);
  CHECK(operands + 4 * score_matrix_bytes(p) == 8'912'896);
  CHECK((operands + 4 * score_matrix_bytes(p)) / operands == 17);
}

TEST_CASE("the backward pass reads six tensors and the LSE and writes three gradients", "[theory]") {
  Problem p = square(100, 40, 6);
  p.kv_heads = 3;
  p.seqlen_kv = 70;
  p.pass = Pass::bwd;
  const int64_t queries = 6 * 100 * 40 * 2, keys = 3 * 70 * 40 * 2, lse = 6 * 100 * 4;
  CHECK(compulsory_traffic(p).read_bytes == 3 * queries + 2 * keys + lse);  // Q, O, dO; K, V
  CHECK(compulsory_traffic(p).write_bytes == queries + 2 * keys);           // dQ; dK, dV
  const int64_t backward = compulsory_traffic(p).total();
  p.pass = Pass::fwd;
  const int64_t forward = compulsory_traffic(p).total();
  p.pass = Pass::fwd_bwd;
  CHECK(compulsory_traffic(p).total() == forward + backward);
}

TEST_CASE("an element of fp32 takes twice the bytes, the row statistics do not change", "[theory]") {
  Problem p = square(64, 32);
  const int64_t half = q_bytes(p), lse = lse_bytes(p);
  p.dtype = DType::fp32;
  CHECK(q_bytes(p) == 2 * half);
  CHECK(lse_bytes(p) == lse);
}
