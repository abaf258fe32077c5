// What every implementation of the registry has to do: answers, byte model, refusals. Those of the GPU's
// kernels that need a GPU are in gpu_registry_test.cpp.
#include <functional>
#include <map>

#include "core/bound.hpp"
#include "host/host_device.hpp"
#include "registry_case.hpp"

using namespace attnprof;
using namespace attnprof::registry_test;

TEST_CASE("every implementation of the CPU is right, and moves the bytes of its model", "[registry][host]") {
  check_numerics(*open_host(2), on(DeviceKind::host));
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
