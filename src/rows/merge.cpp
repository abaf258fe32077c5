#include "rows/merge.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <limits>
#include <set>
#include <unordered_map>

#include "core/error.hpp"
#include "core/file_io.hpp"
#include "measure/shard.hpp"
#include "rows/cell_rules.hpp"
#include "rows/existing_csv.hpp"
#include "rows/table_row.hpp"

namespace attnprof {
namespace {

/// A row with what merging needs of it.
struct Entry {
  TableRow row;
  size_t plan = 0;       ///< by order of appearance; without a plan the largest
  int64_t plan_row = 0;  ///< 0 without a plan
};

int64_t positive(const TableRow& row, std::string_view column) {
  return row.whole(column, 1, std::numeric_limits<int64_t>::max());
}

/// Spreadsheets write 1.50 as 1.5: the same number is the same cell.
bool same_cell(const std::string& a, const std::string& b) {
  if (a == b || key_part(a) == key_part(b)) return true;
  const auto x = cell_number(a), y = cell_number(b);
  return x && y && *x == *y;
}

std::string device_of(const TableRow& row) {
  return device_key(row_device(row.optional_text("device"), row.optional_text("device_name"),
                               row.optional_text("device_uuid"), row.optional_text("hostname")));
}

/// What is known of a plan from its rows.
struct Plan {
  std::string name;
  std::string first;  ///< where a row of it is, for messages
  int64_t rows = 0;
  std::set<int64_t> seen;
  std::set<std::string> shards;  ///< as the cells say it; "" among them when some rows were not of a shard
};

/// The shards of which no row is there, when all rows agree on the number of shards; "" otherwise.
std::string absent_shards(const std::set<std::string>& shards) {
  constexpr std::string_view kOf = " of ";
  std::set<std::string> counts;
  for (const std::string& shard : shards) {
    const size_t of = shard.find(kOf);
    counts.insert(of == shard.npos ? "" : shard.substr(of + kOf.size()));
  }
  if (counts.size() != 1) return "";
  const std::string& text = *counts.begin();
  int count = 0;
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), count);
  if (error != std::errc() || stop != text.data() + text.size() || count > kMaxShards) return "";
  constexpr size_t kNamed = 8;
  std::string list;
  size_t absent = 0;
  for (int i = 1; i <= count; ++i) {
    if (shards.count(fmt::format("{} of {}", i, count)) > 0) continue;
    if (++absent <= kNamed) list += fmt::format("{}{}/{}", list.empty() ? "" : ", ", i, count);
  }
  if (absent > kNamed) list += fmt::format(" and {} more", absent - kNamed);
  return list;
}

/// Sorts entries' plans out while rows come in.
class Plans {
 public:
  void place(Entry& entry) {
    const TableRow& row = entry.row;
    const std::string& name = row.optional_text("plan");
    if (name.empty()) {
      entry.plan = SIZE_MAX;
      return;
    }
    entry.plan_row = positive(row, "plan_row");
    const int64_t rows = positive(row, "plan_rows");
    const auto [at, added] = index_.emplace(name, plans_.size());
    if (added) plans_.push_back({name, row.where(), rows, {}, {}});
    entry.plan = at->second;
    Plan& plan = plans_[at->second];
    if (rows != plan.rows)
      row.refuse("plan_rows",
                 fmt::format("cannot be right: {} has {} for the same plan", plan.first, plan.rows));
    if (entry.plan_row > rows)
      row.refuse("plan_row", fmt::format("is not in the plan, which has {} rows", rows));
    plan.seen.insert(entry.plan_row);
    plan.shards.insert(row.optional_text("shard"));
  }

  /// Of plans that were dealt out as shards, or of plans that one run did not finish.
  std::vector<std::string> missing(bool sharded) const {
    std::vector<std::string> sentences;
    for (const Plan& plan : plans_) {
      const int64_t absent = plan.rows - static_cast<int64_t>(plan.seen.size());
      const bool one_run = plan.shards == std::set<std::string>{""};
      if (absent == 0 || one_run == sharded) continue;
      std::string text = fmt::format("{} of the {} rows of plan {} are in none of these files", absent,
                                     plan.rows, plan.name);
      const std::string shards = absent_shards(plan.shards);
      if (one_run)
        text += "; the run did not finish";
      else
        text += shards.empty() ? "; a shard did not finish" : "; no row is of shard " + shards;
      sentences.push_back(text);
    }
    return sentences;
  }

 private:
  std::unordered_map<std::string, size_t> index_;
  std::vector<Plan> plans_;
};

void require_same_cells(const TableRow& a, const TableRow& b, const std::vector<std::string>& header) {
  for (const std::string& column : header) {
    const std::string &left = a.optional_text(column), &right = b.optional_text(column);
    if (same_cell(left, right)) continue;
    throw UsageError(fmt::format(
        "{} and {} are the same case on the same device and differ in column '{}': '{}' and '{}'; "
        "leave one of them out",
        a.where(), b.where(), column, left, right));
  }
}

}  // namespace

CsvTable read_rows_to_merge(const std::string& name) {
  const std::string path = input_name(name), text = read_input(name);
  auto table = parse_finished_rows(text, path);
  if (!table || table->complete_bytes == 0) {
    CsvTable none;
    none.file = path;
    none.torn_last_row = !text.empty();
    return none;
  }
  key_positions(*table);
  const std::string expected = std::to_string(kSchemaVersion);
  for (size_t i = 0; i < table->rows.size(); ++i) {
    const TableRow row(*table, i);
    if (row.text("schema") != expected)
      row.refuse("schema", "is not the schema that this version reads, " + expected);
  }
  if (!table->rows.empty()) {   // a shard may have measured nothing yet
    CsvTable checked = *table;  // what stays is what was written
    check_header_and_size(checked);
    check_and_normalise(checked);
  }
  return std::move(*table);
}

MergedRows merge_rows(const std::vector<CsvTable>& tables) {
  MergedRows merged;
  std::vector<std::vector<std::string>> headers;
  for (const CsvTable& table : tables) headers.push_back(table.header);
  merged.header = joined_header(headers);
  std::vector<Entry> entries;
  std::unordered_map<std::string, size_t> known;
  Plans plans;
  for (const CsvTable& table : tables) {
    const std::vector<size_t> key = table.rows.empty() ? std::vector<size_t>{} : key_positions(table);
    for (size_t i = 0; i < table.rows.size(); ++i) {
      Entry entry{TableRow(table, i)};
      plans.place(entry);
      const auto [at, added] = known.emplace(row_key(table, i, key) + device_of(entry.row), entries.size());
      if (!added) {
        require_same_cells(entries[at->second].row, entry.row, merged.header);
        ++merged.repeated;
        continue;
      }
      entries.push_back(entry);
    }
  }
  merged.missing = plans.missing(true);
  merged.unfinished = plans.missing(false);
  std::stable_sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) {
    return a.plan != b.plan ? a.plan < b.plan : a.plan_row < b.plan_row;
  });
  for (const Entry& entry : entries) {
    std::vector<std::string>& cells = merged.rows.emplace_back();
    for (const std::string& column : merged.header) cells.push_back(entry.row.optional_text(column));
  }
  return merged;
}

void write_rows(const MergedRows& merged, const std::string& path) {
  std::string text = csv_line(merged.header);
  for (const auto& row : merged.rows) text += csv_line(row);
  OutputFile(path, false).write(text);
}

}  // namespace attnprof
