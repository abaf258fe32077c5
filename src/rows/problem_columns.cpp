#include "rows/problem_columns.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "rows/columns.hpp"
#include "rows/derived.hpp"
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

std::string common_source(const std::vector<Record>& records) {
  std::string source;
  for (R r : records) {
    if (!measured_traffic(r)) continue;
    const std::string_view own = to_string(r.counters.source);
    if (!source.empty() && source != own) return "mixed";
    source = own;
  }
  return source;
}

std::string implementation_text(R r) {
  const KernelConfig& config = r.planned.config;
  const std::string name = r.kernel.empty() ? r.planned.impl : "  " + r.kernel;  // a part of the row above it
  if (config.tile_m == 0 && config.tile_n == 0) return name;
  return fmt::format("{} {}x{}", name, config.tile_m, config.tile_n);
}

}  // namespace attnprof
