// Columns that hold a row against what its device can do: the ceilings, and each resource's share of the
// time.
#include "rows/column_groups.hpp"
#include "rows/derived.hpp"
#include "rows/row.hpp"

namespace attnprof {

namespace {

using R = const Record&;

Cell ceiling(R r, std::optional<double> DeviceCeilings::*field) {
  return cell_of(r.conditions.ceilings.*field);
}
Cell share(const Row& row, std::optional<double> Attribution::*field) {
  return cell_of(attribution(row).*field);
}

}  // namespace

std::vector<Column> attribution_columns() {
  return {
      {"ceiling_copy_gbps", "GB/s",
       "measured on this device (`attnprof ceilings`): copy bandwidth of HBM (main memory on a cpu), read "
       "plus written",
       false, [](R r) { return ceiling(r, &DeviceCeilings::copy_gbps); }},
      {"ceiling_matrix_tflops", "TFLOP/s",
       "measured on this device: large matrix product in the row's dtype; fp32, and every dtype on a cpu: "
       "ceiling_fp32_tflops",
       false, [](R r) { return cell_of(r.conditions.ceilings.matrix_tflops(r.planned.problem.dtype)); }},
      {"ceiling_fp32_tflops", "TFLOP/s",
       "measured on this device: fp32 multiply-adds outside the matrix units", false,
       [](R r) { return ceiling(r, &DeviceCeilings::fp32_tflops); }},
      {"ceiling_exp_gops", "Gexp/s", "measured on this device: exponentials", false,
       [](R r) { return ceiling(r, &DeviceCeilings::exp_gops); }},
      {"ceiling_launch_us", "us",
       "measured on this device: from one empty kernel to the next (on a cpu: one empty loop over the "
       "threads)",
       false, [](R r) { return ceiling(r, &DeviceCeilings::launch_us); }},
      {"hbm_us", "us",
       "hbm_read_bytes + hbm_write_bytes (model_hbm_bytes where bytes_source is empty) over "
       "ceiling_copy_gbps",
       false, nullptr, [](const Row& r) { return share(r, &Attribution::hbm_us); }},
      {"matrix_us", "us", "tensor_flops where counted, else executed_flops, over ceiling_matrix_tflops",
       false, nullptr, [](const Row& r) { return share(r, &Attribution::matrix_us); }},
      {"exp_us", "us", "exp_count over ceiling_exp_gops", false, nullptr,
       [](const Row& r) { return share(r, &Attribution::exp_us); }},
      {"idle_us", "us",
       "part of time_us in which no kernel ran: gaps_us, and what is left of time_us beyond them and "
       "kernels_us, up to 10 us a kernel (kernels_us is of another run, whose clock may have been higher)",
       false, nullptr, [](const Row& r) { return share(r, &Attribution::launch_us); }},
      {"overlap_pct", "%",
       "how far the parts hid each other: 0 when time_us is their sum, 100 when it is the largest of them",
       false, nullptr, [](const Row& r) { return share(r, &Attribution::overlap_pct); }},
      {"pct_of_copy", "%",
       "share of ceiling_copy_gbps that the case reached; only from bytes that were measured or counted",
       false, nullptr, [](const Row& r) { return hbm_bytes(r) ? share(r, &Attribution::hbm_pct) : Cell(); }},
      {"pct_of_matrix", "%", "share of ceiling_matrix_tflops that the case reached", false, nullptr,
       [](const Row& r) { return share(r, &Attribution::matrix_pct); }},
      {"pct_of_exp", "%", "share of ceiling_exp_gops that the case reached", false, nullptr,
       [](const Row& r) { return share(r, &Attribution::exp_pct); }},
      {"bound", "",
       "what limits the case: memory, matrix, exp (at half of that ceiling or more) or launch (no kernel "
       "runs for half of the time); serial: several kernels, none near a ceiling, whose parts make up the "
       "time one after another; latency: none of these; empty: not known, or above a ceiling (see message)",
       false, nullptr, [](const Row& r) { return text_cell(attribution(r).bound); }},
  };
}

}  // namespace attnprof
