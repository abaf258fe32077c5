// From a KernelSpec to machine code for one architecture, through NVRTC; no GPU is needed.
#pragma once

#include <compare>
#include <optional>
#include <string>
#include <vector>

#include "core/embedded_file.hpp"
#include "core/implementation.hpp"
#include "gpu/device/cubin_cache.hpp"

namespace attnprof {

/// What the compiler is asked to generate code for.
struct CompileTarget {
  std::string arch;  ///< "sm_90a", or "compute_90" for PTX that the driver compiles
  bool ptx = false;
  std::string note;  ///< why it is not the device's own architecture; "" when it is
};

/// The best target that a compiler knowing `archs` (ascending, as NvrtcApi::archs) has for a device of
/// `compute_capability`: its own architecture, with the "a" features from 9.0 on; else machine code of a
/// lower minor version of the same major; else PTX of the highest lower one. Nothing when the device is older
/// than all of them.
std::optional<CompileTarget> choose_target(int compute_capability, const std::vector<int>& archs);

struct CompiledCubin {
  std::string code;  ///< cubin, or PTX text
  CompileTarget target;
  KernelResources resources;  ///< from ptxas; zeros for PTX. smem_bytes: static shared memory
  std::string log;            ///< all that the compiler said
  std::string key;            ///< in the cache
  double compile_ms = 0;      ///< 0 when it came from the cache
};

struct NvrtcVersion {
  int major = 0;
  int minor = 0;
  auto operator<=>(const NvrtcVersion&) const = default;
};

/// Everything that a binary depends on besides the source: part of the cache key.
/// --use_fast_math is not among them: kernels name the fast operations they mean (ex2.approx and so on).
std::vector<std::string> compile_options(const KernelSpec& spec, const CompileTarget& target,
                                         NvrtcVersion nvrtc);

/// Compiles `spec` for a device of `compute_capability` (90 for 9.0), or takes it from `cache`. `sources`
/// holds every file it may include. Thread-safe. Throws CaseError: NVRTC is missing; it has no code for this
/// device (names the architecture, NVRTC's version and what would be right); or the first error line and
/// where the whole log is.
CompiledCubin compile_for_arch(const KernelSpec& spec, int compute_capability, const CubinCache& cache,
                               const std::vector<EmbeddedFile>& sources = device_sources());

/// Registers, spills and static shared memory out of ptxas -v text. Spills: stores plus loads, bytes per
/// thread.
KernelResources parse_ptxas(const std::string& log);

/// "flash2.cu:attention -DATTNPROF_TILE_M=128 ..." for messages.
std::string describe(const KernelSpec& spec);

}  // namespace attnprof
