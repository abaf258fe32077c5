// The one table of CSV columns: {name, unit, what it means, getter}. Rows, header, JSON, docs and tests come
// from it.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <variant>
#include <vector>

#include "core/cell.hpp"
#include "core/record.hpp"

namespace attnprof {

class Row;

/// An absent value makes an empty cell.
template <typename T>
Cell cell_of(const std::optional<T>& value) {
  if (!value) return std::monostate{};
  return Cell(static_cast<std::conditional_t<std::is_floating_point_v<T>, double, int64_t>>(*value));
}
/// Every text is a text cell, an empty one too.
inline Cell text_cell(std::string_view text) {
  return std::string(text);
}

struct Column {
  std::string_view name;     ///< stable; additions only
  std::string_view unit;     ///< "us", "bytes", "flop", "" for names and ratios
  std::string_view meaning;  ///< one sentence, with the source of the figure
  bool is_key;               ///< part of what identifies a planned row (used by --resume and by comparisons)
  std::function<Cell(const Record&)> get;  ///< empty for a column that is derived
  Cell (*derive)(const Row&) = nullptr;    ///< from the other cells of the same row
  bool is_text = false;                    ///< a string in JSON; columns() finds out
};

constexpr int kSchemaVersion = 1;

/// Every column, in the order in which they are written.
const std::vector<Column>& columns();
std::vector<std::string> column_names();
/// Names of the columns that identify a row.
const std::vector<std::string_view>& key_columns();

/// nullptr when this version has no such column.
const Column* find_column(std::string_view name);

/// docs/columns.md, generated from the table: what `attnprof list columns` prints.
std::string columns_markdown();

// The words that cells hold.
inline constexpr std::array kStatuses{Status::ok,     Status::skipped,       Status::unsupported, Status::oom,
                                      Status::failed, Status::verify_failed, Status::no_samples};
std::string_view to_string(
    Status status);  ///< "ok", "skipped", "unsupported", "oom", "failed", "verify-failed", "no-samples"
std::string_view to_string(BytesSource source);  ///< "", "counted", "cupti"
std::string_view to_string(CacheMode cache);     ///< "cold", "hot"
std::string_view to_string(DeviceKind kind);     ///< "cpu", "gpu"

}  // namespace attnprof
