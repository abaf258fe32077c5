// Which rows of two builds are the same case. Inside src/gate.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "rows/rows.hpp"

namespace attnprof {

/// One case: its rows in the baselines and in the new files, at most one of each.
struct MatchedCase {
  std::vector<Row> before, after;
};

template <class Predicate>
bool any_row(const std::vector<Row>& rows, Predicate&& is) {
  return std::any_of(rows.begin(), rows.end(), is);
}
template <class Predicate>
bool every_row(const std::vector<Row>& rows, Predicate&& is) {
  return std::all_of(rows.begin(), rows.end(), is);
}

struct Matching {
  std::vector<MatchedCase> cases;      ///< in the order of their first appearance, baselines first
  std::vector<Row> of_absent_devices;  ///< new rows of devices that the baselines hold no row of
  std::vector<std::string> warnings;   ///< one for each device of a file that the other side holds no row of
};

/// A file may hold a key for several devices: each is a case of its own, compared with the same device of the
/// other side, or against another board of its model. Only when the sides share no model is one device
/// compared with another. Rows about one kernel of a launch are left out: their case's own row holds their
/// sum. Throws UsageError when repeats on one side come from different devices or drivers, UnavailableError
/// when the sides share no case and no kind of device.
Matching match_cases(const std::vector<RowFile>& baselines, const std::vector<RowFile>& news);

/// How the row nearest to `missing` among `others` differs: "the new file has it with threads 4 instead of
/// 2"; "" when none computes the same problem with the same implementation.
std::string nearest_case(const Row& missing, const std::vector<Row>& others);

}  // namespace attnprof
