// The one table of CSV columns: {name, unit, what it means, getter}. Header, CSV, JSON, docs and tests come
// from it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "core/cell.hpp"
#include "core/record.hpp"

namespace attnprof {

struct Column {
  std::string_view name;     ///< stable; additions only
  std::string_view unit;     ///< "us", "bytes", "flop", "" for names and ratios
  std::string_view meaning;  ///< one sentence, with the source of the figure
  bool is_key;               ///< part of what identifies a planned row (used by --resume and by comparisons)
  Cell (*get)(const Record&);
};

constexpr int kSchemaVersion = 1;

/// Every column, in the order in which they are written.
const std::vector<Column>& columns();

/// docs/columns.md, generated from the table: what `attnprof list columns` prints.
std::string columns_markdown();

// The words that cells hold.
std::string_view to_string(
    Status status);  ///< "ok", "skipped", "unsupported", "oom", "failed", "verify-failed", "no-samples"
std::string_view to_string(BytesSource source);  ///< "", "counted", "cupti"
std::string_view to_string(CacheMode cache);     ///< "cold", "hot"
std::string_view to_string(DeviceKind kind);     ///< "cpu", "gpu"

}  // namespace attnprof
