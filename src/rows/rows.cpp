#include "rows/rows.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>
#include <utility>

#include "core/error.hpp"
#include "core/file_io.hpp"
#include "rows/cell_rules.hpp"
#include "rows/columns.hpp"

namespace attnprof {

namespace {

/// Columns by which rows of one file can differ; a merged file may hold several devices.
std::vector<std::string_view> telling_columns() {
  std::vector<std::string_view> names = key_columns();
  for (const char* name : {"device_name", "device_uuid", "hostname"}) names.push_back(name);
  return names;
}

/// Column `name` for a label: "threads 4".
std::string named_cell(const Row& row, std::string_view name) {
  const std::string_view cell = row.text(name);
  return fmt::format(" {} {}", name, cell.empty() ? "none" : cell);
}

/// Adds to labels that several keys share what tells those apart.
void make_labels_unique(std::vector<Row>& all) {
  std::unordered_map<std::string, std::vector<Row*>> by_label;
  for (Row& row : all) by_label[row.label()].push_back(&row);
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
      std::string label = tiles ? row->impl_label() + " " + row->problem_label() : row->label();
      for (const std::string_view name : varying) label += named_cell(*row, name);
      row->set_label(std::move(label));
    }
  }
}

/// The same case, or the same kernel of it, on the same device. A file may hold several devices.
std::string identity(const Row& row) {
  return row.key() + device_key(row.device());
}

/// The row that stands for repeats of one case: whole rows are kept, so its figures belong together.
Row representative(std::vector<Row> group) {
  const auto wrong = std::find_if(group.begin(), group.end(), [](const Row& r) { return !r.verified(); });
  if (wrong != group.end()) return *wrong;
  std::stable_sort(group.begin(), group.end(), [](const Row& a, const Row& b) {
    return a.number("time_us").value_or(0) < b.number("time_us").value_or(0);
  });
  return group[group.size() / 2];
}

void settle(RowFile& file, Duplicates duplicates) {
  std::unordered_map<std::string, size_t> group_of;
  std::vector<std::vector<Row>> groups;
  for (const Row& row : file.rows) {
    const auto [at, is_new] = group_of.emplace(identity(row), groups.size());
    if (is_new) groups.emplace_back();
    auto& group = groups[at->second];
    if (!is_new && duplicates == Duplicates::refuse) {
      throw UsageError(fmt::format("{}: repeats line {} ({}): which of the two counts? keep one of them",
                                   row.where(), group.front().line(), row.label()));
    }
    group.push_back(row);
  }
  file.repeats = file.rows.size() - groups.size();
  if (file.repeats == 0) return;
  file.rows.clear();
  for (const auto& group : groups) file.rows.push_back(representative(group));
}

}  // namespace

RowFile rows_of(CsvTable table, Duplicates duplicates) {
  check_header_and_size(table);
  std::vector<NotANumber> not_numbers = check_and_normalise(table);
  RowFile file{table.file, table.header, {}, 0, table.torn_last_row, std::move(not_numbers)};
  const auto header = std::make_shared<const RowHeader>(table.file, std::move(table.header));
  for (size_t i = 0; i < table.rows.size(); ++i) {
    file.rows.emplace_back(header, std::make_shared<const std::vector<std::string>>(std::move(table.rows[i])),
                           table.row_lines[i]);
  }
  make_labels_unique(file.rows);
  if (duplicates != Duplicates::keep) settle(file, duplicates);
  return file;
}

RowFile read_rows(const std::string& path, Duplicates duplicates) {
  return rows_of(parse_csv(read_input(path), input_name(path)), duplicates);
}

RowFile as_file(std::vector<Row> rows) {
  RowFile file{"this sweep", column_names(), std::move(rows), 0, false};
  make_labels_unique(file.rows);
  return file;
}

std::vector<std::string> implementations(const RowFile& file) {
  std::vector<std::string> names;
  for (const Row& row : file.rows) {
    const std::string name(row.text("impl"));
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  }
  return names;
}

}  // namespace attnprof
