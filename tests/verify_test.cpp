#include "core/verify.hpp"

#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "catch.hpp"
#include "core/fill.hpp"
#include "core/reference.hpp"
#include "core/theory.hpp"

using namespace attnprof;

namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInf = std::numeric_limits<float>::infinity();

Problem problem(DType dtype, int64_t seqlen, int64_t head_dim = 64) {
  Problem p;
  p.dtype = dtype;
  p.seqlen_q = p.seqlen_kv = seqlen;
  p.head_dim = head_dim;
  return p;
}

float rounded(DType t, double x) {
  float store;
  uint16_t half;
  void* at = t == DType::fp32 ? static_cast<void*>(&store) : &half;
  store_element(at, t, 0, static_cast<float>(x));
  return load_element(at, t, 0);
}

/// Tensors in host memory and a reader over them.
struct Tensors4 {
  explicit Tensors4(const Problem& p_in) : p(p_in) {
    const auto make = [&](std::vector<char>& t, int64_t bytes, uint32_t stream) {
      t.resize(static_cast<size_t>(bytes));
      fill_host(t.data(), p.dtype, bytes / dtype_bytes(p.dtype), Fill::normal, p.seed, stream);
    };
    make(q, q_bytes(p), kStreamQ);
    make(k, kv_bytes(p), kStreamK);
    make(v, kv_bytes(p), kStreamV);
    o.resize(static_cast<size_t>(o_bytes(p)));
    lse.resize(static_cast<size_t>(p.batch * p.heads * p.seqlen_q));
  }
  ReadTensor reader() const {
    return [this](std::string_view name, void* dst, int64_t offset, int64_t count) {
      const bool statistic = name == "lse";
      const auto* from = statistic     ? reinterpret_cast<const char*>(lse.data())
                         : name == "q" ? q.data()
                         : name == "k" ? k.data()
                         : name == "v" ? v.data()
                                       : o.data();
      const int64_t size = statistic ? int64_t{sizeof(float)} : dtype_bytes(p.dtype);
      std::memcpy(dst, from + offset * size, static_cast<size_t>(count * size));
    };
  }
  void set_o(int64_t index, float x) { store_element(o.data(), p.dtype, index, x); }
  float get_o(int64_t index) const { return load_element(o.data(), p.dtype, index); }

  /// Attention of a single head as a kernel would round it: P to the dtype, and S too when materialized.
  void compute(bool materialized, int64_t rows) {
    const double scale = softmax_scale(p);
    for (int64_t i = 0; i < rows; ++i) {
      std::vector<double> s(static_cast<size_t>(p.seqlen_kv));
      double m = -kInf, sum = 0;
      for (int64_t j = 0; j < p.seqlen_kv; ++j) {
        double x = 0;
        for (int64_t c = 0; c < p.head_dim; ++c) {
          x += static_cast<double>(load_element(q.data(), p.dtype, i * p.head_dim + c)) *
               static_cast<double>(load_element(k.data(), p.dtype, j * p.head_dim + c));
        }
        x *= scale;
        if (materialized) x = static_cast<double>(rounded(p.dtype, x));
        s[static_cast<size_t>(j)] = x;
        m = std::max(m, x);
      }
      for (double& x : s) sum += x = std::exp(x - m);
      std::vector<double> out(static_cast<size_t>(p.head_dim));
      for (int64_t j = 0; j < p.seqlen_kv; ++j) {
        const double weight = s[static_cast<size_t>(j)];
        const double w = materialized ? static_cast<double>(rounded(p.dtype, weight / sum))
                                      : static_cast<double>(rounded(p.dtype, weight)) / sum;
        for (int64_t c = 0; c < p.head_dim; ++c) {
          out[static_cast<size_t>(c)] +=
              w * static_cast<double>(load_element(v.data(), p.dtype, j * p.head_dim + c));
        }
      }
      for (int64_t c = 0; c < p.head_dim; ++c)
        set_o(i * p.head_dim + c, static_cast<float>(out[static_cast<size_t>(c)]));
      lse[static_cast<size_t>(i)] = static_cast<float>(m + std::log(sum));
    }
  }

  Problem p;
  std::vector<char> q, k, v, o;
  std::vector<float> lse;
};

VerifyOptions every_row(bool materialized = false) {
  VerifyOptions o;
  o.max_rows = 1 << 20;
  o.materialized = materialized;
  return o;
}

}  // namespace

TEST_CASE("kernels that round P, or S and P, to 16 bits pass with room, and not with too much",
          "[verify][tolerance]") {
  for (DType dtype : {DType::bf16, DType::fp16}) {
    for (int64_t seqlen : {int64_t{128}, int64_t{16384}}) {
      for (bool materialized : {false, true}) {
        Problem p = problem(dtype, seqlen);
        p.seqlen_q = 16;
        Tensors4 t(p);
        t.compute(materialized, p.seqlen_q);
        const VerifyResult r = verify(p, t.reader(), every_row(materialized));
        INFO(to_string(dtype) << " N " << seqlen << " materialized " << materialized << " rel_err "
                              << r.rel_err << " tolerance " << r.tolerance << " " << r.message);
        CHECK(r.passed);
        CHECK(r.tolerance > 1.5 * r.rel_err);
        CHECK(r.tolerance < 8 * r.rel_err);
      }
    }
  }
}

TEST_CASE("an fp32 result with a relative error of 1e-3 fails, one in fp32 arithmetic passes",
          "[verify][tolerance]") {
  for (int64_t seqlen : {int64_t{128}, int64_t{4096}}) {
    Problem p = problem(DType::fp32, seqlen);
    p.seqlen_q = 16;
    Tensors4 t(p);
    t.compute(false, p.seqlen_q);
    CHECK(verify(p, t.reader(), every_row()).passed);
    for (int64_t i = 0; i < p.seqlen_q * p.head_dim; ++i) t.set_o(i, t.get_o(i) * 1.001f);
    CHECK_FALSE(verify(p, t.reader(), every_row()).passed);
  }
  for (int64_t seqlen : {int64_t{128}, int64_t{16384}})
    CHECK(tolerance(problem(DType::fp32, seqlen), true) < 1e-4);
}

TEST_CASE("NaN never passes, and each of its states has its own words", "[verify][nan]") {
  const Problem p = problem(DType::fp32, 16, 8);
  const int64_t element = 3 * 8 + 5;
  SECTION("in the result only") {
    Tensors4 t(p);
    t.compute(false, 16);
    t.set_o(element, kNan);
    const VerifyResult r = verify(p, t.reader(), every_row());
    CHECK_FALSE(r.passed);
    CHECK(r.message.find("result is nan at [batch 0, head 0, query 3, column 5]") != std::string::npos);
  }
  SECTION("in the reference only") {
    Tensors4 t(p);
    t.compute(false, 16);
    store_element(t.v.data(), p.dtype, 5, kNan);
    const VerifyResult r = verify(p, t.reader(), every_row());
    CHECK_FALSE(r.passed);
    CHECK(r.message.find("reference is nan at [batch 0, head 0, query 0, column 5]") != std::string::npos);
  }
  SECTION("in both") {
    Tensors4 t(p);
    store_element(t.v.data(), p.dtype, 5, kNan);
    t.compute(false, 16);
    const VerifyResult r = verify(p, t.reader(), every_row());
    CHECK_FALSE(r.passed);
    CHECK(r.message.find("not comparable") != std::string::npos);
  }
  SECTION("+inf against -inf") {
    Tensors4 t(p);
    t.compute(false, 16);
    store_element(t.v.data(), p.dtype, 5, -kInf);
    t.set_o(5, kInf);
    const VerifyResult r = verify(p, t.reader(), every_row());
    CHECK_FALSE(r.passed);
  }
}

TEST_CASE("a row that no kernel wrote is found wherever it is, though only some rows are checked",
          "[verify]") {
  Problem p = problem(DType::bf16, 512, 32);
  p.batch = 3;
  p.heads = p.kv_heads = 4;
  Tensors4 t(p);
  for (int64_t row : {int64_t{0}, int64_t{3001}, int64_t{6143}}) {
    for (int64_t c = 0; c < 32; ++c) t.set_o(row * 32 + c, kNan);
    const VerifyResult r = verify(p, t.reader(), {});
    CHECK_FALSE(r.passed);
    CHECK(r.message.find("no kernel wrote") != std::string::npos);
    CHECK(r.rows_checked < 100);
    for (int64_t c = 0; c < 32; ++c) t.set_o(row * 32 + c, 0.0f);
  }
}

TEST_CASE("one wrong element among thousands is found by its own bound", "[verify]") {
  const Problem p = problem(DType::bf16, 200);
  Tensors4 t(p);
  t.compute(false, 200);
  REQUIRE(verify(p, t.reader(), every_row()).passed);
  t.set_o(77 * 64 + 63, t.get_o(77 * 64 + 63) + 0.02f);
  const VerifyResult r = verify(p, t.reader(), every_row());
  CHECK_FALSE(r.passed);
  CHECK(r.message.find("query 77, column 63") != std::string::npos);
}

TEST_CASE("scores whose rounding moves the result by half of it cannot be verified, and nothing passes then",
          "[verify]") {
  Problem p = problem(DType::fp32, 256);
  CHECK_FALSE(unverifiable(p, true));
  p.scale = 1;
  CHECK_FALSE(unverifiable(p, false));
  p.scale = 1e6;
  REQUIRE(unverifiable(p, false));
  CHECK(unverifiable(p, false)->find("scale 1e+06") != std::string::npos);
  CHECK(tolerance(p, false) > 1);  // all zeros would be within it
  p.dtype = DType::bf16;
  p.scale = 16;  // rounding a stored S to bf16 is what moves it; a fused kernel stores none
  CHECK(unverifiable(p, true));
  CHECK_FALSE(unverifiable(p, false));
}

TEST_CASE("a wrong log-sum-exp fails though the output is right", "[verify]") {
  const Problem p = problem(DType::bf16, 100);
  Tensors4 t(p);
  t.compute(false, 100);
  t.lse[42] += 0.01f;
  CHECK_FALSE(verify(p, t.reader(), every_row()).passed);
}

TEST_CASE("rows that see no key are exactly zero with a log-sum-exp of -inf", "[verify][reference]") {
  Problem p = problem(DType::fp32, 5, 4);
  p.seqlen_kv = 2;
  p.causal = true;
  Tensors4 t(p);
  std::memset(t.q.data(), 0, t.q.size());  // equal weights: the mean of the visible values
  for (int64_t j = 0; j < 2; ++j) {
    for (int64_t c = 0; c < 4; ++c) store_element(t.v.data(), p.dtype, j * 4 + c, static_cast<float>(j));
  }
  double out[4];
  for (int64_t i = 0; i < 5; ++i) {
    const double lse = reference_row(p, i, t.q.data() + i * 16, t.k.data(), t.v.data(), out);
    if (i < 3) CHECK(lse == -std::numeric_limits<double>::infinity());
    CHECK(out[0] == (i == 4 ? 0.5 : 0.0));
    t.lse[static_cast<size_t>(i)] = static_cast<float>(lse);
    for (int64_t c = 0; c < 4; ++c) t.set_o(i * 4 + c, static_cast<float>(out[c]));
  }
  CHECK(verify(p, t.reader(), every_row()).passed);
  t.set_o(0, 1e-20f);  // an empty row is zero, not nearly zero
  CHECK_FALSE(verify(p, t.reader(), every_row()).passed);
  t.set_o(0, 0.0f);
  t.lse[0] = 0;
  CHECK_FALSE(verify(p, t.reader(), every_row()).passed);
}

TEST_CASE("the reference stays finite for huge equal scores", "[verify][reference]") {
  Problem p = problem(DType::bf16, 1, 64);
  Tensors4 t(p);
  for (std::vector<char>* tensor : {&t.q, &t.k, &t.v}) {
    for (int64_t c = 0; c < 64; ++c) store_element(tensor->data(), p.dtype, c, 133120.0f);
  }
  double out[64];
  const double lse = reference_row(p, 0, t.q.data(), t.k.data(), t.v.data(), out);
  CHECK(std::isfinite(lse));
  for (double x : out) CHECK(x == 133120.0);
}

TEST_CASE("each query head is held against its own KV head", "[verify][gqa]") {
  Problem p = problem(DType::fp32, 4, 2);
  p.heads = 6;
  p.kv_heads = 2;
  Tensors4 t(p);
  std::memset(t.q.data(), 0, t.q.size());
  for (int64_t e = 0; e < 2 * 4 * 2; ++e) store_element(t.v.data(), p.dtype, e, e < 8 ? 0.0f : 1.0f);
  for (int64_t e = 0; e < 6 * 4 * 2; ++e) t.set_o(e, e / 8 < 3 ? 0.0f : 1.0f);  // 0,0,0,1,1,1
  for (float& l : t.lse) l = std::log(4.0f);
  CHECK(verify(p, t.reader(), every_row()).passed);
  t.set_o(3 * 8, 0.0f);
  CHECK_FALSE(verify(p, t.reader(), every_row()).passed);
}

TEST_CASE("an output without a reference is never right, one that is not written is not missed", "[verify]") {
  Problem p = problem(DType::fp32, 16, 8);
  Tensors4 t(p);
  t.compute(false, p.seqlen_q);
  REQUIRE(verify(p, t.reader(), every_row()).passed);
  p.pass = Pass::fwd_bwd;
  VerifyOptions options = every_row();
  const VerifyResult r = verify(p, t.reader(), options);
  CHECK_FALSE(r.passed);
  CHECK(r.message.find("no reference for dq") != std::string::npos);
  options.omits = {"dq", "dk", "dv"};
  CHECK(verify(p, t.reader(), options).passed);
}
