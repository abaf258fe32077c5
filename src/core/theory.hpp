// One definition of FLOPs and one of bytes: what the mathematics needs, whoever computes it.
#pragma once

#include <cstdint>

#include "core/implementation.hpp"
#include "core/problem.hpp"

namespace attnprof {

/// Unmasked query-key pairs of one head: sum over rows of |visible_keys(row)|. O(1) where a closed form
/// exists, O(seqlen_q) otherwise; exact in either case.
int64_t visible_pairs(const Problem& p);

/// FLOPs of the matrix products (multiply and add count 2), exact for the mask.
/// fwd: QK^T and PV, 4 * batch * heads * head_dim * pairs. bwd: dV, dP, dQ, dK and the recomputed S: 10 * ...
int64_t algorithmic_flops(const Problem& p);

/// Compulsory HBM bytes: every input read once and every output written once (core/tensors.hpp).
Traffic compulsory_traffic(const Problem& p);

/// Bytes of one tensor of the problem.
int64_t q_bytes(const Problem& p);
int64_t kv_bytes(const Problem& p);  ///< K alone (V is the same)
int64_t o_bytes(const Problem& p);
int64_t lse_bytes(const Problem& p);
/// One batch x heads x seqlen_q x seqlen_kv matrix in the input dtype (S, or P).
int64_t score_matrix_bytes(const Problem& p);

/// Pairs inside the tiles that a tile_m x tile_n schedule visits in one head (tiles with no visible pair are
/// skipped): >= visible_pairs, the surplus being the waste on the diagonal and at the edges.
int64_t executed_pairs(const Problem& p, int tile_m, int tile_n);

/// Score slots held at once: the whole matrix of a head, against one tile ("16,777,216 scores against
/// 4,096").
int64_t score_slots(const Problem& p);

}  // namespace attnprof
