#include "core/axes.hpp"

#include <fmt/format.h>

#include "core/error.hpp"

namespace attnprof {
namespace {

constexpr size_t kMaxCases = 1'000'000;

/// The axis, or the one value that stands for it when it was not given.
std::vector<int64_t> or_default(const std::vector<int64_t>& axis, int64_t value) {
  return axis.empty() ? std::vector<int64_t>{value} : axis;
}

int64_t default_heads(const Axes& axes, int64_t head_dim) {
  return std::max<int64_t>(1, axes.hidden / head_dim);
}
int64_t default_batch(const Axes& axes, int64_t seqlen) {
  return axes.tokens ? std::max<int64_t>(1, *axes.tokens / seqlen) : 1;
}

/// Why a problem makes no sense; "" when it does.
std::string complaint(const Problem& p) {
  try {
    validate(p);
    return "";
  } catch (const UsageError& e) {
    return e.what();
  }
}

/// Calls `visit(problem)` for every combination, in the documented order.
template <class Visit>
void for_each_problem(const Axes& axes, Visit visit) {
  Problem p;
  p.scale = axes.scale;
  p.fill = axes.fill;
  p.seed = axes.seed;
  for (Pass pass : axes.passes)
    for (DType dtype : axes.dtypes)
      for (int64_t head_dim : axes.head_dims)
        for (int64_t heads : or_default(axes.heads, default_heads(axes, head_dim)))
          for (int64_t kv_heads : or_default(axes.kv_heads, heads))
            for (int64_t seqlen : axes.seqlens)
              for (int64_t batch : or_default(axes.batches, default_batch(axes, seqlen)))
                for (int64_t seqlen_kv : or_default(axes.seqlens_kv, seqlen))
                  for (int64_t window : axes.windows)
                    for (bool causal : axes.causal) {
                      p.pass = pass;
                      p.dtype = dtype;
                      p.head_dim = head_dim;
                      p.heads = heads;
                      p.kv_heads = kv_heads;
                      p.seqlen_q = seqlen;
                      p.seqlen_kv = seqlen_kv;
                      p.batch = batch;
                      p.window = window;
                      p.causal = causal;
                      visit(p);
                    }
}

}  // namespace

std::vector<PlannedCase> expand(const Axes& axes) {
  if (axes.tokens && !axes.batches.empty()) {
    throw UsageError("--tokens and --batch contradict each other: batch = tokens / seqlen; give one of them");
  }
  std::vector<PlannedCase> cases;
  bool any_valid = false;
  for_each_problem(axes, [&](const Problem& p) {
    const std::string invalid = complaint(p);
    any_valid = any_valid || invalid.empty();
    for (const auto& [tile_m, tile_n] : axes.tiles) {
      for (const std::string& impl : axes.impls) {
        if (cases.size() == kMaxCases) {
          throw UsageError(fmt::format("the axes make more than {} cases; give fewer values", kMaxCases));
        }
        PlannedCase& added = cases.emplace_back();
        added.planned.problem = p;
        added.planned.impl = impl;
        added.planned.config.tile_m = tile_m;
        added.planned.config.tile_n = tile_n;
        added.invalid = invalid;
      }
    }
  });
  if (!any_valid) {
    throw UsageError(cases.empty() ? "the axes make no case; give --seqlen"
                                   : "no case makes sense: " + cases.front().invalid);
  }
  return cases;
}

}  // namespace attnprof
