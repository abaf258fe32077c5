#include "core/axes.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/error.hpp"

namespace attnprof {
namespace {

constexpr size_t kMaxCases = 1'000'000;
/// Implementations turn inside the tiles, and outside stages and warps.
constexpr int kNestingOfImpls = 30;

/// Why a problem makes no sense; "" when it does.
std::string complaint(const Problem& p) {
  try {
    validate(p);
    return "";
  } catch (const UsageError& e) {
    return e.what();
  }
}

/// One loop of the cross product.
struct Loop {
  int nesting = 0;
  const std::vector<const Axis*>* parts = nullptr;  ///< nullptr: the implementations
  const std::vector<AxisItem>* items = nullptr;     ///< nullptr: the option was not given
};

/// Runs the loops.
class CrossProduct {
 public:
  explicit CrossProduct(const Axes& axes) : axes_(axes), sizing_{axes.hidden, axes.tokens.value_or(0)} {
    loops_.push_back({kNestingOfImpls, nullptr, nullptr});
    size_t cases = axes.impls.size();
    for (const std::vector<const Axis*>& parts : axis_options()) {
      const auto given = axes.given.find(parts.front()->option);
      const std::vector<AxisItem>* items = given == axes.given.end() ? nullptr : &given->second;
      loops_.push_back({parts.front()->nesting, &parts, items});
      cases *= items ? items->size() : 1;
      if (cases > kMaxCases)
        throw UsageError(fmt::format("the axes make more than {} cases; give fewer values", kMaxCases));
    }
    std::stable_sort(loops_.begin(), loops_.end(),
                     [](const Loop& a, const Loop& b) { return a.nesting < b.nesting; });
  }

  std::vector<PlannedCase> run() {
    nest(0);
    return std::move(cases_);
  }

 private:
  void nest(size_t level) {
    if (level == loops_.size()) {
      cases_.push_back({case_, complaint(case_.problem)});
      return;
    }
    const Loop& loop = loops_[level];
    if (loop.parts == nullptr) {
      for (const std::string& impl : axes_.impls) {
        case_.impl = impl;
        nest(level + 1);
      }
    } else if (loop.items == nullptr) {
      for (const Axis* axis : *loop.parts)
        axis->field.set(case_, axis->follows ? axis->follows(case_, sizing_) : axis->neutral());
      nest(level + 1);
    } else {
      for (const AxisItem& item : *loop.items) {
        for (size_t part = 0; part < loop.parts->size(); ++part)
          (*loop.parts)[part]->field.set(case_, item[part]);
        nest(level + 1);
      }
    }
  }

  const Axes& axes_;
  Sizing sizing_;
  std::vector<Loop> loops_;
  Case case_;
  std::vector<PlannedCase> cases_;
};

}  // namespace

std::vector<PlannedCase> expand(const Axes& axes) {
  if (axes.tokens && axes.given.contains("batch")) {
    throw UsageError("--tokens and --batch contradict each other: batch = tokens / seqlen; give one of them");
  }
  if (!axes.given.contains("seqlen")) throw UsageError("the axes make no case; give --seqlen");
  std::vector<PlannedCase> cases = CrossProduct(axes).run();
  const bool any_valid =
      std::any_of(cases.begin(), cases.end(), [](const PlannedCase& c) { return c.invalid.empty(); });
  if (!any_valid && !cases.empty()) throw UsageError("no case makes sense: " + cases.front().invalid);
  return cases;
}

}  // namespace attnprof
