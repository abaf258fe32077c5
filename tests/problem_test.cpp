#include "core/problem.hpp"

#include <cmath>
#include <limits>

#include "catch.hpp"
#include "core/error.hpp"
#include "core/paper_model.hpp"
#include "core/theory.hpp"

using namespace attnprof;

namespace {

Problem small(int64_t seqlen_q, int64_t seqlen_kv) {
  Problem p;
  p.seqlen_q = seqlen_q;
  p.seqlen_kv = seqlen_kv;
  p.head_dim = 64;
  return p;
}

std::string complaint(const Problem& p) {
  try {
    validate(p);
  } catch (const UsageError& e) {
    return e.what();
  }
  return "";
}

}  // namespace

TEST_CASE("causal masks are aligned at the bottom right, so rows before the first key see nothing",
          "[problem]") {
  Problem p = small(5, 2);
  p.causal = true;
  for (int64_t i = 0; i < 3; ++i) CHECK(visible_keys(p, i).size() == 0);
  CHECK(visible_keys(p, 3).begin == 0);
  CHECK(visible_keys(p, 3).end == 1);
  CHECK(visible_keys(p, 4).end == 2);
}

TEST_CASE("visible keys are those that the mask's definition names, one by one", "[problem]") {
  for (int64_t nq = 1; nq <= 9; ++nq) {
    for (int64_t nk = 1; nk <= 9; ++nk) {
      for (int64_t window : {0, 1, 2, 3, 8, 100}) {
        for (bool causal : {false, true}) {
          Problem p = small(nq, nk);
          p.window = window;
          p.causal = causal;
          for (int64_t i = 0; i < nq; ++i) {
            const KeyRange keys = visible_keys(p, i);
            INFO(describe(p) << " row " << i);
            REQUIRE(keys.begin <= keys.end);
            for (int64_t j = 0; j < nk; ++j) {
              const int64_t distance = i + nk - nq - j;
              const bool sees = (!causal || distance >= 0) && (window == 0 || std::abs(distance) < window);
              REQUIRE(sees == (j >= keys.begin && j < keys.end));
            }
          }
        }
      }
    }
  }
}

TEST_CASE("a window of any size is safe", "[problem]") {
  Problem p = small(4, 4);
  p.window = std::numeric_limits<int64_t>::max();
  CHECK(visible_keys(p, 0).size() == 4);
}

TEST_CASE("the scale is 1/sqrt(head_dim) unless given", "[problem]") {
  Problem p = small(1, 1);
  CHECK(softmax_scale(p) == 0.125);
  p.scale = 0.5;
  CHECK(softmax_scale(p) == 0.5);
}

TEST_CASE("a problem describes itself in one line", "[problem]") {
  Problem p = small(1024, 2048);
  p.batch = 2;
  p.heads = 16;
  p.kv_heads = 4;
  CHECK(describe(p) == "bf16 b2 h16/4 s1kx2k d64");
  p.causal = true;
  p.window = 128;
  p.pass = Pass::fwd_bwd;
  p.dtype = DType::fp32;
  CHECK(describe(p) == "fwd+bwd fp32 b2 h16/4 s1kx2k d64 causal window 128");
}

TEST_CASE("KV heads must divide heads, and the message names both", "[problem]") {
  const int64_t bad[][2] = {{33, 2}, {3, 2}, {2, 4}, {6, 0}};
  for (const auto& [heads, kv_heads] : bad) {
    Problem p = small(8, 8);
    p.heads = heads;
    p.kv_heads = kv_heads;
    INFO(complaint(p));
    CHECK(complaint(p).find(std::to_string(heads)) != std::string::npos);
    CHECK(complaint(p).find("kv_heads") != std::string::npos);
    CHECK(complaint(p).find(std::to_string(kv_heads)) != std::string::npos);
  }
  const int64_t good[][2] = {{6, 2}, {28, 4}, {12, 12}, {8, 1}};
  for (const auto& [heads, kv_heads] : good) {
    Problem p = small(8, 8);
    p.heads = heads;
    p.kv_heads = kv_heads;
    CHECK(complaint(p).empty());
  }
}

TEST_CASE("a size below 1 is refused by its name", "[problem]") {
  const std::pair<const char*, int64_t Problem::*> sizes[] = {{"batch", &Problem::batch},
                                                              {"heads", &Problem::heads},
                                                              {"seqlen_q", &Problem::seqlen_q},
                                                              {"seqlen_kv", &Problem::seqlen_kv},
                                                              {"head_dim", &Problem::head_dim}};
  for (const auto& [name, field] : sizes) {
    for (int64_t value : {int64_t{0}, int64_t{-1}, int64_t{1} << 31}) {
      Problem p = small(8, 8);
      p.*field = value;
      CHECK(complaint(p).find(name) == 0);
    }
  }
}

TEST_CASE("windows and scales that mean nothing are refused", "[problem]") {
  Problem p = small(8, 8);
  p.window = -1;
  CHECK(complaint(p).find("window") == 0);
  p.window = 0;
  for (double scale : {-1.0, std::numeric_limits<double>::infinity(), std::nan("")}) {
    p.scale = scale;
    CHECK(complaint(p).find("scale") == 0);
  }
  p.scale = 1.01e30;  // finite, but scores times it leave fp32
  CHECK(complaint(p).find("scale must be 0 (1/sqrt(head_dim)), or positive and at most 1e+30") == 0);
  p.scale = 1e30;
  CHECK(complaint(p).empty());
}

TEST_CASE("a problem whose counts would overflow is refused, the largest real ones are not", "[problem]") {
  Problem p = small(int64_t{1} << 30, int64_t{1} << 30);
  CHECK(complaint(p).find("too large") != std::string::npos);
  p = small(int64_t{1} << 20, int64_t{1} << 20);
  p.heads = p.kv_heads = 128;
  p.head_dim = 128;
  CHECK(complaint(p).empty());
  p = small(379000000, 379000000);  // a score matrix of 5.7e17 bytes, of which a pass moves many
  p.dtype = DType::fp32;
  p.head_dim = 4;
  CHECK(complaint(p).find("too large: the bytes of the score matrices") != std::string::npos);
  p = small(1, 1);  // a tile each: 65536 times the products asked for
  p.batch = p.heads = p.kv_heads = int64_t{1} << 20;
  p.head_dim = 128;
  CHECK(complaint(p).find("too large") != std::string::npos);
}

TEST_CASE("no sum over a problem that is taken overflows", "[problem]") {
  for (const DType dtype : {DType::fp32, DType::bf16}) {
    for (const int64_t head_dim : {1, 4, 64, 4096}) {
      for (const int64_t shape : {0, 1}) {
        Problem p;
        p.pass = Pass::fwd_bwd;
        p.dtype = dtype;
        p.head_dim = head_dim;
        p.seqlen_q = shape == 0 ? 1 : 256;
        p.seqlen_kv = 256;
        while (complaint(p).empty()) (shape == 0 ? p.batch : p.seqlen_kv) *= 2;
        (shape == 0 ? p.batch : p.seqlen_kv) /= 2;
        p.kv_heads = p.heads;
        CAPTURE(describe(p));
        CHECK(algorithmic_flops(p) > 0);
        CHECK(compulsory_traffic(p).total() > 0);
        CHECK(2 * score_matrix_bytes(p) > 0);
        CHECK(unfused_traffic(p).total() > 0);
        CHECK(flash_traffic(p, 1 << 16).total() > 0);
      }
    }
  }
}
