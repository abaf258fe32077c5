// fwd+bwd out of a forward and a backward implementation, and the table of tensors behind it.
#include "catch.hpp"
#include "core/error.hpp"
#include "core/theory.hpp"
#include "fake_device.hpp"
#include "measure/plan.hpp"
#include "measure/runner.hpp"

using namespace attnprof;

namespace {

Problem problem(Pass pass) {
  Problem p;
  p.pass = pass;
  p.dtype = DType::fp32;
  p.seqlen_q = 6;
  p.seqlen_kv = 5;
  p.head_dim = 4;
  p.heads = p.kv_heads = 2;
  return p;
}

std::string order;

Implementation forward() {
  Implementation i = fake::make("both", [](const Case& c, const Tensors& t, Device&) {
    return std::unique_ptr<Prepared>(new fake::FakeWork([p = c.problem, t] {
      order += to_string(p.pass);
      fake::compute(p, t);
    }));
  });
  i.takes = {"fp32", "causal", "gqa"};
  i.workspace_bytes = [](const Case&, const DeviceInfo&) { return int64_t{100}; };
  return i;
}

Implementation backward() {
  Implementation i = fake::make("both", [](const Case& c, const Tensors& t, Device&) {
    return std::unique_ptr<Prepared>(new fake::FakeWork([p = c.problem, t] {
      order += to_string(p.pass);
      // Not the gradient, but of what only a backward pass is given.
      for (const TensorSpec& tensor : tensors_of(p)) {
        REQUIRE(t.at(tensor.name) != nullptr);
        if (tensor.output) std::memset(t.at(tensor.name), 0, static_cast<size_t>(tensor.bytes()));
      }
    }));
  });
  i.pass = Pass::bwd;
  i.takes = {"fp32", "causal", "window"};
  i.workspace_bytes = [](const Case&, const DeviceInfo&) { return int64_t{300}; };
  i.limits = [](const Case& c, const DeviceInfo&) -> Unsupported {
    if (c.problem.head_dim > 64) return "head_dim above 64";
    return std::nullopt;
  };
  i.omits = {"dq", "dk", "dv"};  // there is no reference for them
  return i;
}

std::vector<std::string> names(Pass pass, bool output) {
  std::vector<std::string> all;
  for (const TensorSpec& tensor : tensors_of(problem(pass))) {
    if (tensor.output == output) all.emplace_back(tensor.name);
  }
  return all;
}

}  // namespace

TEST_CASE("each pass has its tensors, and their bytes are the compulsory ones", "[tensors]") {
  using Names = std::vector<std::string>;
  CHECK(names(Pass::fwd, false) == Names{"q", "k", "v"});
  CHECK(names(Pass::fwd, true) == Names{"o", "lse"});
  CHECK(names(Pass::bwd, false) == Names{"q", "k", "v", "do", "o", "lse"});
  CHECK(names(Pass::bwd, true) == Names{"dq", "dk", "dv"});
  CHECK(names(Pass::fwd_bwd, false) == Names{"q", "k", "v", "do"});
  CHECK(names(Pass::fwd_bwd, true) == Names{"o", "lse", "dq", "dk", "dv"});
  const Problem p = problem(Pass::bwd);
  const Traffic traffic = compulsory_traffic(p);
  CHECK(traffic.read_bytes == 3 * q_bytes(p) + 2 * kv_bytes(p) + lse_bytes(p));
  CHECK(traffic.write_bytes == q_bytes(p) + 2 * kv_bytes(p));
  CHECK(tensor_bytes(p) == traffic.total());
}

TEST_CASE("fwd+bwd takes what both take, within the limits of both, in one workspace", "[composed]") {
  const Implementation both = composed(forward(), backward());
  const DeviceInfo device;
  CHECK(both.pass == Pass::fwd_bwd);
  Case c{problem(Pass::fwd_bwd), "both", {}};
  CHECK_FALSE(refusal(both, c, device));
  CHECK(both.workspace(c, device) == 300);
  CHECK(both.steps(c, device).size() == 2);
  CHECK(both.model(c, device).hbm.total() == compulsory_traffic(c.problem).total());
  c.problem.window = 3;
  CHECK(*refusal(both, c, device) == "both does not support window; it supports fp32, causal");
  c.problem.window = 0;
  c.problem.head_dim = 128;
  CHECK(*refusal(both, c, device) == "head_dim above 64");
}

TEST_CASE("one launch of fwd+bwd runs the passes in order, and its output is verified", "[composed]") {
  const Implementation both = composed(forward(), backward());
  fake::FakeDevice device;
  const std::vector<PlannedRow> rows =
      plan({{{problem(Pass::fwd_bwd), "both", {}}, ""}}, device.info(),
           [&](std::string_view, const DeviceInfo&, Pass) -> const Implementation& { return both; });
  std::atomic<bool> stop{false};
  RunOptions options;
  options.stopping.max_samples = 6;
  options.stopping.min_samples = 6;
  order.clear();
  const std::vector<Record> records =
      Runner(device, nullptr, options, {}).run(rows.data(), rows.data() + rows.size(), stop);
  REQUIRE(records.size() == 1);
  CHECK(records[0].message.empty());
  CHECK(records[0].status == Status::ok);
  CHECK(order.substr(0, 12) == "fwdbwdfwdbwd");
}

TEST_CASE("the launches of both passes are one list", "[composed]") {
  Implementation first = forward(), second = backward();
  const auto launches = [](const char* entry) {
    return [entry](const Case& c, const DeviceInfo&, const Tensors&) {
      KernelLaunch launch;
      launch.kernel = {"a.cu", entry + std::string(to_string(c.problem.pass)), {}};
      return std::vector<Launch>{launch};
    };
  };
  first.launches = launches("f_");
  second.launches = launches("b_");
  const Implementation both = composed(first, second);
  const auto kernels = kernels_of(both.launches({problem(Pass::fwd_bwd), "both", {}}, DeviceInfo{}, {}));
  REQUIRE(kernels.size() == 2);
  CHECK(kernels[0].entry == "f_fwd");
  CHECK(kernels[1].entry == "b_bwd");
}
