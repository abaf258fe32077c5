// What can be measured: host or device, ours or a peer's, as one description.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/device.hpp"
#include "core/launch.hpp"
#include "core/problem.hpp"
#include "core/tensors.hpp"

namespace attnprof {

/// Why a case cannot run, or nothing when it can. The reason names both the value and the limit
/// ("flash2 needs head_dim in 32..256 in steps of 8, not 100").
using Unsupported = std::optional<std::string>;

/// Bytes that crossed between main memory (HBM or DRAM) and the on-chip working set.
struct Traffic {
  int64_t read_bytes = 0;
  int64_t write_bytes = 0;
  int64_t total() const { return read_bytes + write_bytes; }
  Traffic& operator+=(const Traffic& other) {
    read_bytes += other.read_bytes;
    write_bytes += other.write_bytes;
    return *this;
  }
};

/// What the schedule of an implementation implies for one case, before anything runs: the `model` columns.
struct ModelledWork {
  Traffic hbm;                 ///< bytes between HBM and chip
  int64_t executed_flops = 0;  ///< of the products, masked parts of visited tiles included
  int64_t exp_count = 0;       ///< exponentials evaluated
};

/// One of the kernels (host: passes) that a launch runs one after another, and what the schedule implies for
/// it. The sum over all is the ModelledWork of the case; what stays in a cache for the next step is charged
/// to no one.
struct ModelledStep {
  std::string_view name;  ///< stable: the `kernel` column
  ModelledWork work;
};

/// The whole launch.
inline ModelledWork sum_of(const std::vector<ModelledStep>& steps) {
  ModelledWork sum;
  for (const ModelledStep& step : steps) {
    sum.hbm += step.work.hbm;
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
  /// Implementation::workspace_bytes covers.
  virtual int64_t own_workspace_bytes() const { return 0; }
  /// "cuDNN 9.19.0" where a library computes, whose version decides what is measured; "" for our own kernels.
  virtual std::string library() const { return ""; }
};

/// A row of the registry, known by name, device and pass. What is left empty has the meaning in its comment.
struct Implementation {
  std::string name{};                      ///< what --impl accepts and the CSV prints
  DeviceKind device = DeviceKind::host;  ///< where it runs
  Pass pass = Pass::fwd;                 ///< fwd+bwd is composed of a forward and a backward row
  std::string summary{};                   ///< one line for `attnprof list`
  /// Features that it can compute beyond a plain forward pass (core/axis.hpp): the planner refuses a case
  /// that asks for any other.
  std::vector<std::string_view> takes{};
  /// Further limits, of a case whose features it takes; empty: none.
  std::function<Unsupported(const Case&, const DeviceInfo&)> limits{};
  /// Fills every 0 field of `config` with its choice for the problem; empty: it has no tiles.
  std::function<KernelConfig(const Problem&, const KernelConfig&, const DeviceInfo&)> resolve{};
  /// Configurations worth measuring for a problem, all within its limits: what `attnprof tune` chooses from.
  /// Empty: nothing to tune.
  std::function<std::vector<KernelConfig>(const Problem&, const DeviceInfo&)> candidates{};
  /// Scratch memory; empty: none.
  std::function<int64_t(const Case&, const DeviceInfo&)> workspace_bytes{};
  /// The kernels (host: passes) of one launch, in order, with what each moves and computes. `Case` is
  /// resolved here and below.
  std::function<std::vector<ModelledStep>(const Case&, const DeviceInfo&)> steps{};
  /// Our own kernels on a GPU: the launches of one case, one for each step. Without tensors (places empty)
  /// the list is the same but for addresses: what is compiled ahead. Throws CaseError for tensors that it
  /// cannot use, naming the tensor.
  std::function<std::vector<Launch>(const Case&, const DeviceInfo&, const Tensors&)> launches{};
  /// Everything else (host, libraries): throws CaseError, also for tensors that it cannot use.
  std::function<std::unique_ptr<Prepared>(const Case&, const Tensors&, Device&)> prepare{};
  /// Outputs that it does not write, and which are then not verified.
  std::vector<std::string_view> omits{};
  bool materializes = false;  ///< writes S and P to memory, rounded to the dtype: a wider tolerance applies
  /// Whose rows of the tuned table hold here too ("": its own), for variants that share tiles.
  std::string tuned_as{};

  ModelledWork model(const Case& c, const DeviceInfo& d) const { return sum_of(steps(c, d)); }
  int64_t workspace(const Case& c, const DeviceInfo& d) const {
    return workspace_bytes ? workspace_bytes(c, d) : 0;
  }
  KernelConfig resolved(const Problem& p, const KernelConfig& asked, const DeviceInfo& d) const {
    return resolve ? resolve(p, asked, d) : KernelConfig{};
  }
};

/// Why `impl` cannot run the resolved case: a feature that it does not take, or one of its limits.
Unsupported refusal(const Implementation& impl, const Case& c, const DeviceInfo& device);

/// The case bound to its tensors, by `prepare` or from `launches`.
std::unique_ptr<Prepared> prepare_case(const Implementation& impl, const Case& c, const Tensors& tensors,
                                       Device& device);

/// fwd+bwd: both passes in one launch, the forward one with the tile asked for, the backward one with its own
/// default. They share the workspace, and O and LSE pass from one to the other.
Implementation composed(const Implementation& forward, const Implementation& backward);

}  // namespace attnprof
