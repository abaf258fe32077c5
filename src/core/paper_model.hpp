// HBM bytes as the FlashAttention paper counts them (Dao et al. 2022, arXiv:2205.14135): between HBM and
// on-chip memory, no L2 in between. For every pass, the backward one included, which no implementation here
// runs yet.
//
// Its figure 2 (GPT-2 medium: 64 x 16 heads, 1,024 tokens, head_dim 64, forward and backward, A100)
// reports 40.3 GB for standard attention against 4.4 GB. These counts give 25.2 GB for algorithm 0 with its
// backward, 53.2 GB when scale, mask, softmax and dropout are each a step of their own, as in an unfused
// framework, and 4.1 GB for FlashAttention without a mask: the measured baseline lies between the two counts,
// the fused one 7% above. A causal mask brings the count for FlashAttention to 2.9 GB
// (tests/paper_model_test.cpp holds these figures).
#pragma once

#include <cstdint>

#include "core/implementation.hpp"
#include "core/problem.hpp"

namespace attnprof {

/// Standard attention: algorithm 0 (forward) and algorithm 3 (backward). Masks change nothing: the whole
/// matrix moves.
Traffic standard_traffic(const Problem& p);

/// Standard attention in a framework that runs scale, mask, softmax and dropout as separate steps, each
/// reading and writing the matrix, with a dropout mask of one byte per element kept for the backward pass.
Traffic unfused_traffic(const Problem& p);

/// FlashAttention: algorithms 1 and 4, the outer loop over blocks of keys. `onchip_bytes` is M, the memory of
/// one SM: it gives the block of ceil(M / 4d) keys. A block costs the rows
/// that see a key of it. This is FlashAttention-1's order: K and V are read once, Q and O once for every
/// block of keys; FlashAttention-2 turns the loops round. Query heads that share a KV head count its bytes
/// once.
Traffic flash_traffic(const Problem& p, int64_t onchip_bytes);

}  // namespace attnprof
