// Problems and checks for every implementation of the registry, on the device at hand. A new one gets these
// tests for nothing.
#pragma once

#include <atomic>
#include <cmath>
#include <map>

#include "catch.hpp"
#include "core/axes.hpp"
#include "core/theory.hpp"
#include "implementations.hpp"
#include "measure/plan.hpp"
#include "measure/runner.hpp"

namespace attnprof::registry_test {

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

inline std::vector<Problem> problems() {
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

inline std::vector<const Implementation*> on(DeviceKind kind) {
  std::vector<const Implementation*> all;
  for (const Implementation& impl : registry()) {
    if (impl.device == kind) all.push_back(&impl);
  }
  return all;
}

inline PlannedRow planned(const Implementation& impl, const Problem& p, const DeviceInfo& device) {
  return plan({{{p, impl.name, {}}, ""}}, device, find_implementation).at(0);
}

inline Record run(const PlannedRow& row, Device& device, CounterSource* counters) {
  RunOptions options;
  options.time = false;
  options.warmups = 1;
  options.verify_rows = 1 << 20;
  options.counters = counters != nullptr;
  const std::atomic<bool> stop{false};
  return Runner(device, counters, options, {}).run(&row, &row + 1, stop).at(0);
}

/// Every problem whose features an implementation takes, and that is within its limits, comes out right.
inline void check_numerics(Device& device, const std::vector<const Implementation*>& implementations) {
  for (const Implementation* impl : implementations) {
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

}  // namespace attnprof::registry_test
