// Which rows of two sides are the same case: the one matcher of compare and check.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "rows/row.hpp"

namespace attnprof {

/// Why times of these two must not be compared; "" when it is the same device.
std::string device_difference(const Row& a, const Row& b);
/// The same, or else "driver 580 against 575": a time depends on it, too.
std::string machine_difference(const Row& a, const Row& b);

/// No difference of device, as far as is known; any board of the same model.
bool same_device(const Row& a, const Row& b);
bool same_model(const Row& a, const Row& b);

/// What two rows share that are one case.
enum class MatchBy {
  device,           ///< the key, on the same device
  model,            ///< the key, on any board of the same model
  key,              ///< the key, which holds the kind of device and its threads
  key_but_backend,  ///< the rest of the key, on different devices: a case of a GPU and of a CPU
};

/// For each row of `after` the index of its partner in `before`, if it has one. The rules hold one after the
/// other, each for rows that are still without a partner; of several that fit, the first is taken.
std::vector<std::optional<size_t>> match_rows(const std::vector<Row>& before, const std::vector<Row>& after,
                                              const std::vector<MatchBy>& rules);

/// The row with the fewest key columns that differ, the first of several.
struct Nearest {
  const Row* row = nullptr;  ///< nullptr when there was none to look at
  std::vector<std::string_view> differing;
};
/// Among those of `others` that `counts` admits; looks at `most` of them.
Nearest nearest_row(const Row& row, const std::vector<Row>& others,
                    const std::function<bool(const Row&)>& counts = {}, size_t most = SIZE_MAX);

/// For sentences about rows that differ: "none" for an empty cell.
std::string_view cell_or_none(const Row& row, std::string_view column);

}  // namespace attnprof
