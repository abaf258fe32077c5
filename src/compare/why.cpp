#include "compare/why.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/bound.hpp"
#include "rows/derived.hpp"
#include "rows/grid.hpp"
#include "rows/human.hpp"

namespace attnprof {

namespace {

std::optional<GpuModel> datasheet_of(const Row& row) {
  DeviceInfo info;
  info.kind = row.text("device") == "gpu" ? DeviceKind::gpu : DeviceKind::host;
  info.name = row.text("device_name");
  return match_gpu_model(info);
}

void fill_from_datasheet(std::optional<Ceiling>& ceiling, double rate) {
  if (!ceiling && rate > 0) ceiling = Ceiling{rate, CeilingSource::datasheet};
}

std::string us_cell(const std::optional<double>& us) {
  return us ? human_time_us(*us) : "";
}
std::string pct_cell(const std::optional<double>& pct) {
  if (!pct) return "";
  return *pct > kInvalidSharePct ? fmt::format("{:.0f}%!", *pct) : fmt::format("{:.0f}%", *pct);
}

bool from_datasheet(const Ceilings& c) {
  const auto is = [](const std::optional<Ceiling>& x) { return x && x->source == CeilingSource::datasheet; };
  return is(c.copy_gbps) || is(c.matrix_tflops) || is(c.exp_gops);
}

GridRow grid_row(const Explained& e, const std::string& label) {
  const Attribution& a = e.attribution;
  const Row& row = e.row;
  GridRow line;
  line.cells = {{label},
                {us_cell(resolved_time_us(row))},
                {us_cell(row.number("kernels_us"))},
                {us_cell(row.number("gaps_us"))},
                {us_cell(a.hbm_us)},
                {us_cell(a.matrix_us)},
                {us_cell(a.exp_us)},
                {us_cell(a.sum_us)},
                {a.overlap_pct ? fmt::format("{:.0f}%", *a.overlap_pct) : ""},
                {pct_cell(a.hbm_pct)},
                {pct_cell(a.matrix_pct)},
                {pct_cell(a.exp_pct)},
                {a.invalid ? "invalid" : std::string(a.bound), a.invalid ? Paint::bad : Paint::none}};
  return line;
}

}  // namespace

Ceilings ceilings_of(const Row& row, const GivenCeilings& given) {
  Ceilings c = measured_ceilings(row);
  const auto prefer = [](std::optional<Ceiling>& ceiling, const std::optional<double>& rate) {
    if (rate && *rate > 0) ceiling = Ceiling{*rate, CeilingSource::given};
  };
  prefer(c.copy_gbps, given.copy_gbps);
  prefer(c.matrix_tflops, given.matrix_tflops);
  prefer(c.exp_gops, given.exp_gops);
  if (const auto gpu = datasheet_of(row)) {
    fill_from_datasheet(c.copy_gbps, gpu->hbm_gbps);
    fill_from_datasheet(c.matrix_tflops, row.text("dtype") == "fp32" ? gpu->fp32_tflops : gpu->bf16_tflops);
    fill_from_datasheet(c.exp_gops, exp_gops(*gpu));
  }
  return c;
}

Explained explain(const Row& row, const GivenCeilings& given) {
  Explained e{row, {}, ceilings_of(row, given)};
  const bool part = row.ok() && !row.kernel().empty();  // verified with its launch
  if (row.verified() || part) {
    e.attribution = attribute(attribution_input(row), e.ceilings);
  } else {
    e.attribution.reasoning = "not verified: " + row.why_unverified();
  }
  return e;
}

std::string ceilings_text(const Ceilings& ceilings) {
  std::string text;
  const auto add = [&](const char* name, const std::optional<Ceiling>& c, const char* unit) {
    if (!c) return;
    text += fmt::format("{}{} {} {} ({})", text.empty() ? "" : ", ", name, three_digits(c->rate), unit,
                        to_string(c->source));
  };
  add("copy", ceilings.copy_gbps, "GB/s");
  add("matrix", ceilings.matrix_tflops, "TFLOP/s");
  add("exp", ceilings.exp_gops, "Gexp/s");
  add("launch", ceilings.launch_us, "us");
  return text;
}

std::vector<std::string> why_labels(const std::vector<Explained>& rows) {
  const bool several = std::any_of(rows.begin(), rows.end(), [&rows](const Explained& e) {
    return e.row.file() != rows.front().row.file();
  });
  std::vector<std::string> labels;
  for (const Explained& e : rows)
    labels.push_back(several ? fmt::format("{}: {}", e.row.file(), e.row.label()) : e.row.label());
  return labels;
}

std::string why_table(const std::vector<Explained>& rows, const TableStyle& style) {
  const std::vector<GridColumn> columns{{"row", false, 0},  {"time", true, 0},     {"kernels", true, 6},
                                        {"gaps", true, 7},  {"HBM", true, 2},      {"matrix", true, 2},
                                        {"exp", true, 3},   {"sum", true, 5},      {"overlap", true, 4},
                                        {"HBM %", true, 1}, {"matrix %", true, 1}, {"exp %", true, 1},
                                        {"bound", false, 0}};
  std::vector<GridRow> lines;
  std::vector<std::string> ceilings;
  bool datasheet = false, invalid = false;
  const std::vector<std::string> labels = why_labels(rows);
  for (const Explained& e : rows) {
    lines.push_back(grid_row(e, labels[lines.size()]));
    const std::string text = ceilings_text(e.ceilings);
    if (!text.empty() && std::find(ceilings.begin(), ceilings.end(), text) == ceilings.end())
      ceilings.push_back(text);
    datasheet = datasheet || from_datasheet(e.ceilings);
    invalid = invalid || e.attribution.invalid;
  }
  const size_t width = line_limit(style);
  std::string text;
  for (const std::string& line : ceilings) text += wrap_to_width("ceilings: " + line, width, 2);
  if (datasheet) {
    text += wrap_to_width(
        "datasheet ceilings were not measured and are rarely reached: shares of them are lower than shares "
        "of what `attnprof ceilings` measures (--copy-gbps, --matrix-tflops)",
        width, 2);
  }
  text += draw_grid(columns, lines, style);
  if (invalid)
    text += wrap_to_width(fmt::format("! above {:.0f}% of a ceiling: invalid, see below", kInvalidSharePct),
                          width, 2);
  size_t without = 0;
  for (size_t i = 0; i < rows.size(); ++i) {
    const Explained& e = rows[i];
    if (e.ceilings.copy_gbps || e.ceilings.matrix_tflops || !e.row.verified()) {
      text += wrap_to_width(labels[i] + ": " + e.attribution.reasoning, width, 2);
    } else {
      ++without;
    }
  }
  if (without > 0) {
    text += wrap_to_width(
        fmt::format(
            "{} no ceilings: `attnprof ceilings` measures them on that machine; give them as --copy-gbps "
            "and --matrix-tflops",
            number_of(without, "row") + (without == 1 ? " has" : " have")),
        width, 2);
  }
  return text;
}

}  // namespace attnprof
