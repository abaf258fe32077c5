#include "gpu/counters/cupti_counters.hpp"

#include "core/error.hpp"
#include "gpu/counters/cupti_activity.hpp"
#include "gpu/counters/cupti_error.hpp"
#include "gpu/counters/cupti_session.hpp"
#include "gpu/gpu.hpp"

namespace attnprof {

std::unique_ptr<CounterSource> open_counters(Device& gpu) {
  return std::make_unique<CuptiCounters>(as_gpu(gpu));
}

CuptiCounters::CuptiCounters(GpuDevice& gpu) : gpu_(gpu) {
  try {
    chip_ = chip_of(gpu);
    availability_ = counter_availability(gpu);
    CuptiSession session(gpu, *plan(false, DType::bf16).schedule, 1);
    session.collect([&] { session.range("probe", [] {}); });
  } catch (const CuptiError& error) {
    refuse(error.cause(), error.what());
  } catch (const Error& error) {
    refuse("failed", error.what());
  }
}

namespace {

/// Charges the write-back of what a launch left dirty: its writes become those of `launched` and `drain`
/// together.
void charge_drain(Counters& c, const Counters& launched, const Counters& drain) {
  c.drained = launched.hbm_write_bytes && drain.hbm_write_bytes;
  if (c.drained) {
    c.hbm_write_bytes = *launched.hbm_write_bytes + *drain.hbm_write_bytes;
  } else {
    c.hbm_write_bytes.reset();
    c.status = "invalid";
  }
}

}  // namespace

void CuptiCounters::refuse(const std::string& cause, const std::string& message) {
  cause_ = cause;
  hint_ = "no hardware counters (" + cause + "): " + message + "; " + counter_cure(cause);
}

const CuptiCounters::Plan& CuptiCounters::plan(bool flops, DType dtype) {
  Plan& plan = plans_[{flops, dtype}];
  if (plan.schedule) return plan;
  std::vector<std::string> names;
  std::vector<Quantity> quantities;
  for (const Quantity quantity : wanted_quantities(flops)) {
    const std::string name = metric_name(chip_, quantity, dtype);
    if (name.empty()) continue;  // an empty cell, not a zero
    names.push_back(name);
    quantities.push_back(quantity);
  }
  try {
    plan.schedule = std::make_unique<CounterSchedule>(chip_, names, availability_);
  } catch (const CuptiError& error) {
    // The chip has them all, so it is this share of the chip that does not (a MIG slice shares its memory
    // units).
    throw CuptiError("shared unit", std::string("a counter exists on ") + chip_ +
                                        " but not for this share of it (" + error.what() + ")");
  }
  plan.quantities = quantities;
  return plan;
}

Counters CuptiCounters::count(Prepared& work, const CounterRequest& request) {
  const Plan& chosen = plan(request.flops, request.dtype);
  const bool hot = request.cache == CacheMode::hot;
  const auto launch = [&] { work.launch(); };
  // Ranges in the order they are pushed: "clean" and "drain" when asked for, and "hot".
  const bool clean_range = request.drain || !hot;
  const size_t ranges = (clean_range ? 1u : 0u) + (request.drain ? 1u : 0u) + (hot ? 1u : 0u);
  CuptiSession session(gpu_, *chosen.schedule, ranges);
  const int passes = session.collect([&] {
    gpu_.flush_l2();
    gpu_.synchronize("flushing the L2 cache");
    if (clean_range) session.range("clean", launch);
    if (request.drain) session.range("drain", [&] { gpu_.flush_l2(); });
    if (!hot) return;
    work.launch();
    gpu_.synchronize("warming the cache");
    session.range("hot", launch);
  });
  const auto values = [&](size_t range) {
    return counters_from(chosen.quantities, chosen.schedule->evaluate(session.counter_image(), range));
  };
  Counters counters = values(hot ? ranges - 1 : 0);
  counters.passes = passes;
  if (request.drain) charge_drain(counters, values(0), values(1));
  return counters;
}

Counters CuptiCounters::refusal(const std::string& status, const std::string& message) {
  if (hint_.empty()) hint_ = "counters of a case failed: " + message;
  Counters refused;
  refused.status = status;
  return refused;
}

Counters CuptiCounters::measure(Prepared& work, const CounterRequest& request) {
  if (!cause_.empty()) return refusal(cause_, "");
  try {
    return count(work, request);
  } catch (const CuptiError& error) {
    return refusal(error.cause(), std::string(error.what()) + "; " + counter_cure(error.cause()));
  } catch (const Error& error) {
    return refusal("failed", error.what());
  }
}

std::vector<Counters> CuptiCounters::count_steps(Prepared& work, size_t steps,
                                                 const CounterRequest& request) {
  const Plan& chosen = plan(request.flops, request.dtype);
  const bool cold = request.cache == CacheMode::cold;
  const bool drain = cold && request.drain;
  std::vector<std::string> names;
  for (size_t step = 0; step < steps; ++step) names.push_back("step " + std::to_string(step));
  CuptiSession session(gpu_, *chosen.schedule, steps + (drain ? 1 : 0));
  const int passes = session.collect([&] {
    if (cold) {
      gpu_.flush_l2();
    } else {
      work.launch();
    }
    gpu_.synchronize("preparing the cache");
    for (size_t step = 0; step < steps; ++step)
      session.range(names[step].c_str(), [&] { work.launch_step(step); });
    if (drain) session.range("drain", [&] { gpu_.flush_l2(); });
  });
  std::vector<Counters> counted;
  for (size_t range = 0; range < steps + (drain ? 1 : 0); ++range) {
    counted.push_back(
        counters_from(chosen.quantities, chosen.schedule->evaluate(session.counter_image(), range)));
    counted.back().passes = passes;
  }
  if (!drain) return counted;
  const Counters drained = counted.back();
  counted.pop_back();
  const Counters last = counted.back();
  charge_drain(counted.back(), last, drained);
  return counted;
}

std::vector<Counters> CuptiCounters::measure_steps(Prepared& work, size_t steps,
                                                   const CounterRequest& request) {
  if (steps == 0) return {};
  if (!cause_.empty()) return std::vector<Counters>(steps, refusal(cause_, ""));
  try {
    return count_steps(work, steps, request);
  } catch (const CuptiError& error) {
    return std::vector<Counters>(
        steps, refusal(error.cause(), std::string(error.what()) + "; " + counter_cure(error.cause())));
  } catch (const Error& error) {
    return std::vector<Counters>(steps, refusal("failed", error.what()));
  }
}

std::vector<StepTimes> CuptiCounters::step_times(Prepared& work, size_t steps, CacheMode cache, int samples) {
  try {
    return record_steps(gpu_, work, steps, cache, samples);
  } catch (const Error&) {
    return {};
  }
}

std::optional<KernelTimes> CuptiCounters::kernel_times(Prepared& work, CacheMode cache) {
  try {
    return summarise_kernels(record_kernels(gpu_, work, cache));
  } catch (const CuptiError&) {
    return std::nullopt;
  } catch (const Error&) {
    return std::nullopt;
  }
}

}  // namespace attnprof
