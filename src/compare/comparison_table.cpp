#include <fmt/format.h>

#include <algorithm>

#include "compare/render.hpp"
#include "compare/words.hpp"
#include "rows/human.hpp"
#include "rows/problem_columns.hpp"

namespace attnprof {

namespace {

/// One side alone still says something: the fused kernel runs where the baseline does not fit.
std::string time_text(const Pair& pair) {
  const Change& c = pair.time_us;
  if (c.from && c.to) return human_time_change(*c.from, *c.to);
  const auto side = [](const Row& row, const std::optional<double>& us) {
    return us ? human_time_us(*us) : std::string(row.ok() ? "?" : to_string(row.status()));
  };
  return side(pair.from, c.from) + " -> " + side(pair.to, c.to);
}

std::string bytes_text(const Change& c) {
  if (!c.from && !c.to) return "";
  if (c.from && c.to) return *c.from == 0 && *c.to == 0 ? "none" : human_bytes_change(*c.from, *c.to);
  const auto side = [](const std::optional<double>& bytes) {
    return bytes ? human_bytes(*bytes) : std::string("?");
  };
  return side(c.from) + " -> " + side(c.to);
}

GridCell ratio_cell(const Change& c, bool within_noise = false) {
  if (!c.ratio) return {"-", Paint::dim};
  const Paint paint = within_noise ? Paint::none : *c.ratio >= 1 ? Paint::good : Paint::bad;
  return {three_digits(*c.ratio) + (within_noise ? "x ~" : "x"), paint};
}

std::string change_text(const Pair& pair) {
  return pair.time_us.ratio ? fmt::format("{:+.1f}%", 100 * (1 / *pair.time_us.ratio - 1)) : "";
}

std::string interval_text(const Pair& pair) {
  if (!pair.time_ratio_interval) return "";
  return fmt::format("{:.3g}-{:.3g}", pair.time_ratio_interval->lo, pair.time_ratio_interval->hi);
}

/// The source that all pairs with that figure share; "mixed" when they do not, "" when none has one.
std::string common_source(const Comparison& c, Change Pair::*quantity) {
  std::string shared;
  for (const Pair& pair : c.pairs) {
    const Change& change = pair.*quantity;
    if (change.source.empty() || change.source == shared) continue;
    if (!change.ratio && quantity == &Pair::flops) continue;  // only its ratio is shown
    if (!shared.empty()) return "mixed";
    shared = change.source;
  }
  return shared.find("->") == std::string::npos ? shared : "mixed";
}

/// Reasons why pairs have no ratio, each once with how many pairs it concerns.
std::vector<std::string> reasons(const Comparison& c) {
  Tally counts;
  for (const Pair& pair : c.pairs) {
    const std::string& time = pair.time_us.why_no_ratio;
    const std::string& bytes = pair.hbm_bytes.why_no_ratio;
    if (!time.empty()) counts.add(time == bytes ? time : "of time: " + time);
    if (!bytes.empty() && bytes != time) counts.add("of HBM bytes: " + bytes);
  }
  std::vector<std::string> lines;
  for (const auto& [what, pairs] : counts.items)
    lines.push_back(fmt::format("- no ratio ({}): {}", number_of(pairs, "pair"), what));
  return lines;
}

std::string alone_text(const std::vector<Row>& rows, const std::string& file, size_t width) {
  if (rows.empty()) return "";
  constexpr size_t kShown = 10;
  std::string text =
      wrap_to_width(fmt::format("only in {}: {}", file, number_of(rows.size(), "row")), width, 2);
  for (size_t i = 0; i < std::min(kShown, rows.size()); ++i) text += "  " + rows[i].label() + "\n";
  if (rows.size() > kShown) text += fmt::format("  and {} more\n", rows.size() - kShown);
  return text;
}

struct Layout {
  std::vector<const LayoutColumn*> axes;
  bool one_reference = true;
  std::string reference;  ///< of all pairs, with its tile
  bool mixed_sources = false;
};

GridRow grid_row(const Comparison& c, const Pair& pair, const Layout& layout) {
  GridRow row;
  for (const LayoutColumn* axis : layout.axes) row.cells.push_back({axis->text(pair.to)});
  const std::string from = c.two_files || layout.one_reference ? "" : pair.from.impl_label() + " -> ";
  row.cells.push_back({from + pair.to.impl_label()});
  row.cells.push_back({time_text(pair)});
  row.cells.push_back(ratio_cell(pair.time_us, pair.within_noise));
  row.cells.push_back({c.two_files ? change_text(pair) : ""});
  row.cells.push_back({interval_text(pair)});
  const std::string bytes = bytes_text(pair.hbm_bytes);
  row.cells.push_back({bytes});
  row.cells.push_back(bytes.empty() ? GridCell{} : ratio_cell(pair.hbm_bytes));
  row.cells.push_back({pair.flops.ratio ? fmt::format("{:.3g}x", *pair.flops.ratio) : ""});
  row.cells.push_back({layout.mixed_sources ? pair.hbm_bytes.source : ""});
  row.cells.push_back(
      {pair.workspace_bytes.from && pair.workspace_bytes.to ? workspace_words(pair.workspace_bytes) : ""});
  return row;
}

std::string grid(const Comparison& c, const TableStyle& style) {
  std::vector<Row> shapes;  // the axes of the second rows decide what varies
  Layout layout;
  layout.reference = c.pairs.front().from.impl_label();
  for (const Pair& pair : c.pairs) {
    shapes.push_back(pair.to);
    layout.one_reference = layout.one_reference && pair.from.impl_label() == layout.reference;
  }
  const ProblemLayout problems = lay_out_problems(shapes);
  layout.axes = problems.varying;
  const std::string bytes = common_source(c, &Pair::hbm_bytes);
  const std::string flops = common_source(c, &Pair::flops);
  layout.mixed_sources = bytes == "mixed";

  std::vector<GridColumn> columns;
  for (const LayoutColumn* axis : layout.axes) columns.push_back(axis->column);
  const std::string first =
      c.two_files ? "impl" : (layout.one_reference ? layout.reference : c.from_name) + " ->";
  for (const GridColumn& column : std::vector<GridColumn>{{first, false, 0},
                                                          {"time", true, 0},
                                                          {"speed-up", true, 0},
                                                          {"change", true, 1},
                                                          {"95%", true, 5},
                                                          {"HBM bytes", true, 2},
                                                          {"fewer", true, 0},
                                                          {"FLOPs", true, 3},
                                                          {"source", false, 1},
                                                          {"workspace", true, 4}}) {
    columns.push_back(column);
  }
  std::vector<GridRow> rows;
  for (const Pair& pair : c.pairs) rows.push_back(grid_row(c, pair, layout));
  std::string text;
  const auto dim = [&](const std::string& line) { text += painted(line, Paint::dim, style.color) + "\n"; };
  if (c.two_files) dim(fmt::format("{} -> {}", c.from_name, c.to_name));
  for (const std::string& line : problems.heading) dim(line);
  const bool flops_shown = shows_column(columns, rows, style, "FLOPs");
  std::string sources;
  if (!bytes.empty() && bytes != "mixed") sources = "HBM bytes: " + bytes;
  if (!flops.empty() && flops_shown) {
    const std::string which = flops == "mixed" ? "measured where both rows have them, else modelled" : flops;
    sources += (sources.empty() ? "" : "; ") + ("executed FLOPs: " + which);
  }
  if (!sources.empty()) dim(sources);
  return text + draw_grid(columns, rows, style);
}

}  // namespace

std::string comparison_table(const Comparison& c, const TableStyle& style) {
  const size_t width = line_limit(style);
  std::string text = c.pairs.empty() ? "" : grid(c, style);
  const bool noise =
      std::any_of(c.pairs.begin(), c.pairs.end(), [](const Pair& p) { return p.within_noise; });
  if (noise)
    text +=
        wrap_to_width("~ within noise: the 95% intervals of the two medians show no difference", width, 2);
  for (const std::string& reason : reasons(c)) text += wrap_to_width(reason, width, 2);
  text += alone_text(c.only_from, c.from_name, width) + alone_text(c.only_to, c.to_name, width);
  for (const Mean& mean : geometric_means(c))
    text += painted(wrap_to_width(sentence(mean), width, 2), Paint::bold, style.color);
  return text;
}

std::string comparison_sentences(const Comparison& c, const TableStyle* style) {
  std::string text;
  for (const Pair& pair : c.pairs) {
    const std::string line = subject(pair, c.two_files) + ": " + sentence(pair);
    text += style ? wrap_to_width(line, line_limit(*style), 2) : line + "\n";
  }
  return text;
}

}  // namespace attnprof
