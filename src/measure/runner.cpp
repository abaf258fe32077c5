#include "measure/runner.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <utility>

#include "core/error.hpp"
#include "core/fill.hpp"
#include "core/tensors.hpp"
#include "core/units.hpp"
#include "core/verify.hpp"
#include "measure/per_kernel.hpp"
#include "measure/turns.hpp"

namespace attnprof {
namespace {

double steady_now_s() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// Fills with the byte 0xFF: NaN in fp32, fp16 and bf16, so that an element nobody wrote cannot verify as
/// right.
constexpr unsigned char kNanByte = 0xFF;

/// Measured bytes this many times the model's are far from it: caches explain less, and counters are exact to
/// some percent.
constexpr double kFarFromModel = 1.5;

/// "" when the bytes are near the model, or too few more to tell: lines that others left in the cache are
/// written back at somebody's cost, at most as many as it holds.
std::string far_from_model(int64_t bytes, int64_t model, int64_t cache_bytes) {
  const double times = static_cast<double>(bytes) / static_cast<double>(std::max<int64_t>(1, model));
  if (times <= kFarFromModel || bytes - model <= cache_bytes) return "";
  return fmt::format("moved {} times the bytes of its model", three_digits(times));
}

/// Every record followed by those of its kernels.
std::vector<Record> with_kernels(std::vector<Record> wholes, std::map<size_t, std::vector<Record>> kernels) {
  if (kernels.empty()) return wholes;
  std::vector<Record> all;
  for (size_t i = 0; i < wholes.size(); ++i) {
    all.push_back(std::move(wholes[i]));
    for (Record& kernel : kernels[i]) all.push_back(std::move(kernel));
  }
  return all;
}

}  // namespace

/// Inputs of one problem, shared by all its implementations.
struct Runner::Operands {
  Problem problem;
  std::vector<AllocatedTensor> inputs;
  std::unique_ptr<Buffer> workspace;  ///< the largest that any case needs; scratch, so sharing is safe
};

Runner::Runner(Device& device, CounterSource* counters, RunOptions options, RunConditions conditions,
               std::function<double()> now_s)
    : device_(device),
      counters_(counters),
      options_(options),
      conditions_(std::move(conditions)),
      now_s_(now_s ? std::move(now_s) : steady_now_s) {}

std::unique_ptr<Runner::Operands> Runner::load_operands(const Problem& p) {
  auto operands = std::make_unique<Operands>();
  operands->problem = p;
  for (const TensorSpec& tensor : tensors_of(p)) {
    if (tensor.output) continue;
    std::unique_ptr<Buffer> buffer = device_.allocate(tensor.bytes());
    if (p.fill == Fill::zeros) {
      device_.fill_bytes(buffer->data(), 0, tensor.bytes());
    } else {
      device_.fill_normal(buffer->data(), tensor.dtype, tensor.elements(), p.seed, tensor.stream);
    }
    operands->inputs.push_back({tensor, std::move(buffer)});
  }
  return operands;
}

std::vector<ActiveCase> Runner::activate(const PlannedRow* begin, const PlannedRow* end,
                                         const Operands& operands, std::vector<Record>& records) {
  std::vector<ActiveCase> cases;
  for (const PlannedRow* row = begin; row != end; ++row) {
    Record& record = records[static_cast<size_t>(row - begin)];
    if (record.status != Status::ok) continue;
    ActiveCase active;
    active.row = row;
    active.record = &record;
    active.name = fmt::format("{} {}", row->planned.impl, describe(row->planned.problem));
    active.guarded([&] {
      // A range of its own: launches in here (a library choosing its algorithm) belong to no measurement.
      const NamedRange range(device_, "prepare " + active.name);
      const Problem& p = row->planned.problem;
      Tensors tensors;
      for (const auto& [tensor, buffer] : operands.inputs)
        tensors.places.emplace_back(tensor.name, buffer->data());
      for (const TensorSpec& tensor : tensors_of(p)) {
        if (!tensor.output) continue;
        std::unique_ptr<Buffer> buffer = device_.allocate(tensor.bytes());
        device_.fill_bytes(buffer->data(), kNanByte, tensor.bytes());
        tensors.places.emplace_back(tensor.name, buffer->data());
        active.outputs.push_back({tensor, std::move(buffer)});
      }
      tensors.workspace = operands.workspace ? operands.workspace->data() : nullptr;
      active.work = prepare_case(*row->impl, row->planned, tensors, device_);
      record.compile_ms = active.work->compile_ms();
      record.resources = active.work->resources();
      record.library = active.work->library();
      if (const int64_t own = active.work->own_workspace_bytes(); own > 0) {
        record.workspace_bytes = record.workspace_bytes.value_or(0) + own;
      }
    });
    cases.push_back(std::move(active));
  }
  return cases;
}

void Runner::warm_up(std::vector<ActiveCase>& cases) {
  for (ActiveCase& active : cases) {
    active.guarded([&] {
      const NamedRange range(device_, active.name);
      for (int i = 0; i < std::max(1, options_.warmups); ++i) device_.run(*active.work);
      // The way of sampling is warmed up too: what it sets up (cache eviction, events) is charged to no case.
      if (options_.time) active.last_us = device_.sample_us(*active.work, options_.cache, 1).back();
    });
  }
}

void Runner::count(ActiveCase& active) {
  Record& record = *active.record;
  if (const std::optional<Traffic> counted = active.work->counted()) {
    record.counters = counted_bytes(*counted);
    return;
  }
  if (counters_ == nullptr || !options_.counters) {
    record.counters.status = "off";
    return;
  }
  CounterRequest request;
  request.cache = options_.cache;
  request.drain = options_.drain;
  request.dtype = record.planned.problem.dtype;
  record.kernels = counters_->kernel_times(*active.work, options_.cache);
  record.counters = counters_->measure(*active.work, request);
}

/// Bytes that the implementation counted are exact, and so is its model: one of the two is wrong when they
/// differ. Measured ones may differ, to a degree.
void Runner::compare_with_model(ActiveCase& active) {
  Record& record = *active.record;
  const Counters& c = record.counters;
  if (!active.alive() || !record.model || !c.hbm_read_bytes || !c.hbm_write_bytes) return;
  const Traffic& model = record.model->hbm;
  if (c.source == BytesSource::counted) {
    if (*c.hbm_read_bytes == model.read_bytes && *c.hbm_write_bytes == model.write_bytes) return;
    record.status = Status::verify_failed;
    record.message =
        fmt::format("counted {} bytes read and {} written, its model says {} and {}: one of the two is wrong",
                    *c.hbm_read_bytes, *c.hbm_write_bytes, model.read_bytes, model.write_bytes);
    return;
  }
  const std::string warning = far_from_model(*c.hbm_read_bytes + *c.hbm_write_bytes, model.total(),
                                             device_.info().last_level_cache_bytes);
  if (!warning.empty()) record.message += (record.message.empty() ? "" : "; ") + warning;
}

void Runner::check(ActiveCase& active, const Operands& operands) {
  const Problem& p = operands.problem;
  const std::vector<AllocatedTensor>* outputs = &active.outputs;
  const ReadTensor read = [&](std::string_view name, void* dst, int64_t offset, int64_t count) {
    for (const std::vector<AllocatedTensor>* tensors : {&operands.inputs, outputs}) {
      for (const auto& [tensor, buffer] : *tensors) {
        if (tensor.name != name) continue;
        const int64_t size = dtype_bytes(tensor.dtype);
        device_.download(dst, static_cast<const char*>(buffer->data()) + offset * size, count * size);
      }
    }
  };
  VerifyOptions options;
  options.max_rows = options_.verify_rows;
  options.materialized = active.row->impl->materializes;
  options.omits = active.row->impl->omits;
  Record& record = *active.record;
  record.verify = verify(p, read, options);
  if (!record.verify->passed) {
    record.status = Status::verify_failed;
    record.message = record.verify->message;
  }
}

std::vector<Record> Runner::run(const PlannedRow* begin, const PlannedRow* end,
                                const std::atomic<bool>& stop) {
  try {
    return run_group(begin, end, stop);
  } catch (...) {  // between the guarded steps: memory for the samples, say
    std::vector<Record> records;
    for (const PlannedRow* row = begin; row != end; ++row) {
      records.push_back(blank_record(*row, device_.info(), conditions_));
      if (row->status == Status::ok) take_error(records.back());
    }
    return records;
  }
}

std::vector<Record> Runner::run_group(const PlannedRow* begin, const PlannedRow* end,
                                      const std::atomic<bool>& stop) {
  std::vector<Record> records;
  int64_t workspace_bytes = 0;
  const int64_t free_bytes = device_.free_bytes();
  if (end - begin > 1 && together_bytes(begin, end, free_bytes) > free_bytes) {
    // Each may fit, all of them do not: fewer are interleaved.
    const PlannedRow* middle = begin + (end - begin) / 2;
    records = run(begin, middle, stop);
    for (Record& record : run(middle, end, stop)) records.push_back(std::move(record));
    return records;
  }
  for (const PlannedRow* row = begin; row != end; ++row) {
    Record record = blank_record(*row, device_.info(), conditions_);
    if (row->status == Status::ok && row->memory_bytes > free_bytes) {
      record.status = Status::oom;
      record.available_bytes = free_bytes;
      const auto text = [](int64_t bytes) { return human_bytes(static_cast<double>(bytes)); };
      const std::string workspace =
          row->workspace_bytes > 0 ? fmt::format(", of them {} workspace", text(row->workspace_bytes)) : "";
      record.message =
          fmt::format("needs {}{}; {} are free", text(row->memory_bytes), workspace, text(free_bytes));
    }
    if (record.status == Status::ok && options_.verify) {
      if (const auto why = unverifiable(row->planned.problem, row->impl->materializes)) {
        record.status = Status::unsupported;
        record.message = *why;
      }
    }
    if (record.status == Status::ok) workspace_bytes = std::max(workspace_bytes, row->workspace_bytes);
    records.push_back(std::move(record));
  }
  const bool any =
      std::any_of(records.begin(), records.end(), [](const Record& r) { return r.status == Status::ok; });
  if (!any) return records;

  std::unique_ptr<Operands> operands;
  try {
    operands = load_operands(begin->planned.problem);
    if (workspace_bytes > 0) operands->workspace = device_.allocate(workspace_bytes);
  } catch (...) {
    // The prediction said that it fits, the allocator says no. Those without workspace may still fit.
    for (Record& record : records) {
      const bool helpless = !operands || record.workspace_bytes.value_or(0) > 0;
      if (record.status == Status::ok && helpless) take_error(record);
    }
  }
  std::map<size_t, std::vector<Record>> kernels;  // by the index of the row that they are a part of
  if (operands) {
    std::vector<ActiveCase> cases = activate(begin, end, *operands, records);
    warm_up(cases);
    if (options_.time) take_turns(device_, options_, cases, now_s_, stop);
    for (ActiveCase& active : cases) {
      const NamedRange range(device_, active.name);
      active.guarded([&] { count(active); });
      // After the counters' replays, so that what they did to the output is checked too.
      if (options_.verify) active.guarded([&] { check(active, *operands); });
      compare_with_model(active);
      if (options_.per_kernel && active.work) {
        kernels[static_cast<size_t>(active.row - begin)] =
            kernel_records(*active.record, *active.row, device_, counters_, *active.work, options_);
      }
    }
  }
  return with_kernels(std::move(records), std::move(kernels));
}

std::optional<TimeStats> Runner::time_again(const PlannedRow& row, const std::atomic<bool>& stop) {
  RunOptions timing_only = options_;
  timing_only.verify = false;
  timing_only.counters = false;
  timing_only.per_kernel = false;
  Runner runner(device_, nullptr, timing_only, conditions_, now_s_);
  return runner.run(&row, &row + 1, stop).front().time;
}

}  // namespace attnprof
