// The one interface that everything measured satisfies: host or device, ours or a peer's.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/device.hpp"
#include "core/problem.hpp"

namespace attnprof {

/// Why a case cannot run, or nothing when it can. The reason names both the value and the limit
/// ("flash2 needs head_dim in 32..256 in steps of 8, not 100").
using Unsupported = std::optional<std::string>;

/// Operand addresses, host or device memory according to the implementation. Layout: see Problem.
struct Tensors {
  const void* q = nullptr;
  const void* k = nullptr;
  const void* v = nullptr;
  void* o = nullptr;
  float* lse = nullptr;
  void* workspace = nullptr;  ///< workspace_bytes(case) bytes, 256-byte aligned
};

/// Bytes that crossed between main memory (HBM or DRAM) and the on-chip working set.
struct Traffic {
  int64_t read_bytes = 0;
  int64_t write_bytes = 0;
  int64_t total() const { return read_bytes + write_bytes; }
};

/// What the schedule of an implementation implies for one case, before anything runs: the `model` columns.
struct ModelledWork {
  Traffic hbm;                 ///< bytes between HBM and chip
  int64_t executed_flops = 0;  ///< of the two products, masked parts of visited tiles included
  int64_t exp_count = 0;       ///< exponentials evaluated
};

/// One of several kernels (host: passes) that a launch runs one after another, and what the schedule implies
/// for it. The sum over all is the ModelledWork of the case; what stays in a cache for the next step is
/// charged to no one.
struct ModelledStep {
  std::string_view name;  ///< stable: the `kernel` column
  ModelledWork work;
};

/// The whole launch.
inline ModelledWork sum_of(const std::vector<ModelledStep>& steps) {
  ModelledWork sum;
  for (const ModelledStep& step : steps) {
    sum.hbm.read_bytes += step.work.hbm.read_bytes;
    sum.hbm.write_bytes += step.work.hbm.write_bytes;
    sum.executed_flops += step.work.executed_flops;
    sum.exp_count += step.work.exp_count;
  }
  return sum;
}

/// One step of the last launch, as a host implementation saw it.
struct StepReading {
  double us = 0;
  Traffic traffic;
};

/// One device kernel to compile at run time: a file of kernels/ or baselines/ plus its macro definitions.
struct KernelSpec {
  std::string source;                                        ///< "kernels/flash2/flash2.cu"
  std::string entry;                                         ///< extern "C" name of the __global__ function
  std::vector<std::pair<std::string, std::string>> defines;  ///< {"ATTNPROF_TILE_M", "128"}
  bool operator==(const KernelSpec&) const = default;
};

/// What the compiler made of a kernel; columns of the CSV. Largest values when an implementation has several.
struct KernelResources {
  int registers_per_thread = 0;
  int64_t spill_bytes = 0;
  int64_t smem_bytes = 0;  ///< static + dynamic, per block
};

/// A case that is ready to run: compiled, planned, bound to its tensors.
class Prepared {
 public:
  virtual ~Prepared() = default;
  /// Enqueues the whole computation once (device), or runs it to the end (host). Every launch is checked:
  /// throws CaseError when the device refuses one.
  virtual void launch() = 0;
  /// Bytes counted at the boundary during the last launch(); host implementations only.
  virtual std::optional<Traffic> counted() const { return std::nullopt; }
  /// Enqueues one of the steps that Implementation::steps names (device). All in order are one launch().
  virtual void launch_step(size_t /*index*/) { launch(); }
  /// Every step of the last launch(); host implementations of several passes only.
  virtual std::vector<StepReading> step_readings() const { return {}; }
  virtual std::optional<KernelResources> resources() const { return std::nullopt; }
  /// Time spent compiling for this case, in this process; 0 when the cubin came from the cache.
  virtual double compile_ms() const { return 0.0; }
  /// Device memory that it allocated itself, its need being known only now; 0 for all that
  /// workspace_bytes(Case) covers.
  virtual int64_t own_workspace_bytes() const { return 0; }
  /// "cuDNN 9.19.0" where a library computes, whose version decides what is measured; "" for our own kernels.
  virtual std::string library() const { return ""; }
};

/// A row of the registry. Plain functions; all take what they need and keep no state.
struct Implementation {
  std::string_view name;     ///< what --impl accepts and the CSV prints
  DeviceKind device;         ///< where it runs; a name may exist once per kind
  std::string_view summary;  ///< one line for `attnprof list`
  Unsupported (*supports)(const Case&, const DeviceInfo&);
  /// Fills every 0 field of `config` with this implementation's choice for the problem; keeps all 0 if
  /// untiled.
  KernelConfig (*resolve)(const Problem&, const KernelConfig&, const DeviceInfo&);
  int64_t (*workspace_bytes)(const Case&, const DeviceInfo&);
  ModelledWork (*model)(const Case&, const DeviceInfo&);
  /// Kernels to compile before anything is measured; empty on the host. `Case` is resolved.
  std::vector<KernelSpec> (*kernels)(const Case&, const DeviceInfo&);
  /// Throws CaseError (also for tensors whose addresses it cannot use: misaligned, named in the message).
  std::unique_ptr<Prepared> (*prepare)(const Case&, const Tensors&, Device&);
  bool materializes =
      false;               ///< writes S and P to main memory, rounded to the dtype: a wider tolerance applies
  bool writes_lse = true;  ///< fills Tensors::lse, which is then verified too
  /// Whose rows of the tuned table hold here too ("" : its own), for variants that share tiles.
  std::string_view tuned_as = "";
  /// Configurations worth measuring for a problem, all accepted by supports(): what `attnprof tune` chooses
  /// from. Null when there is nothing to tune.
  std::vector<KernelConfig> (*candidates)(const Problem&, const DeviceInfo&) = nullptr;
  /// The steps of one launch in order; nullptr where it is a single kernel.
  std::vector<ModelledStep> (*steps)(const Case&, const DeviceInfo&) = nullptr;
};

}  // namespace attnprof
