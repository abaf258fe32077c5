// Cases that have something in common, judged together: each within its own limit, all slower by as much.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "gate/judge.hpp"
#include "rows/row.hpp"

namespace attnprof {

/// The cases of one implementation, of one head_dim, ..., or all of them.
struct Family {
  std::string name;             ///< "impl fused"; "" for all cases
  std::vector<size_t> members;  ///< indices of cases, ascending
};
/// Fewest cases of a family, and fewest others to compare it with: a median of fewer is one or two cases,
/// which are judged by themselves.
constexpr size_t kFewestOfFamily = 4;

/// One for every value of every key column, and of device_name, that some of the rows have and others have
/// not; before them, all rows. Values that the same rows have are one family, by the name of the first.
std::vector<Family> families_of(const std::vector<Row>& rows);

struct FamilyVerdict {
  size_t family = 0;             ///< index
  double change = 0;             ///< median over its cases, a share; of what no family before it explains
  std::optional<double> others;  ///< the same of all other cases
  double detectable = 0;         ///< change, as a share, from which on it would have been found
};

/// The families that became slower, the one that explains most of all movement first: an implementation, not
/// one of its tiles.
///
/// A family is slower when the median of its cases rose by more than half of their threshold *and* by more
/// than noise explains, at `alpha` for all families together (Holm). The median: more than half of its cases
/// have to have moved, and a few that moved far are no family. Where the other cases rose as well, only what
/// goes beyond them counts: a whole run may be slower. The noise of the median is that of its cases (by
/// themselves, or as they scatter about it, where that is more) over the root of their number, beside a part
/// that they share and no number of cases averages away: half of what is assumed between runs; for all
/// cases together, which nothing is compared with, the whole of it. On an H200 families of a build moved by
/// 0.01 to 0.06% against each other with rests, by up to 0.17% without (standard deviation; docs/results/
/// repeats).
///
/// What one family explains is taken from its cases before the next is looked for: when an implementation is
/// slower, so are the head_dims that it alone was measured with.
std::vector<FamilyVerdict> slower_families(const std::vector<TimeCase>& cases,
                                           const std::vector<TimeVerdict>& verdicts,
                                           const std::vector<Family>& families, double alpha);

}  // namespace attnprof
