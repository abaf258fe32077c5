// Columns that say what was planned (the key of a row) and how it ended.
#include "rows/column_groups.hpp"

namespace attnprof {

namespace {
const Problem& problem(const Record& r) {
  return r.planned.problem;
}
}  // namespace

std::vector<Column> case_columns() {
  using R = const Record&;
  constexpr bool key = true;
  return {
      {"schema", "",
       "version of the meaning of the columns; rises when a column changes, not when one is added", false,
       [](R) -> Cell { return int64_t{kSchemaVersion}; }},
      {"device", "", "backend that ran the case: cpu or gpu", key,
       [](R r) { return text_cell(to_string(r.device.kind)); }},
      {"threads", "", "CPU threads used; empty on a GPU", key,
       [](R r) {
         return r.device.kind == DeviceKind::host ? nonzero_cell(r.device.multiprocessors) : Cell();
       }},
      {"impl", "", "implementation, alias resolved", key, [](R r) { return text_cell(r.planned.impl); }},
      {"pass", "", "fwd, bwd or fwd+bwd", key, [](R r) { return text_cell(to_string(problem(r).pass)); }},
      {"dtype", "", "type of Q, K, V and O: fp32, fp16 or bf16", key,
       [](R r) { return text_cell(to_string(problem(r).dtype)); }},
      {"batch", "", "batch size", key, [](R r) -> Cell { return problem(r).batch; }},
      {"heads", "", "query heads", key, [](R r) -> Cell { return problem(r).heads; }},
      {"kv_heads", "", "key/value heads; fewer than heads means grouped queries", key,
       [](R r) -> Cell { return problem(r).kv_heads; }},
      {"seqlen_q", "", "queries per sequence", key, [](R r) -> Cell { return problem(r).seqlen_q; }},
      {"seqlen_kv", "", "keys per sequence", key, [](R r) -> Cell { return problem(r).seqlen_kv; }},
      {"head_dim", "", "width of one head", key, [](R r) -> Cell { return problem(r).head_dim; }},
      {"causal", "0/1", "1: query i sees keys up to i + seqlen_kv - seqlen_q", key,
       [](R r) -> Cell { return int64_t{problem(r).causal}; }},
      {"window", "", "sliding window in keys; 0 is none", key, [](R r) -> Cell { return problem(r).window; }},
      {"scale", "", "factor on QK^T before the softmax, in effect", key,
       [](R r) -> Cell {
         return problem(r).head_dim > 0 ? Cell(softmax_scale(problem(r))) : Cell(problem(r).scale);
       }},
      {"fill", "", "what the inputs held: normal or zeros", key,
       [](R r) { return text_cell(to_string(problem(r).fill)); }},
      {"seed", "", "seed of the inputs", key,
       [](R r) -> Cell { return static_cast<int64_t>(problem(r).seed); }},
      {"cache", "", "cold: last-level cache evicted before each launch; hot: not", key,
       [](R r) { return text_cell(to_string(r.conditions.cache)); }},
      {"rest", "",
       "pause before each sample, as a multiple of the time of the one before, so that the chip keeps its "
       "clock; empty: none",
       key, [](R r) { return r.conditions.rest > 0 ? Cell(r.conditions.rest) : Cell(); }},
      {"tile_m", "", "query rows per tile; empty when untiled", key,
       [](R r) { return nonzero_cell(r.planned.config.tile_m); }},
      {"tile_n", "", "keys per tile; empty when untiled", key,
       [](R r) { return nonzero_cell(r.planned.config.tile_n); }},
      {"stages", "", "K/V tiles in flight; empty when it does not apply", key,
       [](R r) { return nonzero_cell(r.planned.config.stages); }},
      {"warps", "", "warps that share a tile; empty when it does not apply", key,
       [](R r) { return nonzero_cell(r.planned.config.warps); }},
      {"kernel", "",
       "empty: the row is about the whole launch; else about one of its kernels (on a cpu: passes), in rows "
       "that --per-kernel adds; then time_us is that kernel's own time within whole launches, and its bytes "
       "are those that crossed while it ran, write-backs of lines that a kernel before it left dirty "
       "included",
       key, [](R r) { return text_cell(r.kernel); }},
      {"kernel_index", "", "place of that kernel in the launch, from 0", false,
       [](R r) { return cell_of(r.kernel_index); }},
      {"status", "",
       "ok, skipped, unsupported, oom, failed, verify-failed or no-samples; measured figures are empty "
       "unless ok",
       false, [](R r) { return text_cell(to_string(r.status)); }},
      {"message", "", "reason when not ok, warnings when ok", false,
       [](R r) { return text_cell(r.message); }},
  };
}

}  // namespace attnprof
