#include "rows/columns.hpp"

#include <fstream>
#include <iterator>
#include <limits>
#include <set>

#include "catch.hpp"
#include "core/theory.hpp"
#include "rows/csv.hpp"
#include "rows/derived.hpp"

using namespace attnprof;

namespace {

Record measured_row() {
  Record r;
  r.planned.impl = "flash2";
  r.planned.problem = {.pass = Pass::fwd,
                       .dtype = DType::fp16,
                       .batch = 2,
                       .heads = 8,
                       .kv_heads = 2,
                       .seqlen_q = 1024,
                       .seqlen_kv = 1024,
                       .head_dim = 64};
  r.planned.config = {128, 64, 2, 4};
  r.time = TimeStats{100.5, 100.25, 100.75, 99, 130, 40, 3, true, false};
  r.counters.source = BytesSource::cupti;
  r.counters.hbm_read_bytes = 4000000;
  r.counters.hbm_write_bytes = 2030000;
  r.counters.tensor_flops = 1000;
  r.counters.status = "ok";
  r.counters.passes = 2;
  r.verify = VerifyResult{true, 64, 1e-3, 2e-3, 1e-2, ""};
  r.model = ModelledWork{{3000000, 1000000}, 123, 456};
  return r;
}

std::string cell(const Record& r, std::string_view name) {
  REQUIRE(find_column(name) != nullptr);
  return std::string(row_of(r).text(name));
}

const std::vector<const char*> kMeasured = {
    "time_us",      "time_lo_us", "time_hi_us",     "time_min_us",     "time_max_us",        "samples",
    "tflops",       "hbm_gbps",   "hbm_read_bytes", "hbm_write_bytes", "l2_bytes",           "bytes_source",
    "tensor_flops", "fp32_flops", "kernels_us",     "gaps_us",         "model_bytes_err_pct"};

}  // namespace

TEST_CASE("column names are unique, plain and described", "[columns]") {
  std::set<std::string_view> names;
  for (const Column& column : columns()) {
    INFO(column.name);
    CHECK(names.insert(column.name).second);
    CHECK(column.name.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_") == std::string_view::npos);
    CHECK_FALSE(column.meaning.empty());
  }
}

TEST_CASE("columns that scripts rely on exist", "[columns]") {
  std::set<std::string_view> names;
  for (const Column& column : columns()) names.insert(column.name);
  for (const char* name : {"impl",
                           "pass",
                           "dtype",
                           "batch",
                           "heads",
                           "kv_heads",
                           "seqlen_q",
                           "seqlen_kv",
                           "head_dim",
                           "causal",
                           "window",
                           "tile_m",
                           "tile_n",
                           "status",
                           "message",
                           "time_us",
                           "time_lo_us",
                           "time_hi_us",
                           "samples",
                           "hbm_read_bytes",
                           "hbm_write_bytes",
                           "bytes_source",
                           "tensor_flops",
                           "fp32_flops",
                           "model_flops",
                           "model_hbm_bytes",
                           "min_hbm_bytes",
                           "workspace_bytes",
                           "max_abs_err",
                           "rel_err",
                           "schema"}) {
    INFO(name);
    CHECK(names.count(name) == 1);
  }
}

TEST_CASE("docs/columns.md is what the column table says", "[columns]") {
  std::ifstream file(ATTNPROF_SOURCE_DIR "/docs/columns.md", std::ios::binary);
  REQUIRE(file.is_open());
  const std::string page{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  CHECK(page == columns_markdown());
}

TEST_CASE("rates and model figures follow from the record", "[columns]") {
  const Record r = measured_row();
  const double flops = static_cast<double>(algorithmic_flops(r.planned.problem));
  CHECK(*cell_number(cell(r, "tflops")) == Approx(flops / 100.5e-6 / 1e12));
  CHECK(*cell_number(cell(r, "hbm_gbps")) == Approx(6030000 / 100.5e-6 / 1e9));
  CHECK(*cell_number(cell(r, "model_bytes_err_pct")) == Approx(50.75));
  CHECK(cell(r, "model_hbm_bytes") == "4000000");
  CHECK(cell(r, "min_hbm_bytes") == std::to_string(compulsory_traffic(r.planned.problem).total()));
  CHECK(cell(r, "scale") == "0.125");
  CHECK(cell(r, "causal") == "0");
  CHECK(cell(r, "fp32_flops").empty());
}

TEST_CASE("measured figures are empty unless the row is ok", "[columns]") {
  for (const Status status : {Status::skipped, Status::unsupported, Status::oom, Status::failed,
                              Status::verify_failed, Status::no_samples}) {
    Record r = measured_row();
    r.kernels = KernelTimes{90, 1, 3};
    r.status = status;
    r.verify->passed = false;
    for (const char* name : kMeasured) {
      INFO(to_string(status) << " " << name);
      CHECK(cell(r, name).empty());
    }
    CHECK(cell(r, "status") == to_string(status));
    CHECK(cell(r, "rel_err") == "0.002");
    CHECK(cell(r, "max_abs_err") == "0.001");
  }
}

TEST_CASE("times that are zero, negative or not finite never become cells or rates", "[columns]") {
  for (const double bad :
       {0.0, -711598.0, std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
    Record r = measured_row();
    r.time->median_us = bad;
    CHECK(cell(r, "time_us").empty());
    CHECK(cell(r, "tflops").empty());
    CHECK(cell(r, "hbm_gbps").empty());
  }
  Record none = measured_row();
  none.time->samples = 0;
  CHECK(cell(none, "time_us").empty());
  Record tiny = measured_row();
  tiny.time->below_resolution = true;
  CHECK(cell(tiny, "time_us") == "100.5");
  CHECK(cell(tiny, "below_resolution") == "1");
  CHECK(cell(tiny, "tflops").empty());
}

TEST_CASE("fewer than six samples have a median but no interval", "[columns]") {
  Record r = measured_row();
  r.time->samples = 6;
  CHECK(cell(r, "time_lo_us") == "100.25");
  CHECK(cell(r, "time_hi_us") == "100.75");
  r.time->samples = 5;
  CHECK(cell(r, "time_us") == "100.5");
  CHECK(cell(r, "time_min_us") == "99");
  CHECK(cell(r, "time_lo_us").empty());
  CHECK(cell(r, "time_hi_us").empty());
}

TEST_CASE("a row is held against the ceilings of its device", "[columns]") {
  Record r = measured_row();  // 6.03 MB in 100.5 us: 60 GB/s
  r.device.kind = DeviceKind::gpu;
  r.conditions.ceilings = {.copy_gbps = 80,
                           .matrix_bf16_tflops = 8,
                           .matrix_fp16_tflops = 0.002,
                           .fp32_tflops = 1,
                           .exp_gops = 0.05,
                           .launch_us = 2};
  const auto number = [&](const char* name) { return *cell_number(cell(r, name)); };
  CHECK(number("ceiling_copy_gbps") == 80);
  CHECK(number("ceiling_matrix_tflops") == 0.002);  // of fp16, as the row is
  CHECK(number("ceiling_fp32_tflops") == 1);
  CHECK(number("ceiling_exp_gops") == 0.05);
  CHECK(number("ceiling_launch_us") == 2);
  CHECK(number("hbm_us") == Approx(6030000 / 80e3));
  CHECK(number("matrix_us") == Approx(1000 / 0.002e6));  // tensor_flops, not executed_flops
  CHECK(number("exp_us") == Approx(456 / 0.05e3));
  CHECK(number("pct_of_copy") == Approx(100 * 6030000 / 100.5 / 80e3));
  CHECK(number("pct_of_matrix") == Approx(100 * 0.5 / 100.5));
  CHECK(cell(r, "bound") == "memory");
  CHECK(ceiling_warning(row_of(r)).empty());

  r.counters = {};  // the model stands in, and is not passed off as a measurement
  CHECK(number("hbm_us") == Approx(4000000 / 80e3));
  CHECK(cell(r, "pct_of_copy").empty());
  CHECK(number("matrix_us") == Approx(123 / 0.002e6));
}

TEST_CASE("bytes faster than the ceiling are marked, and name no bound", "[columns]") {
  Record r = measured_row();
  r.device.kind = DeviceKind::gpu;
  r.conditions.ceilings.copy_gbps = 50;  // the row has 60
  CHECK(cell(r, "bound").empty());
  CHECK(ceiling_warning(row_of(r)).find("copy bandwidth") != std::string::npos);
  r.counters.source = BytesSource::counted;
  CHECK(ceiling_warning(row_of(r)).find("caches") != std::string::npos);
  r.conditions.ceilings.copy_gbps = 59.9;  // within the error of a ceiling: marked all the same
  CHECK_FALSE(ceiling_warning(row_of(r)).empty());
  r.conditions.ceilings.copy_gbps = 60.1;
  CHECK(ceiling_warning(row_of(r)).empty());
}

TEST_CASE("a row beats ceilings by measured bytes or by arithmetic, not by bytes that caches may serve",
          "[columns]") {
  Record r = measured_row();
  const auto beats = [&r] { return beats_ceilings(row_of(r), r.device.last_level_cache_bytes); };
  r.device.kind = DeviceKind::gpu;
  CHECK_FALSE(beats());                  // none are known
  r.conditions.ceilings.copy_gbps = 59;  // the row has 60: within the error of a ceiling
  CHECK_FALSE(beats());
  r.conditions.ceilings.copy_gbps = 50;
  CHECK(beats());
  r.counters.source = BytesSource::counted;
  CHECK_FALSE(beats());
  r.device.last_level_cache_bytes = 1 << 10;
  CHECK(beats());  // no cache serves that
  r.device.last_level_cache_bytes = 1 << 30;
  r.conditions.ceilings.exp_gops = 1e-6;
  CHECK(beats());
  r.status = Status::failed;
  CHECK_FALSE(beats());
}

TEST_CASE("rows at a throttled clock are counted in a note that names the cure", "[columns]") {
  Record cool = measured_row(), hot = measured_row(), rested = measured_row(), failed = measured_row();
  cool.clocks.throttle_reasons = "";
  hot.clocks.throttle_reasons = rested.clocks.throttle_reasons = failed.clocks.throttle_reasons =
      "sw_power_cap";
  rested.conditions.rest = 1;
  failed.status = Status::failed;
  CHECK(throttling_note(rows_of({cool, rested, failed})).empty());
  const std::string note = throttling_note(rows_of({cool, hot, hot, failed}));
  CHECK(note.find("2 of 3 rows (sw_power_cap)") != std::string::npos);
  CHECK(note.find("--rest") != std::string::npos);
}

TEST_CASE("without ceilings, or without a measurement, nothing is said about them", "[columns]") {
  const Record unknown = measured_row();
  Record failed = measured_row();
  failed.conditions.ceilings.copy_gbps = 80;
  failed.status = Status::failed;
  for (const char* name : {"hbm_us", "matrix_us", "exp_us", "pct_of_copy", "pct_of_matrix", "pct_of_exp",
                           "overlap_pct", "bound"}) {
    INFO(name);
    CHECK(cell(unknown, name).empty());
    CHECK(cell(failed, name).empty());
  }
  CHECK(cell(unknown, "ceiling_copy_gbps").empty());
  CHECK(ceiling_warning(row_of(failed)).empty());
}

TEST_CASE("NaN errors are empty cells", "[columns]") {
  Record r = measured_row();
  r.status = Status::verify_failed;
  r.verify->rel_err = std::numeric_limits<double>::quiet_NaN();
  CHECK(cell(r, "rel_err").empty());
}

TEST_CASE("a problem that makes no sense has no model figures and raises nothing", "[columns]") {
  Record r;
  r.status = Status::skipped;
  r.message = "kv_heads 3 does not divide heads 8";
  CHECK_NOTHROW(row_of(r));
  CHECK(cell(r, "model_flops").empty());
  CHECK(cell(r, "min_hbm_bytes").empty());
}

TEST_CASE("threads are told of the CPU only", "[columns]") {
  Record r = measured_row();
  r.device.multiprocessors = 8;
  CHECK(cell(r, "threads") == "8");
  r.device.kind = DeviceKind::gpu;  // there it counts multiprocessors
  CHECK(cell(r, "threads").empty());
}

TEST_CASE("the key tells every axis apart, and nothing else", "[columns]") {
  Record base = measured_row();
  base.device.multiprocessors = 8;
  const auto differs = [&](auto change) {
    Record r = base;
    change(r);
    return record_key(r) != record_key(base);
  };
  CHECK(differs([](Record& r) { r.planned.impl = "naive"; }));
  CHECK(differs([](Record& r) { r.device.kind = DeviceKind::gpu; }));
  CHECK(differs([](Record& r) { r.device.multiprocessors = 4; }));
  CHECK(differs([](Record& r) { r.conditions.cache = CacheMode::hot; }));
  CHECK(differs([](Record& r) { r.conditions.rest = 3; }));
  CHECK(differs([](Record& r) { r.planned.problem.pass = Pass::bwd; }));
  CHECK(differs([](Record& r) { r.planned.problem.dtype = DType::bf16; }));
  CHECK(differs([](Record& r) { r.planned.problem.batch = 3; }));
  CHECK(differs([](Record& r) { r.planned.problem.heads = 16; }));
  CHECK(differs([](Record& r) { r.planned.problem.kv_heads = 8; }));
  CHECK(differs([](Record& r) { r.planned.problem.seqlen_q = 1; }));
  CHECK(differs([](Record& r) { r.planned.problem.seqlen_kv = 1; }));
  CHECK(differs([](Record& r) { r.planned.problem.head_dim = 128; }));
  CHECK(differs([](Record& r) { r.planned.problem.causal = true; }));
  CHECK(differs([](Record& r) { r.planned.problem.window = 7; }));
  CHECK(differs([](Record& r) { r.planned.problem.scale = 0.5; }));
  CHECK(differs([](Record& r) { r.planned.problem.fill = Fill::zeros; }));
  CHECK(differs([](Record& r) { r.planned.problem.seed = 2; }));
  CHECK(differs([](Record& r) { r.planned.config.tile_m = 64; }));
  CHECK(differs([](Record& r) { r.planned.config.tile_n = 128; }));
  CHECK(differs([](Record& r) { r.planned.config.stages = 3; }));
  CHECK(differs([](Record& r) { r.planned.config.warps = 8; }));
  CHECK(differs([](Record& r) { r.kernel = "qk"; }));
  CHECK_FALSE(differs([](Record& r) { r.planned.problem.scale = 0.125; }));  // what 0 means at head_dim 64
  CHECK_FALSE(differs([](Record& r) { r.device.index = 3; }));
  CHECK_FALSE(differs([](Record& r) {
    r.time.reset();
    r.status = Status::failed;
    r.message = "x";
  }));
}
