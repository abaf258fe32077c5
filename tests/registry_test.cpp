// What every implementation of the registry has to do, on the device at hand. A new one gets these tests for
// nothing: a wrong answer, a byte model that is off, a feature that it takes by mistake.
#include <atomic>
#include <cmath>
#include <map>

#include "catch.hpp"
#include "core/axes.hpp"
#include "core/bound.hpp"
#include "core/theory.hpp"
#include "gpu_case.hpp"
#include "host/host_device.hpp"
#include "implementations.hpp"
#include "measure/plan.hpp"
#include "measure/runner.hpp"

using namespace attnprof;

namespace {

struct Shape {
  int64_t heads, kv_heads, seqlen_q, seqlen_kv, head_dim;
  bool causal;
  int64_t window;
};

/// Between them: single elements, tails on every side, lengths that differ both ways, rows that see nothing,
/// each mask alone and both, heads in groups and one for all, widths between the round ones.
constexpr Shape kShapes[] = {
    {1, 1, 1, 1, 8, false, 0},        {2, 2, 64, 64, 64, false, 0},     {2, 2, 128, 128, 128, true, 0},
    {2, 1, 100, 77, 40, false, 0},    {4, 2, 77, 130, 96, true, 0},     {4, 1, 33, 200, 256, false, 0},
    {1, 1, 50, 20, 64, true, 0},      {2, 2, 150, 150, 72, false, 16},  {2, 2, 150, 170, 128, true, 33},
    {6, 2, 257, 257, 64, true, 1},    {3, 3, 1, 300, 128, false, 0},    {2, 2, 300, 1, 32, true, 0},
    {2, 2, 40, 300, 192, false, 100}, {1, 1, 200, 300, 248, true, 500},
};

std::vector<Problem> problems() {
  std::vector<Problem> all;
  for (const DType dtype : {DType::fp32, DType::fp16, DType::bf16}) {
    for (const Shape& s : kShapes) {
      Problem p;
      p.dtype = dtype;
      p.batch = s.heads == 1 ? 3 : 1;
      p.heads = s.heads;
      p.kv_heads = s.kv_heads;
      p.seqlen_q = s.seqlen_q;
      p.seqlen_kv = s.seqlen_kv;
      p.head_dim = s.head_dim;
      p.causal = s.causal;
      p.window = s.window;
      all.push_back(p);
    }
  }
  return all;
}

std::vector<const Implementation*> on(DeviceKind kind) {
  std::vector<const Implementation*> all;
  for (const Implementation& impl : registry()) {
    if (impl.device == kind) all.push_back(&impl);
  }
  return all;
}

PlannedRow planned(const Implementation& impl, const Problem& p, const DeviceInfo& device) {
  return plan({{{p, impl.name, {}}, ""}}, device, find_implementation).at(0);
}

Record run(const PlannedRow& row, Device& device, CounterSource* counters) {
  RunOptions options;
  options.time = false;
  options.warmups = 1;
  options.verify_rows = 1 << 20;
  options.counters = counters != nullptr;
  const std::atomic<bool> stop{false};
  return Runner(device, counters, options, {}).run(&row, &row + 1, stop).at(0);
}

/// Every problem whose features an implementation takes, and that is within its limits, comes out right.
void check_numerics(Device& device) {
  for (const Implementation* impl : on(device.info().kind)) {
    int right = 0;
    for (Problem p : problems()) {
      p.pass = impl->pass;
      const PlannedRow row = planned(*impl, p, device.info());
      INFO(impl->name << " " << describe(p));
      if (row.status != Status::ok) {
        CHECK(row.status == Status::unsupported);
        CHECK(!row.reason.empty());
        continue;
      }
      const Record record = run(row, device, nullptr);
      INFO(record.message);
      CHECK(record.status == Status::ok);
      right += record.status == Status::ok;
      if (record.counters.source != BytesSource::counted) continue;
      // Counted exactly, so modelled exactly.
      CHECK(record.counters.hbm_read_bytes == record.model->hbm.read_bytes);
      CHECK(record.counters.hbm_write_bytes == record.model->hbm.write_bytes);
    }
    INFO(impl->name << " was right in " << right << " of the problems that it takes");
    CHECK((right >= 10 || planned(*impl, problems()[1], device.info()).status == Status::unsupported));
  }
}

}  // namespace

TEST_CASE("every implementation of the CPU is right, and moves the bytes of its model", "[registry][host]") {
  check_numerics(*open_host(2));
}

TEST_CASE("every implementation of the GPU is right", "[registry][gpu]") {
  Device* const gpu = gpu_test::device_or_skip();
  if (gpu) check_numerics(*gpu);
}

TEST_CASE("every implementation of the GPU moves the bytes of its model, give or take 15%",
          "[registry][gpu]") {
  Device* const gpu = gpu_test::device_or_skip();
  if (!gpu) return;
  const std::unique_ptr<CounterSource> counters = open_counters(*gpu);
  if (!counters->hint().empty()) {
    WARN("skipped: " << counters->hint());
    return;
  }
  for (const Implementation* impl : on(DeviceKind::gpu)) {
    for (const int64_t head_dim : {64, 128}) {
      for (const bool causal : {false, true}) {
        Problem p;
        p.pass = impl->pass;
        p.batch = 4;
        p.heads = p.kv_heads = 16;
        p.seqlen_q = p.seqlen_kv = 2048;
        p.head_dim = head_dim;
        p.causal = causal;
        const PlannedRow row = planned(*impl, p, gpu->info());
        if (row.status != Status::ok) continue;
        const Record record = run(row, *gpu, counters.get());
        INFO(impl->name << " " << describe(p) << " " << record.message << " " << record.counters.status);
        REQUIRE(record.counters.hbm_read_bytes);
        const double measured =
            static_cast<double>(*record.counters.hbm_read_bytes + *record.counters.hbm_write_bytes);
        CHECK(measured / static_cast<double>(record.model->hbm.total()) == Approx(1).margin(0.15));
      }
    }
  }
}

TEST_CASE("what no implementation claims, every one refuses by name", "[registry]") {
  const DeviceInfo gpu = device_info(find_gpu_model("H200"));
  for (const Implementation& impl : registry()) {
    INFO(impl.name);
    const DeviceInfo device = impl.device == DeviceKind::gpu ? gpu : open_host(1)->info();
    const auto claims = [&impl](std::string_view feature) {
      return std::find(impl.takes.begin(), impl.takes.end(), feature) != impl.takes.end();
    };
    Case c{problems()[1], impl.name, {}};
    c.problem.pass = impl.pass;
    c.problem.dtype = claims("bf16") ? DType::bf16 : DType::fp32;
    c.config = impl.resolved(c.problem, {}, device);
    std::map<std::string, std::function<void(Problem&)>> asking{
        {"causal", [](Problem& p) { p.causal = true; }},
        {"window", [](Problem& p) { p.window = 8; }},
        {"gqa", [](Problem& p) { p.kv_heads = 1; }},
        {"fp32", [](Problem& p) { p.dtype = DType::fp32; }},
    };
    for (const auto& [feature, ask] : asking) {
      if (claims(feature)) continue;
      Case asked = c;
      ask(asked.problem);
      const Unsupported reason = refusal(impl, asked, device);
      REQUIRE(reason);
      CHECK(reason->find(impl.name + " does not support " + feature) == 0);
    }
    Case other_pass = c;
    other_pass.problem.pass = impl.pass == Pass::bwd ? Pass::fwd : Pass::bwd;
    REQUIRE(refusal(impl, other_pass, device));
    CHECK(refusal(impl, other_pass, device)->find(impl.name + " computes ") == 0);
  }
}

TEST_CASE("names are known once for a device and a pass, and every row says how it runs", "[registry]") {
  std::map<std::string, int> seen;
  for (const Implementation& impl : registry()) {
    INFO(impl.name);
    CHECK(++seen[impl.name + (impl.device == DeviceKind::gpu ? "gpu" : "cpu") +
                 std::string(to_string(impl.pass))] == 1);
    CHECK(!impl.summary.empty());
    CHECK(!impl.takes.empty());
    CHECK(static_cast<bool>(impl.steps));
    CHECK(static_cast<bool>(impl.launches) != static_cast<bool>(impl.prepare));
  }
}

TEST_CASE("the launches of a GPU implementation are its steps, with tensors and without", "[registry]") {
  const DeviceInfo h200 = device_info(find_gpu_model("H200"));
  int checked = 0;
  for (const Implementation* impl : on(DeviceKind::gpu)) {
    if (!impl->launches) continue;
    for (Problem p : problems()) {
      p.pass = impl->pass;
      const PlannedRow row = planned(*impl, p, h200);
      if (row.status != Status::ok) continue;
      INFO(impl->name << " " << describe(p));
      Tensors tensors;
      for (const TensorSpec& tensor : tensors_of(p))
        tensors.places.emplace_back(tensor.name, reinterpret_cast<void*>(uintptr_t{4096}));
      tensors.workspace = reinterpret_cast<void*>(uintptr_t{1 << 20});
      const std::vector<Launch> ahead = impl->launches(row.planned, h200, {}),
                                bound = impl->launches(row.planned, h200, tensors);
      CHECK(ahead.size() == impl->steps(row.planned, h200).size());
      CHECK(kernels_of(ahead) == kernels_of(bound));
      ++checked;
    }
  }
  CHECK((checked > 0 || on(DeviceKind::gpu).empty()));
}
