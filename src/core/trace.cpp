#include "core/trace.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/error.hpp"

namespace attnprof {
namespace {

void require_usable(const std::vector<double>& scores, const std::vector<double>& values, int tile) {
  if (scores.empty()) throw UsageError("trace: no scores; e.g. --scores 2,1,3,0");
  if (scores.size() != values.size()) {
    throw UsageError(fmt::format("trace: {} scores but {} values; give one value per score", scores.size(),
                                 values.size()));
  }
  if (tile < 1) throw UsageError(fmt::format("trace: tile {} is below 1", tile));
  for (const std::vector<double>* list : {&scores, &values}) {
    for (double x : *list) {
      if (!std::isfinite(x)) throw UsageError(fmt::format("trace: {} is not a finite number", x));
    }
  }
}

}  // namespace

std::vector<TraceStep> trace_online_softmax(const std::vector<double>& scores,
                                            const std::vector<double>& values, int tile) {
  require_usable(scores, values, tile);
  std::vector<TraceStep> steps;
  double m = -std::numeric_limits<double>::infinity(), l = 0, u = 0;
  const size_t width = static_cast<size_t>(tile);
  for (size_t begin = 0; begin < scores.size(); begin += width) {
    const size_t end = std::min(begin + width, scores.size());
    const double tile_max = *std::max_element(scores.begin() + static_cast<std::ptrdiff_t>(begin),
                                              scores.begin() + static_cast<std::ptrdiff_t>(end));
    const double new_m = std::max(m, tile_max);
    // Everything accumulated so far was relative to the old maximum. Before the first tile there is nothing.
    const double rescale = std::isinf(m) ? 0.0 : std::exp(m - new_m);
    m = new_m;
    l *= rescale;
    u *= rescale;
    for (size_t j = begin; j < end; ++j) {
      const double weight = std::exp(scores[j] - m);
      l += weight;
      u += weight * values[j];
    }
    steps.push_back({static_cast<int>(begin), static_cast<int>(end - 1), m, rescale, l, u, u / l});
  }
  return steps;
}

double full_softmax_output(const std::vector<double>& scores, const std::vector<double>& values) {
  require_usable(scores, values, 1);
  const double m = *std::max_element(scores.begin(), scores.end());
  double sum = 0, weighted = 0;
  for (size_t j = 0; j < scores.size(); ++j) {
    const double weight = std::exp(scores[j] - m);
    sum += weight;
    weighted += weight * values[j];
  }
  return weighted / sum;
}

}  // namespace attnprof
