// What goes wrong around one case becomes the status of its row, and the sweep goes on.
#include <atomic>
#include <new>
#include <system_error>

#include "catch.hpp"
#include "fake_device.hpp"
#include "host/load.hpp"
#include "measure/runner.hpp"
#include "measure/turns.hpp"
#include "rows/derived.hpp"
#include "rows/row.hpp"
#include "text.hpp"

using namespace attnprof;
using fake::planned_row, fake::small;

namespace {

template <class Thrown>
Implementation throwing(Thrown (*make)()) {
  Implementation impl = fake::right();
  impl.prepare = [make](const Case&, const Tensors&, Device&) -> std::unique_ptr<Prepared> {
    return std::make_unique<fake::FakeWork>([make] { throw make(); });
  };
  return impl;
}

/// Right, and counts that many times the bytes that its model says.
class CountingWork : public Prepared {
 public:
  CountingWork(const Case& c, const Tensors& t, int times)
      : problem_(c.problem), tensors_(t), times_(times) {}
  void launch() override { fake::compute(problem_, tensors_); }
  std::optional<Traffic> counted() const override {
    const Traffic once = compulsory_traffic(problem_);
    return Traffic{times_ * once.read_bytes, once.write_bytes};
  }

 private:
  Problem problem_;
  Tensors tensors_;
  int times_;
};

Implementation counting(int times) {
  Implementation impl = fake::right();
  impl.prepare = [times](const Case& c, const Tensors& t, Device&) -> std::unique_ptr<Prepared> {
    return std::make_unique<CountingWork>(c, t, times);
  };
  return impl;
}

/// Hardware that has seen so many bytes read.
class FixedCounters : public CounterSource {
 public:
  explicit FixedCounters(int64_t read_bytes) : read_bytes_(read_bytes) {}
  Counters measure(Prepared&, const CounterRequest&) override {
    Counters c;
    c.source = BytesSource::cupti;
    c.hbm_read_bytes = read_bytes_;
    c.hbm_write_bytes = 0;
    c.status = "ok";
    return c;
  }
  std::optional<KernelTimes> kernel_times(Prepared&, CacheMode) override { return std::nullopt; }
  std::string hint() const override { return ""; }

 private:
  int64_t read_bytes_;
};

std::vector<Record> run(fake::FakeDevice& device, const std::vector<const Implementation*>& impls,
                        CounterSource* counters = nullptr) {
  RunOptions options;
  options.stopping.min_samples = 6;
  options.stopping.max_samples = 8;
  double now_s = 0;
  const std::atomic<bool> stop{false};
  std::vector<PlannedRow> rows;
  for (const Implementation* impl : impls) rows.push_back(planned_row(*impl));
  Runner runner(device, counters, options, {}, [&now_s] { return now_s += 1e-4; });
  return runner.run(rows.data(), rows.data() + rows.size(), stop);
}

}  // namespace

TEST_CASE("memory or a thread that cannot be had is oom, and the others are measured", "[runner][oom]") {
  const Implementation right = fake::right(), no_memory = throwing(+[] { return std::bad_alloc(); }),
                       no_thread = throwing(+[] {
                         return std::system_error(
                             std::make_error_code(std::errc::resource_unavailable_try_again));
                       });
  fake::FakeDevice device;
  const std::vector<Record> records = run(device, {&no_memory, &right, &no_thread});
  CHECK(records[0].status == Status::oom);
  CHECK(has(records[0].message, "refused an allocation"));
  CHECK(records[1].status == Status::ok);
  CHECK(records[2].status == Status::oom);
  CHECK(has(records[2].message, "refused a thread"));
}

TEST_CASE("memory that runs out between the cases makes their rows oom", "[runner][oom]") {
  const Implementation right = fake::right();
  fake::FakeDevice device;
  device.next_clocks = [](int) -> ClockReading { throw std::bad_alloc(); };
  for (const Record& record : run(device, {&right, &right})) CHECK(record.status == Status::oom);
}

TEST_CASE("a refusal says in units what was needed and what was free, or that a limit held",
          "[runner][oom]") {
  CHECK(std::string(OutOfMemory(8590000000, 2200000000).what()) ==
        "out of memory: needs 8.59 GB, 2.20 GB are free");
  const std::string limit = OutOfMemory(8590000000, 22200000000).what();
  CHECK(has(limit, "the system refused 8.59 GB although 22.2 GB are free"));
  CHECK(has(limit, "ulimit -v"));
}

TEST_CASE("a model that disagrees with an exact count is a failure of the row", "[runner][model]") {
  const Implementation as_modelled = counting(1), doubled = counting(2);
  fake::FakeDevice device;
  const std::vector<Record> records = run(device, {&as_modelled, &doubled});
  CHECK(records[0].status == Status::ok);
  CHECK(records[0].message.empty());
  CHECK(records[1].status == Status::verify_failed);
  CHECK(records[1].message.find("counted ") == 0);
  CHECK(has(records[1].message, "one of the two is wrong"));
}

TEST_CASE("measured bytes far from the model are said, near ones and few are not", "[runner][model]") {
  const Implementation right = fake::right();
  fake::FakeDevice device;
  const int64_t model = compulsory_traffic(small()).total();
  for (const auto& [bytes, said] : {std::pair{model, false}, {model * 3 / 2, false}, {model * 35, true}}) {
    FixedCounters counters(bytes);
    const Record record = run(device, {&right}, &counters).front();
    CHECK(record.status == Status::ok);
    CHECK(has(record.message, "moved 35.0 times the bytes of its model") == said);
    CHECK(record.message.empty() == !said);
  }
}

TEST_CASE("bytes that an implementation counted are no sign of hardware counters", "[runner][counters]") {
  const Implementation impl = counting(1);
  fake::FakeDevice device;
  const Record record = run(device, {&impl}).front();
  CHECK(record.counters.status.find("none: ") == 0);
  CHECK(record.counters.source == BytesSource::counted);
  CHECK(record.counters.hbm_read_bytes);
}

TEST_CASE("a row timed beside other work says so", "[runner][busy]") {
  const Implementation right = fake::right();
  fake::FakeDevice device;
  CHECK(busy_note(rows_of(run(device, {&right}))).empty());
  device.next_clocks = [](int i) {
    ClockReading reading;
    reading.busy = i == 2;
    return reading;
  };
  const std::vector<Record> records = run(device, {&right});
  CHECK(records[0].status == Status::ok);
  CHECK(records[0].message == kBusyMachine);
  CHECK(busy_note(rows_of(records))
            .find("other processes took more than a tenth of the CPU time during 1 of 1") == 0);
}

TEST_CASE("the share of others is what was taken and not ours", "[busy]") {
  const CpuTimes from{10, 100, 50, 20};
  CHECK(share_of_others(from, {11, 102, 51.5, 21.5}) == 0);
  CHECK(share_of_others(from, {11, 102, 51.5, 20.5}) == Approx(0.5));
  CHECK(share_of_others(from, {11, 102, 51, 21.3}) == 0);  // clocks differ by a tick
  CHECK(share_of_others(from, from) == 0);
  const auto now = cpu_times();
  if (now) CHECK(now->all_s >= now->taken_s);
}
