// CSV text for tests of what reads rows: one good row, of which single cells are changed.
#pragma once

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "rows/columns.hpp"

namespace attnprof {

using Cells = std::map<std::string, std::string>;

/// A verified row of flash3 on one GPU.
inline Cells good_row() {
  return {{"schema", "1"},
          {"device", "gpu"},
          {"impl", "flash3"},
          {"pass", "fwd"},
          {"dtype", "bf16"},
          {"batch", "4"},
          {"heads", "16"},
          {"kv_heads", "16"},
          {"seqlen_q", "4096"},
          {"seqlen_kv", "4096"},
          {"head_dim", "128"},
          {"causal", "0"},
          {"window", "0"},
          {"scale", "0.088388347648318"},
          {"fill", "normal"},
          {"seed", "1"},
          {"cache", "cold"},
          {"status", "ok"},
          {"time_us", "250"},
          {"time_lo_us", "249.5"},
          {"time_hi_us", "250.5"},
          {"samples", "20"},
          {"converged", "1"},
          {"below_resolution", "0"},
          {"bytes_source", "cupti"},
          {"hbm_read_bytes", "3000000"},
          {"hbm_write_bytes", "1000000"},
          {"tensor_flops", "2000000"},
          {"executed_flops", "2100000"},
          {"min_hbm_bytes", "4000000"},
          {"workspace_bytes", "0"},
          {"rel_err", "0.001"},
          {"tolerance", "0.01"},
          {"device_name", "NVIDIA H200"},
          {"device_uuid", "GPU-1"},
          {"driver", "580.1"},
          {"command", "attnprof sweep"}};
}

inline std::string csv_with_columns(const std::vector<std::string>& names, const std::vector<Cells>& rows) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ",") + name;
  text += '\n';
  for (const Cells& changes : rows) {
    Cells cells = good_row();
    for (const auto& [name, cell] : changes) cells[name] = cell;
    for (size_t i = 0; i < names.size(); ++i) text += (i == 0 ? "" : ",") + cells[names[i]];
    text += '\n';
  }
  return text;
}

inline std::vector<std::string> all_columns() {
  std::vector<std::string> names;
  for (const Column& column : columns()) names.emplace_back(column.name);
  return names;
}

/// Every column of this version; each row is the good one with `rows`' cells in place of its own.
inline std::string csv_of(const std::vector<Cells>& rows) {
  return csv_with_columns(all_columns(), rows);
}
/// The same with the columns in the opposite order.
inline std::string reversed_columns(const std::vector<Cells>& rows) {
  const std::vector<std::string> names = all_columns();
  return csv_with_columns({names.rbegin(), names.rend()}, rows);
}

/// Rows of a sweep with --per-kernel: column `kernel` is there whether this version writes it or not.
inline std::string csv_with_kernels(const std::vector<Cells>& rows) {
  std::vector<std::string> names = all_columns();
  if (std::find(names.begin(), names.end(), "kernel") == names.end()) names.emplace_back("kernel");
  return csv_with_columns(names, rows);
}

/// A measured file of the repository.
inline std::string results_file(const std::string& name) {
  return std::string(ATTNPROF_SOURCE_DIR) + "/docs/results/" + name;
}

}  // namespace attnprof
