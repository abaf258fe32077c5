// A device as the runner sees it: memory, and the ability to time a prepared case. Host, GPU and the tests'
// fake.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/launch.hpp"
#include "core/problem.hpp"

struct CUstream_st;  // what cuda.h calls CUstream

namespace attnprof {

class Prepared;

enum class DeviceKind { host, gpu };
enum class CacheMode { cold, hot };

/// How samples are taken.
struct Sampling {
  CacheMode cache = CacheMode::cold;
  /// The device idles so long before each sample. One that computes without a break reaches its power limit,
  /// and its clock then depends on what ran before and how warm it is.
  double rest_us = 0;
  Sampling(CacheMode cache_mode, double rest = 0) : cache(cache_mode), rest_us(rest) {}
};

/// Identity and limits of a device. Read from the device, never from a table; unknown stays empty.
struct DeviceInfo {
  DeviceKind kind = DeviceKind::host;
  std::string name;                    ///< "NVIDIA H200", "AMD EPYC 9B14"
  std::string uuid;                    ///< GPU UUID; empty on the host
  int index = -1;                      ///< CUDA ordinal; -1 on the host
  int compute_capability = 0;          ///< 90 for 9.0; 0 on the host
  int multiprocessors = 0;             ///< SMs, or hardware threads used on the host
  int64_t last_level_cache_bytes = 0;  ///< L2 (GPU), last-level cache (host)
  int64_t smem_per_block_bytes =
      0;                       ///< opt-in shared memory limit; on the host: working-set budget (L2 of a core)
  int64_t memory_bytes = 0;    ///< total device memory, or RAM
  std::string driver_version;  ///< "580.159.04"
  std::string cuda_version;    ///< toolkit parts used at run time, "13.0"
  std::optional<bool> ecc;
  std::optional<double> power_limit_w;
};

/// What held the device back around a measurement.
struct ClockReading {
  std::optional<int> sm_mhz;
  std::string throttle_reasons;  ///< "", or names joined by '|': "sw_power_cap|hw_thermal"
  bool busy = false;             ///< host: others took more of the CPUs than kBusyShare
};

/// Device memory, freed on destruction.
class Buffer {
 public:
  virtual ~Buffer() = default;
  virtual void* data() = 0;
  virtual int64_t size_bytes() const = 0;
};

/// Memory and time of one device. Not thread-safe.
class Device {
 public:
  virtual ~Device() = default;
  virtual const DeviceInfo& info() const = 0;
  virtual int64_t free_bytes() = 0;

  virtual std::unique_ptr<Buffer> allocate(int64_t bytes) = 0;  ///< 256-byte aligned; throws OutOfMemory
  virtual void upload(void* device_dst, const void* host_src, int64_t bytes) = 0;
  virtual void download(void* host_dst, const void* device_src, int64_t bytes) = 0;
  virtual void fill_bytes(void* device_dst, unsigned char value, int64_t bytes) = 0;
  /// Writes `count` elements of the normal fill (core/fill.hpp) for stream `stream` of `seed`.
  virtual void fill_normal(void* device_dst, DType dtype, int64_t count, uint64_t seed, uint32_t stream) = 0;

  /// Launches of our own kernels (Implementation::launches), compiled and bound. Throws CaseError where that
  /// fails, and on devices that run no such kernels.
  virtual std::unique_ptr<Prepared> bind(const std::vector<Launch>& launches);

  /// Where libraries enqueue their work; nullptr on the host.
  virtual CUstream_st* stream() const { return nullptr; }

  /// Runs `work` once and waits. Throws CaseError when it fails.
  virtual void run(Prepared& work) = 0;
  /// `count` timings in microseconds, each of one launch, rests not included; `cold` evicts the last-level
  /// cache before each.
  virtual std::vector<double> sample_us(Prepared& work, const Sampling& sampling, int count) = 0;
  /// Smallest time difference the timer can tell, in microseconds.
  virtual double timer_resolution_us() const = 0;
  virtual ClockReading clocks() { return {}; }
  /// Names what follows for tools that watch from outside (NVTX: ncu, nsys), until end_range().
  virtual void begin_range(const std::string& /*name*/) {}
  virtual void end_range() {}
};

}  // namespace attnprof
