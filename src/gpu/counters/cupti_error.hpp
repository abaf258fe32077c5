// Why counters cannot be had: CUPTI's many refusals mapped to a few causes, each with its cure.
#pragma once

#include <cupti_result.h>

#include <stdexcept>
#include <string>
#include <string_view>

namespace attnprof {

/// One word for the status column: "permission", "busy", "version", "missing", "mig", "unsupported",
/// "confidential", "metric", "memory", "failed".
std::string_view counter_cause(CUptiResult result);

/// One line for a person: what `cause` means on this machine and what to do about it.
std::string counter_cure(std::string_view cause);

/// Thrown and caught inside the CUPTI part; never leaves it.
class CuptiError : public std::runtime_error {
 public:
  CuptiError(const std::string& attempt, CUptiResult result);
  CuptiError(std::string cause, const std::string& message)
      : std::runtime_error(message), cause_(std::move(cause)) {}
  const std::string& cause() const { return cause_; }

 private:
  std::string cause_;
};

void check_cupti(CUptiResult result, const char* attempt);

}  // namespace attnprof
