// Threads that outlive one launch: starting them costs more than a small attention problem takes.
#pragma once

#include <atomic>
#include <cstdint>
#include <exception>
#include <mutex>
#include <thread>
#include <type_traits>
#include <vector>

namespace attnprof {

/// A fixed set of threads that run loops together. Between loops they spin for some microseconds, so that the
/// passes of one launch follow each other at once, and then sleep. One loop at a time, started from one
/// thread.
class ThreadPool {
 public:
  /// `threads` in all, the calling thread included; values below 1 mean 1. Throws UsageError when the system
  /// refuses one of them (limits on processes or memory).
  explicit ThreadPool(int threads);
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  int size() const { return static_cast<int>(workers_.size()) + 1; }

  /// Calls body(index, thread) for every index in [0, count), each once, in increasing order of start:
  /// whoever is free takes the next. `thread` in [0, size()) tells apart what runs at the same time, e.g. to
  /// pick scratch memory. Returns when all are done; rethrows the first exception of a body, after which
  /// indices not yet started are dropped.
  template <class Body>
  void parallel_for(int64_t count, Body&& body) {
    using Plain = std::remove_reference_t<Body>;
    run([](void* context, int64_t index, int thread) { (*static_cast<Plain*>(context))(index, thread); },
        const_cast<void*>(static_cast<const void*>(&body)), count);
  }

 private:
  using Function = void (*)(void* context, int64_t index, int thread);

  void run(Function function, void* context, int64_t count);
  void take_indices(int thread);
  void work(int thread);
  void stop();  ///< ends and joins the workers

  // What to do; written by run() before it raises epoch_, read by the workers after they see it raised.
  Function function_ = nullptr;
  void* context_ = nullptr;
  int64_t count_ = 0;

  alignas(64) std::atomic<int64_t> next_{0};
  alignas(64) std::atomic<uint32_t> epoch_{0};  ///< raised once per loop, and once to stop
  alignas(64) std::atomic<int> busy_{0};        ///< workers that have not finished this epoch
  std::atomic<bool> stop_{false};
  std::mutex error_mutex_;
  std::exception_ptr error_;
  std::vector<std::thread> workers_;
};

}  // namespace attnprof
