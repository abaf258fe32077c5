// The three passes of the materialising host baseline: what the threads run, compiled once per instruction
// set.
#pragma once

#include <cstdint>

#include "core/implementation.hpp"
#include "core/problem.hpp"

namespace attnprof {

/// Most rows of S that one task of the two products computes: packing K or V is shared by all of them.
constexpr int64_t kNaiveBlockRows = 384;
/// Keys packed at a time.
constexpr int64_t kNaiveBlockKeys = 128;
/// Rows that one task of the softmax pass handles.
constexpr int64_t kNaiveSoftmaxRows = 32;

/// A launch as every thread sees it. S and P are [batch, heads, seqlen_q, seqlen_kv] in the problem's dtype.
struct NaiveLaunch {
  Problem problem;
  Tensors tensors;
  void* s = nullptr;
  void* p = nullptr;
  int64_t block_rows = kNaiveBlockRows;  ///< fewer where there would not be work for all threads

  int64_t heads() const { return problem.batch * problem.heads; }
  int64_t row_blocks() const { return (problem.seqlen_q + block_rows - 1) / block_rows; }
  int64_t softmax_blocks() const { return (problem.seqlen_q + kNaiveSoftmaxRows - 1) / kNaiveSoftmaxRows; }
};

/// Floats of scratch that one thread needs.
int64_t naive_scratch_floats(const Problem& p);

/// One block of rows of one head of each pass. All add what crossed between main memory and the working set
/// to `traffic`; `scratch` holds naive_scratch_floats() floats, 64-byte aligned.
void naive_scores(const NaiveLaunch& launch, int64_t head, int64_t block, float* scratch, Traffic& traffic);
void naive_softmax(const NaiveLaunch& launch, int64_t head, int64_t block, float* scratch, Traffic& traffic);
void naive_output(const NaiveLaunch& launch, int64_t head, int64_t block, float* scratch, Traffic& traffic);

}  // namespace attnprof
