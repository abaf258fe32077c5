// Columns that say what was planned (the key of a row) and how it ended.
#include "core/axis.hpp"
#include "rows/column_groups.hpp"

namespace attnprof {

namespace {

using R = const Record&;
constexpr bool kKey = true;

/// The axes of the problem, or those of the tiling.
void add_axes(std::vector<Column>& all, bool tiling) {
  for (const Axis& axis : axes()) {
    if (axis.tiling != tiling) continue;
    all.push_back({axis.name, axis.unit, axis.meaning, kKey, [&axis](R r) { return axis.cell(r.planned); }});
  }
}
void add(std::vector<Column>& all, std::vector<Column> more) {
  all.insert(all.end(), more.begin(), more.end());
}

}  // namespace

std::vector<Column> case_columns() {
  std::vector<Column> all{
      {"schema", "",
       "version of the meaning of the columns; rises when a column changes, not when one is added", false,
       [](R) -> Cell { return int64_t{kSchemaVersion}; }},
      {"device", "", "backend that ran the case: cpu or gpu", kKey,
       [](R r) { return text_cell(to_string(r.device.kind)); }},
      {"threads", "", "CPU threads used; empty on a GPU", kKey,
       [](R r) {
         return r.device.kind == DeviceKind::host ? nonzero_cell(r.device.multiprocessors) : Cell();
       }},
      {"impl", "", "implementation, alias resolved", kKey, [](R r) { return text_cell(r.planned.impl); }},
  };
  add_axes(all, false);
  add(all, {
               {"cache", "", "cold: last-level cache evicted before each launch; hot: not", kKey,
                [](R r) { return text_cell(to_string(r.conditions.cache)); }},
               {"rest", "",
                "pause before each sample, as a multiple of the time of the one before, so that the chip "
                "keeps its "
                "clock; empty: none",
                kKey, [](R r) { return r.conditions.rest > 0 ? Cell(r.conditions.rest) : Cell(); }},
           });
  add_axes(all, true);
  add(all,
      {
          {"kernel", "",
           "empty: the row is about the whole launch; else about one of its kernels (on a cpu: passes), in "
           "rows "
           "that --per-kernel adds; then time_us is that kernel's own time within whole launches, and its "
           "bytes "
           "are those that crossed while it ran, write-backs of lines that a kernel before it left dirty "
           "included",
           kKey, [](R r) { return text_cell(r.kernel); }},
          {"kernel_index", "", "place of that kernel in the launch, from 0", false,
           [](R r) { return cell_of(r.kernel_index); }},
          {"status", "",
           "ok, skipped, unsupported, oom, failed, verify-failed or no-samples; measured figures are empty "
           "unless ok",
           false, [](R r) { return text_cell(to_string(r.status)); }},
          {"message", "", "reason when not ok, warnings when ok", false,
           [](R r) { return text_cell(r.message); }},
      });
  return all;
}

}  // namespace attnprof
