// Which hardware counters stand behind the columns, by chip: the names differ between generations.
#pragma once

#include <string>
#include <vector>

#include "core/problem.hpp"
#include "core/record.hpp"

namespace attnprof {

enum class Quantity { hbm_read, hbm_write, l2, fadd, fmul, ffma, tensor_flops, tensor_active };

/// What CounterRequest asks for: bytes only, or FLOPs and the tensor pipe as well.
std::vector<Quantity> wanted_quantities(bool flops);

/// The name of the counter for `quantity` on `chip` ("GH100"), for operands of `dtype`: the first of the
/// names known for it that the chip has. "" when it has none. tensor_flops counts multiply and add apart, of
/// products with operands of `dtype` and fp32 accumulation (tf32 operands for fp32 problems); on GH100 the
/// fp16 counter includes fp16 accumulation. tensor_active is the share of the range's cycles, first launch to
/// last end with the host's launch time in it.
std::string metric_name(const std::string& chip, Quantity quantity, DType dtype);

/// Puts `values`, one for each of `quantities` in order, into the record's fields: fp32_flops = fadd + fmul +
/// 2 ffma. NaN, infinite and negative values and shares above 100% are dropped, and the status becomes
/// "invalid".
Counters counters_from(const std::vector<Quantity>& quantities, const std::vector<double>& values);

}  // namespace attnprof
