// The gate's counts: bytes, FLOPs and workspace of one case. Inside src/gate.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "gate/cases.hpp"
#include "gate/gate.hpp"

namespace attnprof {

struct Count {
  std::string_view column;
  Subject subject;
  bool measured;  ///< by counters, on a GPU; where bytes are counted they are exact
};
constexpr Count kCounts[] = {
    {"hbm_read_bytes", Subject::bytes, true},       {"hbm_write_bytes", Subject::bytes, true},
    {"tensor_flops", Subject::flops, true},         {"fp32_flops", Subject::flops, true},
    {"executed_flops", Subject::flops, false},      {"exp_count", Subject::flops, false},
    {"workspace_bytes", Subject::workspace, false},
};

struct CountVerdict {
  Outcome outcome = Outcome::same;
  std::string before, after, change, reason;
};
/// Nothing when the baseline lacks it. `other_model`: how the two models of device differ, on which measured
/// counts cannot be compared; "" for one model.
std::optional<CountVerdict> judge_count_of(const MatchedCase& c, const Count& count, const Limits& limits,
                                           const std::string& other_model);

}  // namespace attnprof
