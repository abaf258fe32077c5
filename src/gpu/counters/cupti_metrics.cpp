#include "gpu/counters/cupti_metrics.hpp"

#include <cmath>

#include "gpu/counters/cupti_host.hpp"

namespace attnprof {
namespace {

std::vector<std::string> known_names(Quantity quantity, DType dtype) {
  switch (quantity) {
    case Quantity::hbm_read:
      return {"dram__bytes_read.sum", "dram__bytes_op_read.sum"};
    case Quantity::hbm_write:
      return {"dram__bytes_write.sum", "dram__bytes_op_write.sum"};
    case Quantity::l2:
      return {"lts__t_bytes.sum"};
    case Quantity::fadd:
      return {"sm__sass_thread_inst_executed_op_fadd_pred_on.sum"};
    case Quantity::fmul:
      return {"sm__sass_thread_inst_executed_op_fmul_pred_on.sum"};
    case Quantity::ffma:
      return {"sm__sass_thread_inst_executed_op_ffma_pred_on.sum"};
    case Quantity::tensor_active:
      return {"sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_elapsed"};
    case Quantity::tensor_flops:
      break;
  }
  switch (dtype) {
    case DType::bf16:
      return {"sm__ops_path_tensor_src_bf16_dst_fp32.sum"};
    case DType::fp16:
      return {"sm__ops_path_tensor_src_fp16_dst_fp32.sum", "sm__ops_path_tensor_src_fp16.sum"};
    case DType::fp32:
      return {"sm__ops_path_tensor_src_tf32_dst_fp32.sum"};
  }
  return {};
}

}  // namespace

std::vector<Quantity> wanted_quantities(bool flops) {
  std::vector<Quantity> wanted{Quantity::hbm_read, Quantity::hbm_write, Quantity::l2};
  if (flops) {
    wanted.insert(wanted.end(), {Quantity::fadd, Quantity::fmul, Quantity::ffma, Quantity::tensor_flops,
                                 Quantity::tensor_active});
  }
  return wanted;
}

std::string metric_name(const std::string& chip, Quantity quantity, DType dtype) {
  for (const std::string& name : known_names(quantity, dtype)) {
    if (chip_has_metric(chip, name)) return name;
  }
  return "";
}

Counters counters_from(const std::vector<Quantity>& quantities, const std::vector<double>& values) {
  Counters counters;
  counters.source = BytesSource::cupti;
  counters.status = "ok";
  const auto value = [&](Quantity wanted, double limit = 9e18) -> std::optional<double> {
    for (size_t i = 0; i < quantities.size() && i < values.size(); ++i) {
      if (quantities[i] != wanted) continue;
      if (values[i] >= 0 && values[i] <= limit) return values[i];  // NaN fails both
      counters.status = "invalid";
    }
    return std::nullopt;
  };
  const auto whole = [](std::optional<double> x) {
    return x ? std::optional<int64_t>(std::llround(*x)) : std::nullopt;
  };
  counters.hbm_read_bytes = whole(value(Quantity::hbm_read));
  counters.hbm_write_bytes = whole(value(Quantity::hbm_write));
  counters.l2_bytes = whole(value(Quantity::l2));
  counters.tensor_flops = whole(value(Quantity::tensor_flops));
  counters.tensor_pipe_active_pct = value(Quantity::tensor_active, 100.0);
  const std::optional<double> fadd = value(Quantity::fadd);
  const std::optional<double> fmul = value(Quantity::fmul);
  const std::optional<double> ffma = value(Quantity::ffma);
  if (fadd && fmul && ffma) counters.fp32_flops = std::llround(*fadd + *fmul + 2 * *ffma);
  return counters;
}

}  // namespace attnprof
