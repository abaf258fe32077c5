// The online softmax by hand: what `attnprof trace` prints.
#pragma once

#include <vector>

namespace attnprof {

/// State after one tile of one query row (Milakov & Gimelshein 2018, algorithm 3; FlashAttention, algorithm
/// 1).
struct TraceStep {
  int first_key = 0;
  int last_key = 0;    ///< inclusive
  double m = 0;        ///< largest score so far
  double rescale = 0;  ///< exp(m_old - m_new): factor on everything accumulated; 0 before the first tile
  double l = 0;        ///< sum of exp(score - m)
  double u = 0;        ///< sum of exp(score - m) * value
  double output = 0;   ///< u / l: softmax-weighted mean of the values seen so far
};

std::vector<TraceStep> trace_online_softmax(
    const std::vector<double>& scores, const std::vector<double>& values,
    int tile);  ///< throws UsageError: sizes differ, empty, tile < 1, non-finite
double full_softmax_output(const std::vector<double>& scores, const std::vector<double>& values);

}  // namespace attnprof
