// What every GPU implementation of the registry has to do, on a GPU: right answers, and the bytes of its
// model.
#include "gpu_case.hpp"
#include "registry_case.hpp"

using namespace attnprof;
using namespace attnprof::registry_test;

namespace {

/// Kernels of our own, or those of libraries.
std::vector<const Implementation*> of_the_gpu(bool own) {
  std::vector<const Implementation*> all = on(DeviceKind::gpu);
  std::erase_if(all, [own](const Implementation* impl) { return static_cast<bool>(impl->launches) != own; });
  return all;
}

}  // namespace

TEST_CASE("every implementation of our own on the GPU is right", "[registry][gpu]") {
  Device* const gpu = gpu_test::device_or_skip();
  if (gpu) check_numerics(*gpu, of_the_gpu(true));
}

TEST_CASE("every library on the GPU is right", "[registry][gpu][cudnn]") {
  Device* const gpu = gpu_test::device_or_skip();
  if (gpu) check_numerics(*gpu, of_the_gpu(false));
}

TEST_CASE("every implementation of the GPU moves the bytes of its model, give or take 15%",
          "[registry][gpu][cudnn]") {
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
