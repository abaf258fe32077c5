// What a file already holds, so that a sweep can go on where it stopped.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/device.hpp"
#include "rows/csv.hpp"
#include "rows/row.hpp"

namespace attnprof {

/// Contents of a CSV to be resumed. open_csv(append) cuts a last line without line end off.
struct ResumeInfo {
  std::unordered_map<std::string, std::string> status_by_key;  ///< record_key of every row -> its status
  std::vector<RowDevice> devices;                              ///< distinct ones, in order of appearance
  int64_t untimed = 0;       ///< rows with status ok but no time: what `attnprof verify` writes
  int64_t untimed_line = 0;  ///< of the first of them; 0 without one
  int64_t timed = 0;         ///< rows with status ok and a time
  int64_t kernel_line = 0;   ///< of the first row about a single kernel (--per-kernel); 0 without one
  CsvTable table;            ///< the rows themselves, cells not checked; no column when there is none

  bool has(const std::string& key) const { return status_by_key.count(key) > 0; }
};

/// Reads `path`; an absent or empty file gives an empty answer. Throws UsageError naming file and column when
/// a column of ours is missing or `schema` is another one, and what parse_csv throws.
ResumeInfo read_resume(const std::string& path);

/// Throws UsageError naming both devices when a row of `info` comes from another one (device_difference).
void require_same_device(const ResumeInfo& info, const DeviceInfo& device, const std::string& hostname,
                         const std::string& path);

}  // namespace attnprof
