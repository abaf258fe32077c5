// Measured ceilings as text: CSV (which is also the cache file), JSON, and a table for people.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "core/ceiling_list.hpp"

namespace attnprof {

/// Ceilings, and where and when they were measured.
struct CeilingReport {
  CeilingIdentity identity;
  std::string measured_at;  ///< UTC, ISO 8601
  CeilingList list;
  std::optional<int64_t> age_s;  ///< set when they come from the cache
};

/// One line per value, the identity in each: name, bytes, value, unit, how, scope, cached, device,
/// device_name, device_uuid, driver, cuda, power_limit_w, threads, hostname, tool_version, measured_at.
std::string ceilings_csv(const CeilingReport& report);

/// Reads it back; `cached` and `age_s` are the reader's affair. Throws UsageError "FILE:LINE: ..." for what
/// cannot be right: a missing column, no rows, a value that is not a positive number, an unknown word, two
/// identities.
CeilingReport parse_ceilings_csv(const std::string& text, const std::string& file);

/// One object: the identity, and "ceilings": an array of {name, bytes, value, unit, how}.
std::string ceilings_json(const CeilingReport& report);

/// The device, whether and how old the cache is, a line per value, and memory rates by size side by side.
std::string ceilings_table(const CeilingReport& report);

}  // namespace attnprof
