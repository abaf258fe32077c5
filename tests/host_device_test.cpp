// The CPU as a device: threads, memory, clock.
#include <sys/resource.h>
#include <unistd.h>

#include <chrono>
#include <cstdint>
#include <fstream>
#include <stdexcept>
#include <string>
#include <thread>

#include "catch.hpp"
#include "core/error.hpp"
#include "core/fill.hpp"
#include "core/implementation.hpp"
#include "host/host_device.hpp"
#include "host/system.hpp"

using namespace attnprof;

namespace {

/// Counts launches; each takes as long as asked.
class Work : public Prepared {
 public:
  explicit Work(std::chrono::microseconds length) : length_(length) {}
  void launch() override {
    ++launches;
    const auto end = std::chrono::steady_clock::now() + length_;
    while (length_.count() > 0 && std::chrono::steady_clock::now() < end) {
    }
  }
  int64_t launches = 0;

 private:
  std::chrono::microseconds length_;
};

}  // namespace

TEST_CASE("parallel_for runs every index once, loop after loop", "[host][threads]") {
  ThreadPool pool(4);
  CHECK(pool.size() == 4);
  for (int loop = 0; loop < 300; ++loop) {
    const int64_t count = loop % 40;
    std::vector<std::atomic<int>> hits(40);
    std::atomic<int> bad_thread{0};
    pool.parallel_for(count, [&](int64_t index, int thread) {
      hits[static_cast<size_t>(index)].fetch_add(1);
      if (thread < 0 || thread >= 4) bad_thread.fetch_add(1);
    });
    for (int64_t index = 0; index < 40; ++index)
      REQUIRE(hits[static_cast<size_t>(index)] == (index < count ? 1 : 0));
    REQUIRE(bad_thread == 0);
    if (loop % 100 == 50)
      std::this_thread::sleep_for(std::chrono::milliseconds(2));  // long enough for them to sleep
  }
}

TEST_CASE("An exception in a loop body reaches the caller, and the pool goes on", "[host][threads]") {
  ThreadPool pool(3);
  for (int attempt = 0; attempt < 20; ++attempt) {
    CHECK_THROWS_AS(pool.parallel_for(100,
                                      [](int64_t index, int) {
                                        if (index == 17) throw std::runtime_error("seventeen");
                                      }),
                    std::runtime_error);
    std::atomic<int64_t> sum{0};
    pool.parallel_for(10, [&](int64_t index, int) { sum += index; });
    REQUIRE(sum == 45);
  }
}

TEST_CASE("Threads that the system refuses are a usage error, and those started end", "[host][threads]") {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  SUCCEED("sanitizers need address space of their own");
#else
  int64_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  REQUIRE(pages > 0);
  rlimit before{};
  REQUIRE(getrlimit(RLIMIT_AS, &before) == 0);
  rlimit tight = before;  // room for a few stacks, not for a thousand
  tight.rlim_cur = static_cast<rlim_t>(pages * sysconf(_SC_PAGESIZE) + (int64_t{64} << 20));
  std::string message = "nothing was thrown";
  REQUIRE(setrlimit(RLIMIT_AS, &tight) == 0);
  try {
    ThreadPool pool(1000);
  } catch (const UsageError& error) {
    message = error.what();
  }
  REQUIRE(setrlimit(RLIMIT_AS, &before) == 0);
  CHECK(message.find("cannot start 1000 threads: ") == 0);
  CHECK(message.find("use --threads with fewer") != std::string::npos);
  CHECK(message.find('\n') == std::string::npos);
#endif
}

TEST_CASE("The host describes itself", "[host][device]") {
  const auto host = open_host();
  const DeviceInfo& info = host->info();
  CHECK(info.kind == DeviceKind::host);
  CHECK_FALSE(info.name.empty());
  CHECK(info.multiprocessors >= 1);
  CHECK(info.multiprocessors <= static_cast<int>(std::thread::hardware_concurrency()));
  CHECK(info.smem_per_block_bytes >= 64 << 10);
  CHECK(info.last_level_cache_bytes >= info.smem_per_block_bytes);
  CHECK(info.memory_bytes > host->free_bytes());
  CHECK(open_host(3)->info().multiprocessors == 3);
}

TEST_CASE("Memory is aligned, and refused before it is touched when there is not enough", "[host][device]") {
  const auto host = open_host(2);
  for (const int64_t bytes : {int64_t{0}, int64_t{1}, int64_t{1000}, int64_t{5} << 20}) {
    const auto buffer = host->allocate(bytes);
    CHECK(reinterpret_cast<uintptr_t>(buffer->data()) % 256 == 0);
    CHECK(buffer->size_bytes() == bytes);
  }
  const int64_t too_much = host->info().memory_bytes * 4;
  try {
    host->allocate(too_much);
    FAIL("allocated four times the memory there is");
  } catch (const OutOfMemory& e) {
    CHECK(e.needed_bytes == too_much);
    CHECK(e.available_bytes > 0);
    CHECK(e.available_bytes < too_much);
  }
  CHECK_THROWS_AS(host->allocate(-1), OutOfMemory);
}

TEST_CASE("The host keeps memory back for the rest of the machine", "[host][device]") {
  // 5%, not 10%: what is available changes between the two readings.
  CHECK(open_host(1)->free_bytes() < memory_available_bytes() / 100 * 95);
}

TEST_CASE("Copies and fills write what they say", "[host][device]") {
  const auto host = open_host(2);
  const int64_t count = 3'000'001;
  const auto buffer = host->allocate(count * 2);
  host->fill_bytes(buffer->data(), 0xFF, count * 2);
  std::vector<uint16_t> back(static_cast<size_t>(count));
  host->download(back.data(), buffer->data(), count * 2);
  CHECK(std::all_of(back.begin(), back.end(), [](uint16_t x) { return x == 0xFFFF; }));
  host->fill_normal(buffer->data(), DType::bf16, count, 5, kStreamK);
  CHECK(load_element(buffer->data(), DType::bf16, count - 1) ==
        from_bf16(to_bf16(normal_value(5, kStreamK, static_cast<uint64_t>(count - 1)))));
  const uint16_t word = 0x1234;
  host->upload(buffer->data(), &word, 2);
  CHECK(static_cast<const uint16_t*>(buffer->data())[0] == word);
}

TEST_CASE("Launches too short for the clock are repeated in hot samples, and never in cold ones",
          "[host][measurement]") {
  const auto host = open_host(2);
  CHECK(host->timer_resolution_us() > 0);
  CHECK(host->timer_resolution_us() < 100);
  Work nothing{std::chrono::microseconds(0)};
  const std::vector<double> hot = host->sample_us(nothing, CacheMode::hot, 5);
  CHECK(hot.size() == 5);
  for (const double us : hot) CHECK(us > 0);
  CHECK(nothing.launches > 20);
  nothing.launches = 0;
  const std::vector<double> cold = host->sample_us(nothing, CacheMode::cold, 3);
  CHECK(nothing.launches == 3);
  for (const double us : cold) CHECK(us >= 0);

  Work millisecond{std::chrono::microseconds(1000)};
  for (const CacheMode cache : {CacheMode::hot, CacheMode::cold}) {
    const std::vector<double> samples = host->sample_us(millisecond, cache, 2);
    for (const double us : samples) CHECK(us >= 1000);
  }
}

TEST_CASE("A rest passes before each sample and is no part of it", "[host][measurement]") {
  const auto host = open_host(1);
  Work millisecond{std::chrono::microseconds(1000)};
  for (const CacheMode cache : {CacheMode::hot, CacheMode::cold}) {
    host->sample_us(millisecond, cache, 1);  // sets up the eviction
    const auto start = std::chrono::steady_clock::now();
    const std::vector<double> samples = host->sample_us(millisecond, {cache, 50e3}, 4);
    const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - start;
    CHECK(samples.size() == 4);
    CHECK(spent.count() > 0.2);
    for (const double us : samples) CHECK(us < 50e3);
  }
}

TEST_CASE("Cold samples find the caches emptied", "[host][measurement]") {
  // Reads 8 MiB: from memory it takes longer than from a last-level cache that holds it.
  class Reader : public Prepared {
   public:
    explicit Reader(Device& device) : data_(device.allocate(int64_t{8} << 20)) {}
    void launch() override {
      const auto* words = static_cast<const uint64_t*>(data_->data());
      uint64_t sum = 0;
      for (int64_t i = 0; i < (int64_t{8} << 20) / 8; i += 8) sum += words[i];
      sink = sum;
    }
    volatile uint64_t sink = 0;

   private:
    std::unique_ptr<Buffer> data_;
  };
  const auto host = open_host(1);
  if (host->info().last_level_cache_bytes < int64_t{16} << 20) {
    SUCCEED("the last-level cache is too small to tell");
    return;
  }
  Reader reader(*host);
  const auto fastest = [&](CacheMode cache) {
    const std::vector<double> samples = host->sample_us(reader, cache, 15);
    return *std::min_element(samples.begin(), samples.end());
  };
  const double hot = fastest(CacheMode::hot);
  const double cold = fastest(CacheMode::cold);
  CAPTURE(hot, cold);
  CHECK(cold > hot);
}
