// The comparison for programs: one table of columns behind both CSV and JSON.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <functional>
#include <set>

#include "compare/render.hpp"
#include "compare/words.hpp"
#include "rows/columns.hpp"
#include "rows/csv.hpp"

namespace attnprof {

namespace {

/// One line: a pair, or a row alone.
struct Line {
  const char* side;  ///< "both", "before", "after", "reference"
  const Row* row;    ///< the second of a pair
  const Pair* pair = nullptr;
  const Explained* why = nullptr;       ///< of `row`
  const Explained* from_why = nullptr;  ///< of the pair's first row
};

/// A cell of the row as it stands in the file: numbers stay numbers.
Cell own_cell(const Row& row, std::string_view column) {
  const auto value = find_column(column)->is_text ? std::nullopt : row.number(column);
  if (!value) return text_cell(row.text(column));
  const auto whole = static_cast<int64_t>(*value);
  return *value == static_cast<double>(whole) ? Cell(whole) : Cell(*value);
}
struct DataColumn {
  std::string name;
  std::function<Cell(const Line&)> get;
};

void add_case(std::vector<DataColumn>& all) {
  all.push_back({"side", [](const Line& l) { return Cell(std::string(l.side)); }});
  for (const std::string_view name : key_columns())
    all.push_back({std::string(name), [name](const Line& l) { return own_cell(*l.row, name); }});
  for (const char* name : {"device_name", "device_uuid", "status"})
    all.push_back({name, [name](const Line& l) { return text_cell(l.row->text(name)); }});
  all.push_back({"line", [](const Line& l) { return Cell(l.row->where()); }});
}

/// A column that only pairs have.
void add(std::vector<DataColumn>& all, const char* name, Cell (*get)(const Pair&)) {
  all.push_back({name, [get](const Line& l) { return l.pair ? get(*l.pair) : Cell(); }});
}

void add_pair(std::vector<DataColumn>& all) {
  using P = const Pair&;
  add(all, "from_impl", [](P p) { return text_cell(p.from.text("impl")); });
  add(all, "from_tile_m", [](P p) { return own_cell(p.from, "tile_m"); });
  add(all, "from_tile_n", [](P p) { return own_cell(p.from, "tile_n"); });
  add(all, "from_status", [](P p) { return text_cell(p.from.text("status")); });
  add(all, "from_line", [](P p) { return Cell(p.from.where()); });
  add(all, "time_from_us", [](P p) { return cell_of(p.time_us.from); });
  add(all, "time_to_us", [](P p) { return cell_of(p.time_us.to); });
  add(all, "time_ratio", [](P p) { return cell_of(p.time_us.ratio); });
  add(all, "time_ratio_lo",
      [](P p) { return p.time_ratio_interval ? Cell(p.time_ratio_interval->lo) : Cell(); });
  add(all, "time_ratio_hi",
      [](P p) { return p.time_ratio_interval ? Cell(p.time_ratio_interval->hi) : Cell(); });
  add(all, "time_within_noise",
      [](P p) { return p.time_ratio_interval ? Cell(int64_t{p.within_noise}) : Cell(); });
  add(all, "time_no_ratio", [](P p) { return text_cell(p.time_us.why_no_ratio); });
  add(all, "hbm_from_bytes", [](P p) { return cell_of(p.hbm_bytes.from); });
  add(all, "hbm_to_bytes", [](P p) { return cell_of(p.hbm_bytes.to); });
  add(all, "hbm_ratio", [](P p) { return cell_of(p.hbm_bytes.ratio); });
  add(all, "hbm_source", [](P p) { return text_cell(p.hbm_bytes.source); });
  add(all, "hbm_no_ratio", [](P p) { return text_cell(p.hbm_bytes.why_no_ratio); });
  add(all, "flops_from", [](P p) { return cell_of(p.flops.from); });
  add(all, "flops_to", [](P p) { return cell_of(p.flops.to); });
  add(all, "flops_ratio", [](P p) { return cell_of(p.flops.ratio); });
  add(all, "flops_source", [](P p) { return text_cell(p.flops.source); });
  add(all, "workspace_from_bytes", [](P p) { return cell_of(p.workspace_bytes.from); });
  add(all, "workspace_to_bytes", [](P p) { return cell_of(p.workspace_bytes.to); });
  add(all, "workspace_ratio", [](P p) { return cell_of(p.workspace_bytes.ratio); });
  add(all, "sentence", [](P p) { return Cell(sentence(p)); });
}

void add_why(std::vector<DataColumn>& all) {
  using A = const Attribution&;
  const auto figure = [&](const char* name, std::optional<double> Attribution::*field) {
    all.push_back(
        {name, [field](const Line& l) { return l.why ? cell_of(l.why->attribution.*field) : Cell(); }});
  };
  const auto words = [&](const char* name, std::string (*get)(A)) {
    all.push_back(
        {name, [get](const Line& l) { return l.why ? text_cell(get(l.why->attribution)) : Cell(); }});
    all.push_back({fmt::format("from_{}", name), [get](const Line& l) {
                     return l.from_why ? text_cell(get(l.from_why->attribution)) : Cell();
                   }});
  };
  figure("why_hbm_us", &Attribution::hbm_us);
  figure("why_matrix_us", &Attribution::matrix_us);
  figure("why_exp_us", &Attribution::exp_us);
  figure("why_launch_us", &Attribution::launch_us);
  figure("why_sum_us", &Attribution::sum_us);
  figure("why_overlap_pct", &Attribution::overlap_pct);
  figure("why_hbm_pct", &Attribution::hbm_pct);
  figure("why_matrix_pct", &Attribution::matrix_pct);
  figure("why_exp_pct", &Attribution::exp_pct);
  words("why_bound", [](A a) { return a.invalid ? std::string("invalid") : std::string(a.bound); });
  words("why", [](A a) { return a.reasoning; });
  all.push_back({"why_ceilings",
                 [](const Line& l) { return l.why ? text_cell(ceilings_text(l.why->ceilings)) : Cell(); }});
}

std::vector<DataColumn> data_columns(bool with_why) {
  std::vector<DataColumn> all;
  add_case(all);
  add_pair(all);
  if (with_why) add_why(all);
  return all;
}

const Explained* find_why(const std::vector<Explained>& explained, const Row& row) {
  const auto at = std::find_if(explained.begin(), explained.end(), [&](const Explained& e) {
    return e.row.line() == row.line() && e.row.file() == row.file();
  });
  return at == explained.end() ? nullptr : &*at;
}

std::vector<Line> lines_of(const Comparison& c, const std::vector<Explained>& explained) {
  std::vector<Line> lines;
  std::set<std::string> told;
  for (const Pair& pair : c.pairs) {
    lines.push_back({"both", &pair.to, &pair, find_why(explained, pair.to), find_why(explained, pair.from)});
    told.insert(pair.to.where());
    if (c.two_files) told.insert(pair.from.where());
  }
  for (const Row& row : c.only_from) lines.push_back({"before", &row, nullptr, find_why(explained, row)});
  for (const Row& row : c.only_to) lines.push_back({"after", &row, nullptr, find_why(explained, row)});
  for (const Line& line : lines) told.insert(line.row->where());
  for (const Explained& e : explained) {
    if (told.insert(e.row.where()).second) lines.push_back({"reference", &e.row, nullptr, &e});
  }
  return lines;
}

std::string json_mean(const std::optional<Mean::Of>& mean) {
  if (!mean) return "null";
  return fmt::format("{{\"ratio\":{},\"smallest\":{},\"largest\":{},\"pairs\":{}}}",
                     cell_text(Cell(mean->ratio)), cell_text(Cell(mean->smallest)),
                     cell_text(Cell(mean->largest)), mean->pairs);
}

}  // namespace

std::string comparison_csv(const Comparison& c, const std::vector<Explained>& explained) {
  const std::vector<DataColumn> all = data_columns(!explained.empty());
  std::vector<std::string> cells;
  for (const DataColumn& column : all) cells.push_back(column.name);
  std::string text = csv_line(cells);
  for (const Line& line : lines_of(c, explained)) {
    cells.clear();
    for (const DataColumn& column : all) cells.push_back(cell_text(column.get(line)));
    text += csv_line(cells);
  }
  return text;
}

std::string comparison_json(const Comparison& c, const std::vector<Explained>& explained) {
  std::vector<std::string> rows, means, notes;
  const std::vector<DataColumn> all = data_columns(!explained.empty());
  for (const Line& line : lines_of(c, explained)) {
    std::vector<std::string> cells;
    for (const DataColumn& column : all)
      cells.push_back(fmt::format("{}:{}", json_string(column.name), json_value(column.get(line))));
    rows.push_back(fmt::format("\n{{{}}}", fmt::join(cells, ",")));
  }
  for (const Mean& mean : geometric_means(c)) {
    means.push_back(fmt::format(
        "\n{{\"impl\":{},\"reference\":{},\"time\":{},\"hbm_bytes\":{},\"flops\":{},\"sentence\":{}}}",
        json_string(mean.impl), json_string(mean.reference), json_mean(mean.time), json_mean(mean.hbm_bytes),
        json_mean(mean.flops), json_string(sentence(mean))));
  }
  for (const std::string& note : c.notes) notes.push_back("\n" + json_string(note));
  return fmt::format(
      "{{\"from\":{},\"to\":{},\"device_mismatch\":{},\n\"rows\":[{}],\n\"means\":[{}],\n\"notes\":[{}]}}\n",
      json_string(c.from_name), json_value(text_cell(c.to_name)), json_value(text_cell(c.device_mismatch)),
      fmt::join(rows, ","), fmt::join(means, ","), fmt::join(notes, ","));
}

}  // namespace attnprof
