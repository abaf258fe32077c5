#include "core/implementation.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "core/axis.hpp"
#include "core/error.hpp"

namespace attnprof {
namespace {

/// Both passes, one after the other.
class BothPasses final : public Prepared {
 public:
  BothPasses(std::unique_ptr<Prepared> forward, std::unique_ptr<Prepared> backward, size_t forward_steps)
      : forward_(std::move(forward)), backward_(std::move(backward)), forward_steps_(forward_steps) {}

  void launch() override {
    forward_->launch();
    backward_->launch();
  }
  void launch_step(size_t index) override {
    if (index < forward_steps_) return forward_->launch_step(index);
    backward_->launch_step(index - forward_steps_);
  }
  std::optional<Traffic> counted() const override {
    std::optional<Traffic> sum = forward_->counted();
    const std::optional<Traffic> rest = backward_->counted();
    if (!sum || !rest) return std::nullopt;
    *sum += *rest;
    return sum;
  }
  std::vector<StepReading> step_readings() const override {
    std::vector<StepReading> all = forward_->step_readings();
    for (const StepReading& reading : backward_->step_readings()) all.push_back(reading);
    return all;
  }
  std::optional<KernelResources> resources() const override {
    const auto a = forward_->resources(), b = backward_->resources();
    if (!a || !b) return a ? a : b;
    return KernelResources{std::max(a->registers_per_thread, b->registers_per_thread),
                           std::max(a->spill_bytes, b->spill_bytes), std::max(a->smem_bytes, b->smem_bytes)};
  }
  double compile_ms() const override { return forward_->compile_ms() + backward_->compile_ms(); }
  int64_t own_workspace_bytes() const override {
    return forward_->own_workspace_bytes() + backward_->own_workspace_bytes();
  }
  std::string library() const override { return forward_->library(); }

 private:
  std::unique_ptr<Prepared> forward_, backward_;
  size_t forward_steps_;
};

/// The part of a fwd+bwd case that one of its two implementations computes.
Case part_of(const Case& both, const Implementation& part, const DeviceInfo& device) {
  Case c = both;
  c.problem.pass = part.pass;
  if (part.pass == Pass::bwd) c.config = part.resolved(c.problem, {}, device);
  return c;
}

}  // namespace

std::unique_ptr<Prepared> Device::bind(const std::vector<Launch>&) {
  throw CaseError(fmt::format("{} runs no GPU kernels", info().name));
}

Unsupported refusal(const Implementation& impl, const Case& c, const DeviceInfo& device) {
  if (impl.pass != c.problem.pass) {
    return fmt::format("{} computes {} only, not {}", impl.name, to_string(impl.pass),
                       to_string(c.problem.pass));
  }
  std::vector<std::string> missing;
  for (const std::string& feature : features(c)) {
    if (std::find(impl.takes.begin(), impl.takes.end(), feature) == impl.takes.end())
      missing.push_back(feature);
  }
  if (!missing.empty()) {
    return fmt::format("{} does not support {}; it supports {}", impl.name, fmt::join(missing, ", "),
                       fmt::join(impl.takes, ", "));
  }
  return impl.limits ? impl.limits(c, device) : std::nullopt;
}

std::unique_ptr<Prepared> prepare_case(const Implementation& impl, const Case& c, const Tensors& tensors,
                                       Device& device) {
  return impl.prepare ? impl.prepare(c, tensors, device)
                      : device.bind(impl.launches(c, device.info(), tensors));
}

Implementation composed(const Implementation& forward, const Implementation& backward) {
  Implementation both = forward;
  both.pass = Pass::fwd_bwd;
  std::erase_if(both.takes, [&](std::string_view feature) {
    return std::find(backward.takes.begin(), backward.takes.end(), feature) == backward.takes.end();
  });
  both.omits.insert(both.omits.end(), backward.omits.begin(), backward.omits.end());
  both.materializes = forward.materializes || backward.materializes;
  both.candidates = nullptr;
  both.limits = [=](const Case& c, const DeviceInfo& d) -> Unsupported {
    for (const Implementation* part : {&forward, &backward}) {
      const Case own = part_of(c, *part, d);
      if (Unsupported reason = part->limits ? part->limits(own, d) : std::nullopt) return reason;
    }
    return std::nullopt;
  };
  both.workspace_bytes = [=](const Case& c, const DeviceInfo& d) {
    return std::max(forward.workspace(part_of(c, forward, d), d),
                    backward.workspace(part_of(c, backward, d), d));
  };
  both.steps = [=](const Case& c, const DeviceInfo& d) {
    std::vector<ModelledStep> steps = forward.steps(part_of(c, forward, d), d);
    for (const ModelledStep& step : backward.steps(part_of(c, backward, d), d)) steps.push_back(step);
    return steps;
  };
  both.launches = nullptr;
  if (forward.launches && backward.launches) {
    both.launches = [=](const Case& c, const DeviceInfo& d, const Tensors& t) {
      std::vector<Launch> launches = forward.launches(part_of(c, forward, d), d, t);
      for (Launch& launch : backward.launches(part_of(c, backward, d), d, t))
        launches.push_back(std::move(launch));
      return launches;
    };
  }
  both.prepare = nullptr;
  if (!both.launches) {
    both.prepare = [=](const Case& c, const Tensors& t, Device& device) -> std::unique_ptr<Prepared> {
      const Case own = part_of(c, forward, device.info());
      return std::make_unique<BothPasses>(
          prepare_case(forward, own, t, device),
          prepare_case(backward, part_of(c, backward, device.info()), t, device),
          forward.steps(own, device.info()).size());
    };
  }
  return both;
}

}  // namespace attnprof
