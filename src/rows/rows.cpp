#include "rows/rows.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "core/error.hpp"
#include "core/file_io.hpp"
#include "rows/cell_rules.hpp"
#include "rows/columns.hpp"
#include "rows/human.hpp"

namespace attnprof {

namespace {

bool is_config(std::string_view column) {
  return column == "impl" || column == "tile_m" || column == "tile_n" || column == "stages" ||
         column == "warps" || column == "kernel";
}

/// Columns by which rows of one file can differ; a merged file may hold several devices.
std::vector<std::string_view> telling_columns() {
  std::vector<std::string_view> names;
  for (const Column& column : columns()) {
    if (column.is_key) names.push_back(column.name);
  }
  names.push_back("device_name");
  names.push_back("device_uuid");
  return names;
}

std::string unverified_reason(const Row& row) {
  if (!row.ok()) return std::string(to_string(row.status()));
  const auto error = row.number("rel_err"), tolerance = row.number("tolerance");
  if (!error) return "no rel_err";
  if (!tolerance) return "no tolerance";
  if (*error <= *tolerance) return "";
  return fmt::format("rel_err {:.3g} above tolerance {:.3g}", *error, *tolerance);
}

std::string counted(const Row& row, std::string_view column) {
  const auto value = row.number(column);
  return value ? human_count(static_cast<int64_t>(*value)) : std::string("?");
}

/// Column `name` for a label: "threads 4".
std::string named_cell(const Row& row, std::string_view name) {
  const std::string_view cell = row.text(name);
  return fmt::format(" {} {}", name, cell.empty() ? "none" : cell);
}

}  // namespace

std::string_view Row::file() const {
  return source_->table.file;
}
int64_t Row::line() const {
  return source_->table.row_lines[index_];
}
std::string Row::where() const {
  return fmt::format("{}:{}", file(), line());
}

std::string_view Row::text(std::string_view column) const {
  const auto at = source_->position.find(column);
  return at == source_->position.end() ? std::string_view() : source_->table.rows[index_][at->second];
}
std::optional<double> Row::number(std::string_view column) const {
  return cell_number(text(column));
}

RowDevice Row::device() const {
  return {std::string(text("device")), std::string(text("device_name")), std::string(text("device_uuid"))};
}

std::string Row::impl_label() const {
  std::string label(text("impl"));
  const auto side = [](std::string_view cell) { return cell.empty() ? std::string_view("?") : cell; };
  if (!text("tile_m").empty() || !text("tile_n").empty())
    label += fmt::format(" {}x{}", side(text("tile_m")), side(text("tile_n")));
  if (!kernel().empty()) label += fmt::format(" {}", kernel());
  return label;
}

std::string Row::problem_label() const {
  std::string label;
  if (text("pass") != "fwd") label += fmt::format("{} ", text("pass"));
  label += fmt::format("{} b{} h{}", text("dtype"), counted(*this, "batch"), text("heads"));
  if (text("kv_heads") != text("heads")) label += fmt::format("/{}", text("kv_heads"));
  label += " s" + counted(*this, "seqlen_q");
  if (text("seqlen_kv") != text("seqlen_q")) label += "x" + counted(*this, "seqlen_kv");
  label += fmt::format(" d{}", text("head_dim"));
  if (text("causal") == "1") label += " causal";
  if (text("window") != "0") label += " window " + counted(*this, "window");
  if (text("cache") != "cold") label += fmt::format(" {} cache", text("cache"));
  if (!text("rest").empty()) label += fmt::format(" rest {}", text("rest"));
  if (text("fill") != "normal") label += fmt::format(" {}", text("fill"));
  return label;
}

/// Turns a checked table into rows.
class RowReader {
 public:
  /// Of a table whose cells have been checked.
  RowReader(CsvTable table, Duplicates duplicates) {
    file_.file = table.file;
    file_.header = table.header;
    file_.torn_last_row = table.torn_last_row;
    auto source = std::make_shared<Row::Source>();
    source->table = std::move(table);
    for (size_t i = 0; i < source->table.header.size(); ++i)
      source->position.emplace(source->table.header[i], i);
    source_ = std::move(source);
    for (size_t i = 0; i < source_->table.rows.size(); ++i) file_.rows.push_back(make_row(i));
    make_labels_unique();
    if (duplicates != Duplicates::keep) settle(duplicates);
  }
  RowFile take() { return std::move(file_); }

 private:
  Row make_row(size_t index) const {
    static const std::vector<std::string_view> known = status_names();
    Row row;
    row.source_ = source_;
    row.index_ = index;
    const auto at = std::find(known.begin(), known.end(), row.text("status"));
    row.status_ = static_cast<Status>(at - known.begin());
    row.why_unverified_ = unverified_reason(row);
    for (const Column& column : columns()) {
      if (!column.is_key) continue;
      const std::string part = key_part(row.text(column.name)) + '\x1f';
      row.key_ += part;
      if (!is_config(column.name)) row.problem_key_ += part;
    }
    row.label_ = fmt::format("{}{}{} {}", row.text("impl"), row.kernel().empty() ? "" : " ", row.kernel(),
                             row.problem_label());
    return row;
  }

  /// In the order of the enumeration, up to its last member.
  static std::vector<std::string_view> status_names() {
    std::vector<std::string_view> names;
    for (int i = 0; i <= static_cast<int>(Status::no_samples); ++i)
      names.push_back(to_string(static_cast<Status>(i)));
    return names;
  }

  /// The same case, or the same kernel of it, on the same device. The file may hold several devices.
  static std::string identity(const Row& row) {
    return fmt::format("{}{}\x1f{}\x1f{}", row.key(), row.kernel(), row.text("device_name"),
                       row.text("device_uuid"));
  }

  /// Adds to labels that several keys share what tells those apart.
  void make_labels_unique() {
    std::unordered_map<std::string, std::vector<Row*>> by_label;
    for (Row& row : file_.rows) by_label[row.label_].push_back(&row);
    for (const auto& same_label : by_label) {
      const std::vector<Row*>& rows = same_label.second;  // clang 14: a lambda cannot capture a binding
      if (rows.size() < 2) continue;
      bool tiles = false;
      std::vector<std::string_view> varying;
      for (const std::string_view name : telling_columns()) {
        const auto same = [&](const Row* r) {
          return key_part(r->text(name)) == key_part(rows.front()->text(name));
        };
        if (std::all_of(rows.begin(), rows.end(), same)) continue;
        if (name == "tile_m" || name == "tile_n") {
          tiles = true;
        } else {
          varying.push_back(name);
        }
      }
      for (Row* row : rows) {
        if (tiles) row->label_ = row->impl_label() + " " + row->problem_label();
        for (const std::string_view name : varying) row->label_ += named_cell(*row, name);
      }
    }
  }

  void settle(Duplicates duplicates) {
    std::unordered_map<std::string, size_t> group_of;
    std::vector<std::vector<Row>> groups;
    for (const Row& row : file_.rows) {
      const auto [at, is_new] = group_of.emplace(identity(row), groups.size());
      if (is_new) groups.emplace_back();
      auto& group = groups[at->second];
      if (!is_new && duplicates == Duplicates::refuse) {
        throw UsageError(fmt::format("{}: repeats line {} ({}): which of the two counts? keep one of them",
                                     row.where(), group.front().line(), row.label()));
      }
      group.push_back(row);
    }
    if (groups.size() == file_.rows.size()) return;
    file_.repeats = file_.rows.size() - groups.size();
    file_.rows.clear();
    for (const auto& group : groups) file_.rows.push_back(representative(group));
  }

  /// The row that stands for repeats of one case: whole rows are kept, so its figures belong together.
  static Row representative(std::vector<Row> group) {
    const auto wrong = std::find_if(group.begin(), group.end(), [](const Row& r) { return !r.verified(); });
    if (wrong != group.end()) return *wrong;
    std::stable_sort(group.begin(), group.end(), [](const Row& a, const Row& b) {
      return a.number("time_us").value_or(0) < b.number("time_us").value_or(0);
    });
    return group[group.size() / 2];
  }

  std::shared_ptr<const Row::Source> source_;
  RowFile file_;
};

RowFile rows_of(CsvTable table, Duplicates duplicates) {
  check_header_and_size(table);
  check_and_normalise(table);
  return RowReader(std::move(table), duplicates).take();
}

RowFile rows_of(const std::vector<Record>& records) {
  CsvTable table;
  table.file = "this sweep";
  for (const Column& column : columns()) table.header.emplace_back(column.name);
  for (const Record& record : records) {
    std::vector<std::string> cells;
    for (const Column& column : columns()) cells.push_back(cell_text(column.get(record)));
    table.rows.push_back(std::move(cells));
    table.row_lines.push_back(static_cast<int64_t>(table.rows.size()) + 1);
  }
  return RowReader(std::move(table), Duplicates::keep).take();
}

RowFile read_rows(const std::string& path, Duplicates duplicates) {
  return rows_of(parse_csv(read_input(path), input_name(path)), duplicates);
}

std::string device_difference(const Row& a, const Row& b) {
  const RowDevice x = a.device(), y = b.device();
  if (x.device != y.device || x.name != y.name) return device_text(x) + " against " + device_text(y);
  if (!x.uuid.empty() && !y.uuid.empty() && x.uuid != y.uuid)
    return fmt::format("{} {} against {}", device_text(x), x.uuid, y.uuid);
  return "";
}

std::string machine_difference(const Row& a, const Row& b) {
  const std::string difference = device_difference(a, b);
  if (!difference.empty() || a.driver() == b.driver()) return difference;
  return fmt::format("driver {} against {}", a.driver(), b.driver());
}

std::vector<std::string> implementations(const RowFile& file) {
  std::vector<std::string> names;
  for (const Row& row : file.rows) {
    const std::string name(row.text("impl"));
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  }
  return names;
}

std::optional<double> resolved_time_us(const Row& row) {
  if (!row.ok() || row.text("below_resolution") == "1") return std::nullopt;
  return row.number("time_us");
}

std::optional<double> hbm_bytes(const Row& row) {
  const auto read = row.number("hbm_read_bytes"), written = row.number("hbm_write_bytes");
  if (!row.ok() || !read || !written) return std::nullopt;
  return *read + *written;
}

std::optional<bool> served_by_cache(const Row& row) {
  const auto bytes = hbm_bytes(row), least = row.number("min_hbm_bytes");
  if (!bytes || !least) return std::nullopt;
  return 2 * *bytes < *least;
}

std::optional<double> measured_flops(const Row& row) {
  const auto flops = row.number("tensor_flops");
  return row.ok() && flops && *flops > 0 ? flops : std::nullopt;  // 0: the case ran on other units
}
std::optional<double> modelled_flops(const Row& row) {
  return row.ok() ? row.number("executed_flops") : std::nullopt;
}
std::optional<ExecutedFlops> executed_flops(const Row& row) {
  if (const auto measured = measured_flops(row)) return ExecutedFlops{*measured, "measured"};
  if (const auto modelled = modelled_flops(row)) return ExecutedFlops{*modelled, "modelled"};
  return std::nullopt;
}

}  // namespace attnprof
