// Columns of what theory and each schedule say, before anything runs; filled for every problem that makes
// sense.
#include "core/theory.hpp"
#include "rows/column_groups.hpp"
#include "rows/derived.hpp"
#include "rows/row.hpp"

namespace attnprof {

namespace {

using R = const Record&;

Cell modelled(R r, int64_t (*get)(const ModelledWork&)) {
  return r.model ? Cell(get(*r.model)) : Cell();
}
/// Whether the mathematics of the problem is known: it makes sense, and the row is about a whole launch.
bool has_theory(R r) {
  const Problem& p = r.planned.problem;
  if ((r.status == Status::skipped && !r.model) || !r.kernel.empty()) return false;
  return p.batch > 0 && p.heads > 0 && p.kv_heads > 0 && p.seqlen_q > 0 && p.seqlen_kv > 0 && p.head_dim > 0;
}
Cell minimum(R r, int64_t (*get)(const Traffic&)) {
  return has_theory(r) ? Cell(get(compulsory_traffic(r.planned.problem))) : Cell();
}
/// 100 * (measured - modelled) / modelled HBM bytes.
Cell model_bytes_err_pct(const Row& row) {
  const auto measured = hbm_bytes(row), modelled = row.number("model_hbm_bytes");
  return measured && modelled && *modelled > 0 ? Cell(100.0 * (*measured - *modelled) / *modelled) : Cell();
}
Cell resource(R r, int64_t (*get)(const KernelResources&)) {
  return r.resources ? Cell(get(*r.resources)) : Cell();
}

}  // namespace

std::vector<Column> model_columns() {
  return {
      {"model_flops", "flop",
       "algorithmic: of the matrix products, over exactly the unmasked query-key pairs", false,
       [](R r) { return has_theory(r) ? Cell(algorithmic_flops(r.planned.problem)) : Cell(); }},
      {"executed_flops", "flop", "modelled: as model_flops, plus the masked part of every tile visited",
       false, [](R r) { return modelled(r, [](const ModelledWork& m) { return m.executed_flops; }); }},
      {"exp_count", "", "modelled: exponentials evaluated", false,
       [](R r) { return modelled(r, [](const ModelledWork& m) { return m.exp_count; }); }},
      {"model_hbm_bytes", "bytes", "modelled: HBM bytes that the schedule implies, read and written", false,
       [](R r) { return modelled(r, [](const ModelledWork& m) { return m.hbm.total(); }); }},
      {"model_hbm_read_bytes", "bytes", "modelled: the part read", false,
       [](R r) { return modelled(r, [](const ModelledWork& m) { return m.hbm.read_bytes; }); }},
      {"model_hbm_write_bytes", "bytes", "modelled: the part written", false,
       [](R r) { return modelled(r, [](const ModelledWork& m) { return m.hbm.write_bytes; }); }},
      {"model_bytes_err_pct", "%",
       "measured or counted HBM bytes against model_hbm_bytes, relative to the model", false, nullptr,
       model_bytes_err_pct},
      {"min_hbm_bytes", "bytes", "compulsory: every operand read once, every result written once", false,
       [](R r) { return minimum(r, [](const Traffic& t) { return t.total(); }); }},
      {"min_hbm_read_bytes", "bytes", "compulsory: the part read", false,
       [](R r) { return minimum(r, [](const Traffic& t) { return t.read_bytes; }); }},
      {"min_hbm_write_bytes", "bytes", "compulsory: the part written", false,
       [](R r) { return minimum(r, [](const Traffic& t) { return t.write_bytes; }); }},
      {"workspace_bytes", "bytes", "device memory beyond the operands and results", false,
       [](R r) { return cell_of(r.workspace_bytes); }},
      {"available_bytes", "bytes", "device memory free when the case was planned", false,
       [](R r) { return cell_of(r.available_bytes); }},
      {"registers", "", "registers per thread, largest of the kernels, from the compiler", false,
       [](R r) {
         return resource(r, [](const KernelResources& k) { return int64_t{k.registers_per_thread}; });
       }},
      {"spill_bytes", "bytes", "registers spilled to memory per thread, from the compiler", false,
       [](R r) { return resource(r, [](const KernelResources& k) { return k.spill_bytes; }); }},
      {"smem_bytes", "bytes", "shared memory per block, static and dynamic", false,
       [](R r) { return resource(r, [](const KernelResources& k) { return k.smem_bytes; }); }},
      {"compile_ms", "ms", "compiling for this case, never inside a measurement; 0 when the cache had it",
       false, [](R r) { return cell_of(r.compile_ms); }},
  };
}

}  // namespace attnprof
