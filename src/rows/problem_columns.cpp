#include "rows/problem_columns.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "rows/columns.hpp"
#include "rows/human.hpp"

namespace attnprof {

namespace {

using R = const Record&;

const Problem& problem(R r) {
  return r.planned.problem;
}

std::string heads_text(R r) {
  const Problem& p = problem(r);
  return p.heads == p.kv_heads ? fmt::format("{}", p.heads) : fmt::format("{}/{}", p.heads, p.kv_heads);
}
std::string seqlen_text(R r) {
  const Problem& p = problem(r);
  if (p.seqlen_q == p.seqlen_kv) return human_count(p.seqlen_q);
  return human_count(p.seqlen_q) + " x " + human_count(p.seqlen_kv);
}
std::string mask_text(R r) {
  const Problem& p = problem(r);
  std::string text = p.causal ? "causal" : "full";
  if (p.window > 0) text = (p.causal ? "causal, " : "") + fmt::format("window {}", human_count(p.window));
  return text;
}
std::string device_text(R r) {
  std::string text = std::string(to_string(r.device.kind));
  if (!r.device.name.empty()) text += ": " + r.device.name;
  return text;
}
std::string rest_text(R r) {
  return r.conditions.rest > 0 ? fmt::format("{:g}x", r.conditions.rest) : "none";
}
std::string scale_text(R r) {
  return problem(r).scale == 0 ? "1/sqrt(d)" : fmt::format("{:.4g}", problem(r).scale);
}

const std::vector<ProblemAxis>& axes() {
  static const std::vector<ProblemAxis> all = {
      {{"device", false, 0}, device_text, device_text},
      {{"cache", false, 0},
       [](R r) { return std::string(to_string(r.conditions.cache)); },
       [](R r) { return std::string(to_string(r.conditions.cache)) + " cache"; }},
      {{"rest", true, 0},
       rest_text,
       [](R r) { return r.conditions.rest > 0 ? "rests of " + rest_text(r) : std::string(); }},
      {{"pass", false, 0},
       [](R r) { return std::string(to_string(problem(r).pass)); },
       [](R r) { return std::string(to_string(problem(r).pass)); }},
      {{"dtype", false, 0},
       [](R r) { return std::string(to_string(problem(r).dtype)); },
       [](R r) { return std::string(to_string(problem(r).dtype)); }},
      {{"d", true, 0},
       [](R r) { return fmt::format("{}", problem(r).head_dim); },
       [](R r) { return fmt::format("head_dim {}", problem(r).head_dim); }},
      {{"heads", true, 0}, heads_text, [](R r) { return "heads " + heads_text(r); }},
      {{"batch", true, 0},
       [](R r) { return human_count(problem(r).batch); },
       [](R r) { return "batch " + human_count(problem(r).batch); }},
      {{"seqlen", true, 0}, seqlen_text, [](R r) { return "seqlen " + seqlen_text(r); }},
      {{"mask", false, 0}, mask_text, [](R r) { return mask_text(r) == "full" ? "no mask" : mask_text(r); }},
      {{"scale", true, 0},
       scale_text,
       [](R r) { return problem(r).scale == 0 ? std::string() : "scale " + scale_text(r); }},
      {{"fill", false, 0},
       [](R r) { return std::string(to_string(problem(r).fill)); },
       [](R r) { return problem(r).fill == Fill::normal ? std::string() : "filled with zeros"; }},
      {{"seed", true, 0},
       [](R r) { return fmt::format("{}", problem(r).seed); },
       [](R r) { return problem(r).seed == 1 ? std::string() : fmt::format("seed {}", problem(r).seed); }},
  };
  return all;
}

/// All of 64 bits: a seed may be larger than a double can tell from its neighbours.
int64_t whole(const Row& row, std::string_view column) {
  const std::string_view cell = row.text(column);
  int64_t value = 0;
  std::from_chars(cell.data(), cell.data() + cell.size(), value);
  return value;
}

}  // namespace

ProblemLayout lay_out_problems(const std::vector<Record>& records) {
  ProblemLayout layout;
  if (records.empty()) return layout;
  constexpr size_t kOfTheRun = 2;  // device and cache share the first line of the heading
  std::string run, common;
  for (size_t i = 0; i < axes().size(); ++i) {
    const ProblemAxis& axis = axes()[i];
    const std::string first = axis.text(records.front());
    if (!std::all_of(records.begin(), records.end(), [&](R r) { return axis.text(r) == first; })) {
      layout.varying.push_back(&axis);
      continue;
    }
    const std::string said = axis.common(records.front());
    std::string& line = i < kOfTheRun ? run : common;
    if (!said.empty()) line += (line.empty() ? "" : ", ") + said;
  }
  for (const std::string& line : {run, common}) {
    if (!line.empty()) layout.heading.push_back(line);
  }
  return layout;
}

Record shape_of(const Row& row) {
  Record r;
  Problem& p = r.planned.problem;
  for (const Pass pass : {Pass::fwd, Pass::bwd, Pass::fwd_bwd}) {
    if (row.text("pass") == to_string(pass)) p.pass = pass;
  }
  for (const DType dtype : {DType::fp32, DType::fp16, DType::bf16}) {
    if (row.text("dtype") == to_string(dtype)) p.dtype = dtype;
  }
  p.batch = whole(row, "batch");
  p.heads = whole(row, "heads");
  p.kv_heads = whole(row, "kv_heads");
  p.seqlen_q = whole(row, "seqlen_q");
  p.seqlen_kv = whole(row, "seqlen_kv");
  p.head_dim = whole(row, "head_dim");
  p.causal = row.text("causal") == "1";
  p.window = whole(row, "window");
  const double scale = row.number("scale").value_or(0);
  const bool usual = std::abs(scale * std::sqrt(static_cast<double>(p.head_dim)) - 1) < 1e-9;
  p.scale = usual ? 0 : scale;
  p.fill = row.text("fill") == to_string(Fill::zeros) ? Fill::zeros : Fill::normal;
  p.seed = static_cast<uint64_t>(whole(row, "seed"));
  r.planned.impl = row.text("impl");
  r.device.kind = row.text("device") == to_string(DeviceKind::gpu) ? DeviceKind::gpu : DeviceKind::host;
  r.device.name = row.text("device_name");
  r.conditions.cache = row.text("cache") == to_string(CacheMode::hot) ? CacheMode::hot : CacheMode::cold;
  r.conditions.rest = row.number("rest").value_or(0);
  return r;
}

}  // namespace attnprof
