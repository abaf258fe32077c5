#include "state/tuned_csv.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <tuple>

#include "core/error.hpp"
#include "rows/csv.hpp"
#include "rows/table_row.hpp"

namespace attnprof {
namespace {

DeviceKind read_device(const TableRow& row) {
  if (row.text("device") == "gpu") return DeviceKind::gpu;
  if (row.text("device") == "cpu") return DeviceKind::host;
  row.refuse("device", "is not cpu or gpu");
}

int read_capability(const TableRow& row, DeviceKind device) {
  const std::string& cell = row.text("compute_capability");
  if (device == DeviceKind::host) {
    if (!cell.empty()) row.refuse("compute_capability", "is not empty, as it is on the CPU");
    return 0;
  }
  for (int major = 1; major < 100; ++major) {
    for (int minor = 0; minor < 10; ++minor) {
      if (cell == compute_capability_text(10 * major + minor)) return 10 * major + minor;
    }
  }
  row.refuse("compute_capability", "is not of the form 9.0");
}

constexpr int64_t kMaxLength = int64_t{1} << 31;
constexpr int64_t kMaxTile = int64_t{1} << 20;

/// The value that a row names for an axis; monostate when it holds for any.
Cell read_axis(const TableRow& row, const Axis& axis) {
  const std::string cell = row.optional_text(axis.name);
  if (cell.empty() && axis.kind != AxisKind::size) return std::monostate{};
  if (axis.kind == AxisKind::word) {
    const auto is_own = [&cell](const AxisWord& word) { return word.word == cell; };
    if (std::any_of(axis.words.begin(), axis.words.end(), is_own)) return cell;
    std::string known;
    for (const AxisWord& word : axis.words) known += std::string(word.word) + ", ";
    row.refuse(axis.name, fmt::format("is not {}or empty for any", known));
  }
  if (axis.kind == AxisKind::number) return *row.positive(axis.name);
  if (axis.kind == AxisKind::flag && cell != "0" && cell != "1")
    row.refuse(axis.name, "is not 0, 1, or empty for any");
  return row.whole(axis.name, axis.tuned == TunedMatch::up_to ? 1 : 0, kMaxLength);
}

/// 0 when the cell is empty: left to the implementation.
int read_choice(const TableRow& row, std::string_view column) {
  return row.text(column).empty() ? 0 : static_cast<int>(row.whole(column, 1, kMaxTile));
}

/// Nothing when the cell is empty or the column missing.
std::optional<double> read_figure(const TableRow& row, std::string_view column) {
  return row.optional_text(column).empty() ? std::nullopt : row.positive(column);
}

TunedEntry read_entry(const TableRow& row, const KnownImplementation& known) {
  TunedEntry e;
  e.key.device = read_device(row);
  e.key.impl = row.text("impl");
  if (!known(e.key.impl, e.key.device)) {
    row.refuse("impl", fmt::format("is not an implementation on the {} (see `attnprof list`)",
                                   e.key.device == DeviceKind::gpu ? "GPU; aliases do not count" : "CPU"));
  }
  e.key.compute_capability = read_capability(row, e.key.device);
  e.key.device_name = row.optional_text("device_name");
  for (const Axis* axis : tuned_axes()) {
    if (const Cell value = read_axis(row, *axis); value != Cell()) e.key.axes.emplace(axis->name, value);
  }
  e.config.tile_m = static_cast<int>(row.whole("tile_m", 1, kMaxTile));
  e.config.tile_n = static_cast<int>(row.whole("tile_n", 1, kMaxTile));
  e.config.stages = read_choice(row, "stages");
  e.config.warps = read_choice(row, "warps");
  e.time_us = read_figure(row, "time_us");
  e.default_time_us = read_figure(row, "default_time_us");
  e.speedup = read_figure(row, "speedup");
  e.speedup_lo = read_figure(row, "speedup_lo");
  e.speedup_hi = read_figure(row, "speedup_hi");
  e.message = row.optional_text("message");
  e.tool_version = row.optional_text("tool_version");
  e.timestamp = row.optional_text("timestamp");
  return e;
}

auto order(const TunedKey& k) {
  return std::tie(k.device, k.compute_capability, k.device_name, k.impl, k.axes);
}

/// The columns, each with its text for an entry.
struct TunedColumn {
  std::string name;
  std::function<std::string(const TunedEntry&)> text;
};

/// To 4 decimals: finer than any timer, and it reads well.
std::string measured_text(const std::optional<double>& value) {
  return value ? cell_text(std::round(*value * 1e4) / 1e4) : std::string();
}

std::string choice_text(int value) {
  return value == 0 ? "" : std::to_string(value);
}

std::vector<TunedColumn> tuned_columns() {
  using E = const TunedEntry&;
  std::vector<TunedColumn> all{
      {"impl", [](E e) { return e.key.impl; }},
      {"device", [](E e) { return std::string(to_string(e.key.device)); }},
      {"compute_capability", [](E e) { return compute_capability_text(e.key.compute_capability); }},
      {"device_name", [](E e) { return e.key.device_name; }}};
  for (const Axis* axis : tuned_axes()) {
    all.push_back({std::string(axis->name), [axis](E e) {
                     const auto at = e.key.axes.find(axis->name);
                     return at == e.key.axes.end() ? std::string() : cell_text(at->second);
                   }});
  }
  const std::vector<TunedColumn> rest{
      {"tile_m", [](E e) { return choice_text(e.config.tile_m); }},
      {"tile_n", [](E e) { return choice_text(e.config.tile_n); }},
      {"stages", [](E e) { return choice_text(e.config.stages); }},
      {"warps", [](E e) { return choice_text(e.config.warps); }},
      {"time_us", [](E e) { return measured_text(e.time_us); }},
      {"default_time_us", [](E e) { return measured_text(e.default_time_us); }},
      {"speedup", [](E e) { return measured_text(e.speedup); }},
      {"speedup_lo", [](E e) { return measured_text(e.speedup_lo); }},
      {"speedup_hi", [](E e) { return measured_text(e.speedup_hi); }},
      {"message", [](E e) { return e.message; }},
      {"tool_version", [](E e) { return e.tool_version; }},
      {"timestamp", [](E e) { return e.timestamp; }}};
  all.insert(all.end(), rest.begin(), rest.end());
  return all;
}

}  // namespace

std::vector<TunedEntry> parse_tuned(std::string_view text, const std::string& file,
                                    const KnownImplementation& known) {
  const CsvTable table = parse_csv(text, file);
  if (table.torn_last_row) {
    throw UsageError(
        fmt::format("{}: its last line has no line end, so it may be cut; end it, or delete it", file));
  }
  std::vector<TunedEntry> entries;
  for (const std::string_view column : {"impl", "device", "compute_capability", "dtype", "head_dim", "causal",
                                        "window", "seqlen_kv", "tile_m", "tile_n", "stages", "warps"}) {
    table.column(column);  // of every version, and also of a file without rows
  }
  for (size_t i = 0; i < table.rows.size(); ++i) {
    TunedEntry entry = read_entry(TableRow(table, i), known);
    entry.origin = file;
    const auto same = [&entry](const TunedEntry& e) { return e.key == entry.key; };
    const auto first = std::find_if(entries.begin(), entries.end(), same);
    if (first != entries.end()) {
      throw UsageError(fmt::format("{}:{}: column 'impl': the same case as line {}; delete one of them", file,
                                   table.row_lines[i],
                                   table.row_lines[static_cast<size_t>(first - entries.begin())]));
    }
    entries.push_back(std::move(entry));
  }
  return entries;
}

std::string tuned_csv(std::vector<TunedEntry> entries) {
  std::stable_sort(entries.begin(), entries.end(),
                   [](const TunedEntry& a, const TunedEntry& b) { return order(a.key) < order(b.key); });
  std::string text;
  const std::vector<TunedColumn> columns = tuned_columns();
  for (const TunedColumn& column : columns) text += (text.empty() ? "" : ",") + column.name;
  text += '\n';
  for (const TunedEntry& e : entries) {
    std::vector<std::string> cells;
    for (const TunedColumn& column : columns) cells.push_back(column.text(e));
    text += csv_line(cells);
  }
  return text;
}

void put_tuned(std::vector<TunedEntry>& table, const TunedEntry& entry) {
  const auto same = [&entry](const TunedEntry& e) { return e.key == entry.key; };
  const auto at = std::find_if(table.begin(), table.end(), same);
  if (at == table.end()) {
    table.push_back(entry);
  } else {
    *at = entry;
  }
}

}  // namespace attnprof
