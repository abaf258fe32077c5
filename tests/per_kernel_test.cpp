// Rows about single kernels: they add up to the whole, and are never taken for it.
#include "measure/per_kernel.hpp"

#include <atomic>

#include "catch.hpp"
#include "core/theory.hpp"
#include "fake_device.hpp"
#include "gpu/gpu.hpp"
#include "host/host_device.hpp"
#include "implementations.hpp"
#include "rows/columns.hpp"
#include "rows/csv.hpp"

using namespace attnprof;

namespace {

Problem small() {
  Problem p;
  p.dtype = DType::bf16;
  p.heads = 4;
  p.kv_heads = 2;
  p.seqlen_q = p.seqlen_kv = 96;
  p.head_dim = 16;
  return p;
}

RunOptions quick(bool per_kernel) {
  RunOptions o;
  o.stopping.min_samples = 6;
  o.stopping.max_samples = 20;
  o.stopping.budget_s = 0.1;
  o.per_kernel = per_kernel;
  return o;
}

std::vector<Record> run(Device& device, const Implementation& impl, const Problem& p,
                        const RunOptions& options, CounterSource* counters = nullptr) {
  const Case typed{p, std::string(impl.name), {}};
  const std::vector<PlannedRow> rows =
      plan({{typed, ""}}, device.info(),
           [&](std::string_view, const DeviceInfo&, Pass) -> const Implementation& { return impl; });
  std::atomic<bool> stop{false};
  Runner runner(device, counters, options, {});
  return runner.run(rows.data(), rows.data() + rows.size(), stop);
}

std::string cell(const Record& r, std::string_view name) {
  REQUIRE(find_column(name) != nullptr);
  return std::string(row_of(r).text(name));
}

/// A computation in two steps that says what each took.
class TwoSteps final : public fake::FakeWork {
 public:
  using FakeWork::FakeWork;
  std::vector<StepReading> step_readings() const override { return {{30, {100, 0}}, {70, {5, 50}}}; }
  std::optional<Traffic> counted() const override { return Traffic{105, 50}; }
};
Implementation two_steps() {
  Implementation i =
      fake::make("two", [](const Case& c, const Tensors& t, Device&) -> std::unique_ptr<Prepared> {
        return std::make_unique<TwoSteps>([p = c.problem, t] { fake::compute(p, t); });
      });
  i.steps = [](const Case&, const DeviceInfo&) -> std::vector<ModelledStep> {
    return {{"first", {{100, 10}, 7, 0}}, {"second", {{5, 40}, 0, 9}}};
  };
  return i;
}

/// Counters and times that a GPU would give.
class FakeCounters final : public CounterSource {
 public:
  Counters measure(Prepared&, const CounterRequest&) override { return counters(165); }
  std::optional<KernelTimes> kernel_times(Prepared&, CacheMode) override { return KernelTimes{100, 2, 3}; }
  std::vector<Counters> measure_steps(Prepared&, size_t steps, const CounterRequest& request) override {
    seen = request;
    std::vector<Counters> all;
    for (size_t i = 0; i < steps; ++i) all.push_back(counters(100 + static_cast<int64_t>(i)));
    return all;
  }
  std::vector<StepTimes> step_times(Prepared&, size_t steps, CacheMode, int samples) override {
    if (no_records) return {};
    return std::vector<StepTimes>(steps, {std::vector<double>(static_cast<size_t>(samples), 12.5), 2});
  }
  std::string hint() const override { return ""; }
  static Counters counters(int64_t bytes) {
    Counters c;
    c.source = BytesSource::cupti;
    c.hbm_read_bytes = bytes;
    c.hbm_write_bytes = 1;
    c.status = "ok";
    c.passes = 3;
    return c;
  }
  bool no_records = false;
  CounterRequest seen;
};

class FakeGpu final : public fake::FakeDevice {
 public:
  FakeGpu() {
    gpu_ = FakeDevice::info();
    gpu_.kind = DeviceKind::gpu;
  }
  const DeviceInfo& info() const override { return gpu_; }

 private:
  DeviceInfo gpu_;
};

}  // namespace

TEST_CASE("each kernel of a launch gets a row after the whole's, with its own time, bytes and model",
          "[per-kernel]") {
  fake::FakeDevice device;
  const std::vector<Record> records = run(device, two_steps(), small(), quick(true));
  REQUIRE(records.size() == 3);
  CHECK(records[0].kernel.empty());
  CHECK(cell(records[0], "hbm_read_bytes") == "105");
  CHECK(cell(records[0], "kernel") == "");
  CHECK(cell(records[0], "kernel_index") == "");
  CHECK(cell(records[1], "kernel") == "first");
  CHECK(cell(records[1], "kernel_index") == "0");
  CHECK(cell(records[1], "time_us") == "30");
  CHECK(cell(records[1], "hbm_read_bytes") == "100");
  CHECK(cell(records[1], "model_hbm_bytes") == "110");
  CHECK(cell(records[1], "executed_flops") == "7");
  CHECK(cell(records[1], "bytes_source") == "counted");
  CHECK(cell(records[2], "kernel") == "second");
  CHECK(cell(records[2], "kernel_index") == "1");
  CHECK(cell(records[2], "time_us") == "70");
  CHECK(cell(records[2], "exp_count") == "9");
  CHECK(*cell_number(cell(records[2], "model_bytes_err_pct")) == Approx(100 * 10.0 / 45));
  CHECK(cell(records[2], "command").find("--per-kernel") != std::string::npos);
  for (size_t i = 1; i < 3; ++i) {
    CHECK(cell(records[i], "status") == "ok");
    CHECK(records[i].plan_row == 1);
    CHECK(cell(records[i], "rel_err") == cell(records[0], "rel_err"));
    // What the mathematics needs belongs to the whole.
    for (const char* name : {"model_flops", "min_hbm_bytes", "tflops", "workspace_bytes"})
      CHECK(cell(records[i], name) == "");
    CHECK(record_key(records[i]) != record_key(records[0]));
  }
  CHECK(record_key(records[1]) != record_key(records[2]));
}

TEST_CASE("rows of single kernels appear only when asked for, and only for what has several",
          "[per-kernel]") {
  fake::FakeDevice device;
  CHECK(run(device, two_steps(), small(), quick(false)).size() == 1);
  CHECK(run(device, fake::right(), small(), quick(true)).size() == 1);
}

TEST_CASE("a result that is wrong has no rows of single kernels", "[per-kernel]") {
  fake::FakeDevice device;
  Implementation wrong = fake::wrong();
  wrong.steps = two_steps().steps;
  RunOptions all_rows = quick(true);
  all_rows.verify_rows = 1000;
  const std::vector<Record> records = run(device, wrong, small(), all_rows);
  REQUIRE(records.size() == 1);
  CHECK(records[0].status == Status::verify_failed);
}

TEST_CASE("on a GPU kernel rows hold record times and counters of their range", "[per-kernel]") {
  FakeGpu gpu;
  FakeCounters counters;
  Implementation impl = fake::right();
  impl.steps = two_steps().steps;
  const std::vector<Record> records = run(gpu, impl, small(), quick(true), &counters);
  REQUIRE(records.size() == 3);
  CHECK(cell(records[0], "hbm_read_bytes") == "165");
  CHECK(cell(records[0], "kernels_us") == "100");
  CHECK(cell(records[2], "hbm_read_bytes") == "101");
  CHECK(cell(records[2], "bytes_source") == "cupti");
  CHECK(cell(records[2], "time_us") == "12.5");
  CHECK(cell(records[2], "kernels_us") == "12.5");
  CHECK(cell(records[2], "launches") == "2");
  CHECK(cell(records[2], "samples") == "11");
  CHECK(counters.seen.dtype == DType::bf16);

  counters.no_records = true;
  const std::vector<Record> untimed = run(gpu, impl, small(), quick(true), &counters);
  REQUIRE(untimed.size() == 3);
  CHECK(untimed[0].status == Status::ok);
  CHECK(untimed[1].status == Status::no_samples);
  CHECK(untimed[1].message.find("activity records") != std::string::npos);
  CHECK(cell(untimed[1], "hbm_read_bytes") == "");
}

TEST_CASE("the passes of the host's naive add up to its whole, in bytes, FLOPs, model and time",
          "[per-kernel][host]") {
  const auto host = open_host(2);
  const Implementation& naive = find_implementation("naive", host->info());
  for (const bool causal : {false, true}) {
    Problem p = small();
    p.causal = causal;
    const std::vector<Record> records = run(*host, naive, p, quick(true));
    REQUIRE(records.size() == 4);
    REQUIRE(records[0].status == Status::ok);
    CHECK(records[1].kernel == "qk");
    CHECK(records[2].kernel == "softmax");
    CHECK(records[3].kernel == "pv");
    Traffic bytes;
    double us = 0;
    for (size_t i = 1; i < records.size(); ++i) {
      bytes.read_bytes += *records[i].counters.hbm_read_bytes;
      bytes.write_bytes += *records[i].counters.hbm_write_bytes;
      us += records[i].time->min_us;
      CHECK(row_of(records[i]).number("model_bytes_err_pct") == Approx(0));
    }
    CHECK(bytes.read_bytes == records[0].counters.hbm_read_bytes);
    CHECK(bytes.write_bytes == records[0].counters.hbm_write_bytes);
    CHECK(us <= records[0].time->max_us * 1.5);
    CHECK(us > 0);
  }
}

TEST_CASE("the modelled steps of every implementation add up to its model", "[per-kernel]") {
  DeviceInfo gpu;
  gpu.kind = DeviceKind::gpu;
  gpu.compute_capability = 90;
  gpu.multiprocessors = 132;
  gpu.last_level_cache_bytes = int64_t{60} << 20;
  gpu.smem_per_block_bytes = 227 << 10;
  int checked = 0;
  for (const Implementation& impl : registry()) {
    for (const int64_t seqlen : {100, 1024, 16384}) {
      Problem p = small();
      p.seqlen_q = p.seqlen_kv = seqlen;
      p.causal = seqlen == 1024;
      const DeviceInfo& device = impl.device == DeviceKind::gpu ? gpu : DeviceInfo{};
      const Case c{p, impl.name, impl.resolved(p, {}, device)};
      const ModelledWork sum = sum_of(impl.steps(c, device)), whole = impl.model(c, device);
      CHECK(sum.hbm.read_bytes == whole.hbm.read_bytes);
      CHECK(sum.hbm.write_bytes == whole.hbm.write_bytes);
      CHECK(sum.executed_flops == whole.executed_flops);
      CHECK(sum.exp_count == whole.exp_count);
      CHECK(whole.executed_flops > 0);
      CHECK(impl.steps(c, device).size() >= (impl.name == "naive" ? 2 : 1));
      ++checked;
    }
  }
  CHECK(checked == 3 * static_cast<int>(registry().size()));
}
