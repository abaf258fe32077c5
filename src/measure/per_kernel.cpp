#include "measure/per_kernel.hpp"

#include <algorithm>
#include <string>

#include "core/stats.hpp"
#include "measure/turns.hpp"

namespace attnprof {
namespace {

constexpr int kMaxLaunches = 11;
constexpr int kMinLaunches = 3;

/// Launches to take times from: what the time budget of one case allows.
int launches_for(const Record& whole, const RunOptions& options) {
  const double us = whole.time ? std::max(whole.time->median_us, 1.0) : 1e6;
  const double within_budget = options.stopping.budget_s * 1e6 / us;
  return static_cast<int>(std::clamp<double>(within_budget, kMinLaunches, kMaxLaunches));
}

/// Times and counters of every step, as far as they can be had.
struct Measured {
  std::vector<std::vector<double>> samples_us;
  std::vector<int> launches;
  std::vector<Counters> counters;
};

Measured measure_on_host(Device& device, Prepared& work, size_t steps, const RunOptions& options,
                         int launches) {
  Measured m;
  m.samples_us.resize(steps);
  std::vector<StepReading> readings;
  for (int i = 0; i < launches; ++i) {
    device.sample_us(work, options.cache, 1);
    readings = work.step_readings();
    for (size_t step = 0; step < std::min(steps, readings.size()); ++step)
      m.samples_us[step].push_back(readings[step].us);
  }
  for (const StepReading& reading : readings) m.counters.push_back(counted_bytes(reading.traffic));
  return m;
}

Measured measure_on_gpu(CounterSource& source, Prepared& work, size_t steps, const Record& whole,
                        const RunOptions& options, int launches) {
  Measured m;
  for (const StepTimes& times : source.step_times(work, steps, options.cache, launches)) {
    m.samples_us.push_back(times.samples_us);
    m.launches.push_back(times.launches);
  }
  CounterRequest request;
  request.cache = options.cache;
  request.drain = options.drain;
  request.dtype = whole.planned.problem.dtype;
  m.counters = source.measure_steps(work, steps, request);
  return m;
}

Record step_record(const Record& whole, const ModelledStep& step, int index) {
  Record record;
  record.planned = whole.planned;
  record.kernel = step.name;
  record.kernel_index = index;
  record.plan_row = whole.plan_row;
  record.device = whole.device;
  record.conditions = whole.conditions;
  record.status = whole.status;
  record.model = step.work;
  record.verify = whole.verify;
  record.library = whole.library;
  record.clocks = whole.clocks;
  record.counters.status = "off";
  record.conditions.command = reproduce_command(record);
  return record;
}

}  // namespace

std::vector<Record> kernel_records(const Record& whole, const PlannedRow& row, Device& device,
                                   CounterSource* counters, Prepared& work, const RunOptions& options) {
  std::vector<Record> records;
  if (whole.status != Status::ok) return records;
  const std::vector<ModelledStep> steps = row.impl->steps(row.planned, device.info());
  if (steps.size() < 2) return records;
  for (size_t i = 0; i < steps.size(); ++i)
    records.push_back(step_record(whole, steps[i], static_cast<int>(i)));

  Measured m;
  std::string why = "no time of single kernels: CUPTI's activity records cannot be had";
  try {
    const int launches = launches_for(whole, options);
    if (device.info().kind == DeviceKind::host) {
      m = measure_on_host(device, work, steps.size(), options, launches);
    } else if (counters != nullptr) {
      m = measure_on_gpu(*counters, work, steps.size(), whole, options, launches);
    }
  } catch (...) {
    m = {};
    Record reason;
    take_error(reason);
    why = reason.message;
  }
  for (size_t i = 0; i < records.size(); ++i) {
    Record& record = records[i];
    if (i < m.counters.size()) record.counters = m.counters[i];
    if (i < m.samples_us.size()) {
      record.time =
          stats::summarise(options.stopping, m.samples_us[i], options.warmups, device.timer_resolution_us());
    }
    if (record.time && record.time->samples > 0) {
      if (i < m.launches.size()) record.kernels = KernelTimes{record.time->median_us, 0, m.launches[i]};
    } else {
      record.time.reset();
      record.status = Status::no_samples;
      record.message = why;
    }
  }
  return records;
}

}  // namespace attnprof
