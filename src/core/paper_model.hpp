// HBM bytes as the FlashAttention paper counts them (Dao et al. 2022, arXiv:2205.14135): between HBM and
// on-chip memory, no L2 in between. For every pass, the backward one included, which no implementation here
// runs yet.
//
// Its figure 2 (GPT-2 medium: 64 x 16 heads, 1,024 tokens, head_dim 64, forward and backward, A100)
// reports 40.3 GB for standard attention against 4.4 GB. These counts give 25.2 GB for algorithm 0 with its
// backward, 40.27 GB when the mask is added and dropout applied as steps of their own, as the authors'
// published PyTorch baseline does (benchmarks/benchmark_flash_attention.py of Dao-AILab/flash-attention,
// later than the figure, and with its dropout set to 0: that the figure ran these steps is a guess that
// fits), and 4.1 GB for FlashAttention without a mask: the measured one is 7% above. A causal mask brings the
// count for FlashAttention to 2.9 GB (tests/paper_model_test.cpp holds these figures).
#pragma once

#include <cstdint>

#include "core/implementation.hpp"
#include "core/problem.hpp"

namespace attnprof {

/// Standard attention: algorithm 0 (forward) and algorithm 3 (backward). Masks change nothing: the whole
/// matrix moves.
Traffic standard_traffic(const Problem& p);

/// Standard attention in a framework that adds the mask and applies dropout in steps of their own: 18 passes
/// over the matrix instead of 11. Dropout keeps a mask of one byte per element for the backward pass (for
/// 16-bit dtypes, one pass of those 18).
Traffic unfused_traffic(const Problem& p);

/// FlashAttention: algorithms 1 and 4, the outer loop over blocks of keys. `onchip_bytes` is M, the memory of
/// one SM: it gives the block of ceil(M / 4d) keys. A block costs the rows
/// that see a key of it. This is FlashAttention-1's order: K and V are read once, Q and O once for every
/// block of keys; FlashAttention-2 turns the loops round. Query heads that share a KV head count its bytes
/// once.
Traffic flash_traffic(const Problem& p, int64_t onchip_bytes);

}  // namespace attnprof
