#include "rows/merge.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <optional>
#include <set>
#include <unordered_map>

#include "core/error.hpp"
#include "core/file_io.hpp"
#include "measure/shard.hpp"
#include "rows/existing_csv.hpp"

namespace attnprof {
namespace {

/// A row where it stands, with what merging needs of it.
struct Entry {
  const CsvTable* table;
  size_t row;
  size_t plan = 0;       ///< by order of appearance; without a plan the largest
  int64_t plan_row = 0;  ///< 0 without a plan

  std::string where() const { return fmt::format("{}:{}", table->file, table->row_lines[row]); }
};

/// "" where the file has no such column.
const std::string& cell(const CsvTable& table, size_t row, std::string_view column) {
  static const std::string none;
  const auto at = std::find(table.header.begin(), table.header.end(), column);
  return at == table.header.end() ? none : table.rows[row][static_cast<size_t>(at - table.header.begin())];
}

[[noreturn]] void fail(const CsvTable& table, size_t row, std::string_view column, std::string_view rule) {
  throw UsageError(fmt::format("{}:{}: has '{}' in column '{}', {}", table.file, table.row_lines[row],
                               cell(table, row, column), column, rule));
}

int64_t positive(const CsvTable& table, size_t row, std::string_view column) {
  const std::string& text = cell(table, row, column);
  int64_t value = 0;
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || stop != text.data() + text.size() || value < 1) {
    fail(table, row, column, "which takes whole numbers from 1");
  }
  return value;
}

/// Spreadsheets write 1.50 as 1.5: the same number is the same cell.
bool same_cell(const std::string& a, const std::string& b) {
  if (a == b) return true;
  const auto x = cell_number(a), y = cell_number(b);
  return x && y && *x == *y;
}

/// Key and device of a row.
std::string identity(const CsvTable& table, size_t row, const std::vector<size_t>& key) {
  const std::string& uuid = cell(table, row, "device_uuid");
  return row_key(table, row, key) + cell(table, row, "device_name") + '\x1f' +
         (uuid.empty() ? cell(table, row, "hostname") : uuid);
}

/// What is known of a plan from its rows.
struct Plan {
  std::string name;
  std::optional<Entry> first;  ///< a row of it, for messages
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
    const CsvTable& table = *entry.table;
    const std::string& name = cell(table, entry.row, "plan");
    if (name.empty()) {
      entry.plan = SIZE_MAX;
      return;
    }
    const auto [at, added] = index_.emplace(name, plans_.size());
    if (added) plans_.push_back({name, {}, 0, {}, {}});
    entry.plan = at->second;
    entry.plan_row = positive(table, entry.row, "plan_row");
    const int64_t rows = positive(table, entry.row, "plan_rows");
    Plan& plan = plans_[at->second];
    if (!plan.first) {
      plan.first = entry;
      plan.rows = rows;
    }
    if (rows != plan.rows) {
      fail(table, entry.row, "plan_rows",
           fmt::format("{} has {} for the same plan", plan.first->where(), plan.rows));
    }
    if (entry.plan_row > rows) fail(table, entry.row, "plan_row", fmt::format("the plan has {} rows", rows));
    plan.seen.insert(entry.plan_row);
    plan.shards.insert(cell(table, entry.row, "shard"));
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

std::vector<std::string> joined_header(const std::vector<CsvTable>& tables) {
  std::vector<std::string> header;
  std::set<std::string> have;
  for (const CsvTable& table : tables) {
    for (const std::string& name : table.header) {
      if (have.insert(name).second) header.push_back(name);
    }
  }
  return header;
}

void require_same_cells(const Entry& a, const Entry& b, const std::vector<std::string>& header) {
  for (const std::string& column : header) {
    const std::string &left = cell(*a.table, a.row, column), &right = cell(*b.table, b.row, column);
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
  const size_t schema = table->column("schema");
  const std::string expected = std::to_string(kSchemaVersion);
  for (size_t row = 0; row < table->rows.size(); ++row) {
    if (table->rows[row][schema] != expected) fail(*table, row, "schema", "this version reads " + expected);
  }
  return std::move(*table);
}

MergedRows merge_rows(const std::vector<CsvTable>& tables) {
  MergedRows merged;
  merged.header = joined_header(tables);
  std::vector<Entry> entries;
  std::unordered_map<std::string, size_t> known;
  Plans plans;
  for (const CsvTable& table : tables) {
    const std::vector<size_t> key = table.rows.empty() ? std::vector<size_t>{} : key_positions(table);
    for (size_t row = 0; row < table.rows.size(); ++row) {
      Entry entry{&table, row};
      plans.place(entry);
      const auto [at, added] = known.emplace(identity(table, row, key), entries.size());
      if (!added) {
        require_same_cells(entries[at->second], entry, merged.header);
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
    for (const std::string& column : merged.header) cells.push_back(cell(*entry.table, entry.row, column));
  }
  return merged;
}

void write_rows(const MergedRows& merged, const std::string& path) {
  std::string text;
  const auto add_line = [&text](const std::vector<std::string>& cells) {
    for (size_t i = 0; i < cells.size(); ++i) text += (i > 0 ? "," : "") + csv_field(cells[i]);
    text += '\n';
  };
  add_line(merged.header);
  for (const auto& row : merged.rows) add_line(row);
  OutputFile(path, false).write(text);
}

}  // namespace attnprof
