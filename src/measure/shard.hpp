// One sweep over several machines: which of the planned problems each of them measures.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "core/device.hpp"
#include "core/stats.hpp"
#include "measure/plan.hpp"

namespace attnprof {

/// Shard `index` of `count`, from 1. 1 of 1 is the whole sweep.
struct Shard {
  int index = 1;
  int count = 1;
};

/// Highest count that parse_shard takes.
constexpr int kMaxShards = 10'000;

/// "2/4". Throws UsageError that quotes the text: not two whole numbers, 0, an index above the count, more
/// than kMaxShards.
Shard parse_shard(std::string_view text);

/// About how long measuring the row takes, in seconds; for dealing rows out, not for people. The time of a
/// launch follows from the FLOPs at a nominal rate, samples from the rule, and every row has a fixed part.
double predicted_seconds(const PlannedRow& row, const DeviceInfo& device, const stats::StoppingRule& rule);

/// The rows of one shard, in planned order. Rows of one problem stay together, since they are measured
/// interleaved. The longest problem goes first, each to the shard with the least so far (Graham, Bounds on
/// multiprocessing timing anomalies, 1969: no shard takes more than 4/3 of what the best deal would). The
/// same plan is dealt the same way everywhere; every row is in exactly one shard.
std::vector<PlannedRow> rows_of_shard(const std::vector<PlannedRow>& rows, Shard shard,
                                      const std::function<double(const PlannedRow&)>& seconds);

/// Name of a plan: the same for the same keys in the same order. Begins with a letter, so that no reader
/// takes it for a number.
std::string plan_name(const std::vector<std::string>& row_keys);

}  // namespace attnprof
