// What the plan of the materialising baseline (naive_gpu.cpp) and its launch (naive_launch_gpu.cpp) share.
#pragma once

#include <cstdint>
#include <memory>

#include "core/implementation.hpp"

namespace attnprof {

/// Scratch of cuBLASLt, behind S and P in the workspace.
inline constexpr int64_t kProductWorkspaceBytes = int64_t{32} << 20;

/// Elements from one row of S or P to the next: rows are padded to 16 bytes, so that the softmax's accesses
/// are aligned in every row.
int64_t score_pitch(const Problem& p);
/// Bytes of S (or P) with that padding, rounded up to 256.
int64_t padded_scores_bytes(const Problem& p);

/// How many threads share a row of the softmax, and how much of it each keeps in registers.
struct SoftmaxShape {
  int threads = 32;
  int rows_per_block = 1;
  int vectors = 8;
  bool resident = true;
};
SoftmaxShape softmax_shape(const Problem& p);
KernelSpec softmax_spec(const Problem& p);

/// Throws CaseError for operands that do not stand on 16 bytes; UnavailableError in a build without CUDA.
std::unique_ptr<Prepared> prepare_naive(const Case& c, const Tensors& t, Device& device);

}  // namespace attnprof
