#include "host/thread_pool.hpp"

#include <fmt/format.h>
#include <hwy/cache_control.h>

#include <chrono>
#include <system_error>

#include "core/error.hpp"

namespace attnprof {
namespace {

/// How long a thread looks for work before it sleeps: longer than a pass over a small problem leaves it idle,
/// short enough to leave the core to others.
constexpr auto kSpin = std::chrono::microseconds(50);

/// Spins until `ready()`, at most kSpin. Returns whether it became ready.
template <class Ready>
bool spin_until(Ready ready) {
  const auto deadline = std::chrono::steady_clock::now() + kSpin;
  do {
    for (int i = 0; i < 64; ++i) {
      if (ready()) return true;
      hwy::Pause();
    }
  } while (std::chrono::steady_clock::now() < deadline);
  return ready();
}

}  // namespace

ThreadPool::ThreadPool(int threads) {
  if (threads > 1) workers_.reserve(static_cast<size_t>(threads) - 1);
  try {
    for (int thread = 1; thread < threads; ++thread) workers_.emplace_back([this, thread] { work(thread); });
  } catch (const std::system_error& refused) {
    stop();  // a thread that is neither joined nor detached would end the process
    throw UsageError(fmt::format("cannot start {} threads: {}; use --threads with fewer", threads,
                                 refused.code().message()));
  }
}

ThreadPool::~ThreadPool() {
  stop();
}

void ThreadPool::stop() {
  stop_.store(true);
  epoch_.fetch_add(1);
  epoch_.notify_all();
  for (std::thread& worker : workers_) worker.join();
}

void ThreadPool::run(Function function, void* context, int64_t count) {
  if (count <= 0) return;
  if (workers_.empty() || count == 1) {  // nothing to share: do not wake anybody
    for (int64_t index = 0; index < count; ++index) function(context, index, 0);
    return;
  }
  function_ = function;
  context_ = context;
  count_ = count;
  error_ = nullptr;
  next_.store(0, std::memory_order_relaxed);
  busy_.store(static_cast<int>(workers_.size()), std::memory_order_relaxed);
  epoch_.fetch_add(1, std::memory_order_release);
  epoch_.notify_all();
  take_indices(0);
  // Every worker checks in, also one that woke too late to get an index: then none can meet the next loop
  // half-way.
  while (!spin_until([this] { return busy_.load(std::memory_order_acquire) == 0; })) {
    if (const int busy = busy_.load(std::memory_order_acquire)) busy_.wait(busy, std::memory_order_acquire);
  }
  if (error_) std::rethrow_exception(error_);
}

void ThreadPool::take_indices(int thread) {
  try {
    for (;;) {
      const int64_t index = next_.fetch_add(1, std::memory_order_relaxed);
      if (index >= count_) return;
      function_(context_, index, thread);
    }
  } catch (...) {
    next_.store(count_, std::memory_order_relaxed);
    const std::lock_guard lock(error_mutex_);
    if (!error_) error_ = std::current_exception();
  }
}

void ThreadPool::work(int thread) {
  uint32_t seen = 0;
  for (;;) {
    if (!spin_until([&] { return epoch_.load(std::memory_order_acquire) != seen; })) {
      epoch_.wait(seen, std::memory_order_acquire);
      continue;
    }
    seen = epoch_.load(std::memory_order_acquire);
    if (stop_.load()) return;
    take_indices(thread);
    if (busy_.fetch_sub(1, std::memory_order_acq_rel) == 1) busy_.notify_one();
  }
}

}  // namespace attnprof
