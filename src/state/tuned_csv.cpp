#include "state/tuned_csv.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <tuple>

#include "core/error.hpp"
#include "rows/csv.hpp"
#include "rows/table_row.hpp"

namespace attnprof {
namespace {

constexpr std::string_view kHeader =
    "impl,device,compute_capability,device_name,dtype,head_dim,causal,window,seqlen_kv,tile_m,tile_n,stages,"
    "warps,time_us,default_time_us,speedup,speedup_lo,speedup_hi,message,tool_version,timestamp\n";

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

std::optional<DType> read_dtype(const TableRow& row) {
  const std::string& cell = row.text("dtype");
  if (cell.empty()) return std::nullopt;
  for (const DType dtype : {DType::fp32, DType::fp16, DType::bf16}) {
    if (cell == to_string(dtype)) return dtype;
  }
  row.refuse("dtype", "is not fp32, fp16, bf16, or empty for any");
}

std::optional<bool> read_causal(const TableRow& row) {
  const std::string& cell = row.text("causal");
  if (cell.empty()) return std::nullopt;
  if (cell != "0" && cell != "1") row.refuse("causal", "is not 0, 1, or empty for any");
  return cell == "1";
}

constexpr int64_t kMaxLength = int64_t{1} << 31;
constexpr int64_t kMaxTile = int64_t{1} << 20;

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
  e.key.dtype = read_dtype(row);
  e.key.head_dim = row.whole("head_dim", 1, kMaxLength);
  e.key.causal = read_causal(row);
  if (!row.text("window").empty()) e.key.window = row.whole("window", 0, kMaxLength);
  e.key.seqlen_kv = row.whole("seqlen_kv", 0, kMaxLength);
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
  return std::make_tuple(k.device, k.compute_capability, k.device_name, k.impl, k.dtype, k.head_dim, k.causal,
                         k.window, k.seqlen_kv);
}

template <class T>
std::string number_or_empty(const std::optional<T>& value) {
  return value ? cell_text(Cell(*value)) : std::string();
}

/// To 4 decimals: finer than any timer, and it reads well.
std::string measured_text(const std::optional<double>& value) {
  return value ? cell_text(std::round(*value * 1e4) / 1e4) : std::string();
}

std::string choice_text(int value) {
  return value == 0 ? "" : std::to_string(value);
}

}  // namespace

std::vector<TunedEntry> parse_tuned(std::string_view text, const std::string& file,
                                    const KnownImplementation& known) {
  const CsvTable table = parse_csv(text, file);
  if (table.torn_last_row) {
    throw UsageError(fmt::format("{}: its last line ends in the middle of a row; delete that line", file));
  }
  std::vector<TunedEntry> entries;
  for (const std::string_view column : {"impl", "device", "compute_capability", "dtype", "head_dim", "causal",
                                        "window", "seqlen_kv", "tile_m", "tile_n", "stages", "warps"}) {
    table.column(column);  // also of a file without rows
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
  std::string text(kHeader);
  for (const TunedEntry& e : entries) {
    const TunedKey& k = e.key;
    text += csv_line({k.impl,
                      std::string(to_string(k.device)),
                      compute_capability_text(k.compute_capability),
                      k.device_name,
                      k.dtype ? std::string(to_string(*k.dtype)) : "",
                      std::to_string(k.head_dim),
                      k.causal ? std::to_string(int{*k.causal}) : "",
                      number_or_empty(k.window),
                      std::to_string(k.seqlen_kv),
                      std::to_string(e.config.tile_m),
                      std::to_string(e.config.tile_n),
                      choice_text(e.config.stages),
                      choice_text(e.config.warps),
                      measured_text(e.time_us),
                      measured_text(e.default_time_us),
                      measured_text(e.speedup),
                      measured_text(e.speedup_lo),
                      measured_text(e.speedup_hi),
                      e.message,
                      e.tool_version,
                      e.timestamp});
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
