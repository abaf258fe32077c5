#include "rows/cell_rules.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <optional>

#include "core/axis.hpp"
#include "core/error.hpp"
#include "rows/columns.hpp"

namespace attnprof {

namespace {

/// Numbers of rows that are not ok need only be numbers.
enum class Kind {
  text,      ///< anything
  word,      ///< one of a few, never empty
  number,    ///< any number
  amount,    ///< 0 or more
  duration,  ///< more than 0
  count,     ///< whole, 0 or more
  size,      ///< whole, 1 or more
  flag,      ///< 0 or 1
};

using Words = std::vector<std::string_view>;

/// More than any machine does, by far: a cell above it is damaged, and would drown every mean and picture.
constexpr double kMostUs = 1e13;     // 116 days for one launch
constexpr double kMostBytes = 1e18;  // an exabyte
constexpr double kMostFlops = 1e24;
constexpr double kMostPerSecond = 1e9;  // of 1e9 bytes, or of 1e12 FLOPs
constexpr double kMostOfOthers = 1e15;

struct Rule {
  Kind kind = Kind::text;
  bool may_be_empty = true;
  Words words{};
  double most = kMostOfOthers;
};

bool one_of(std::string_view name, const Words& names) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

Words status_words() {
  Words words;
  for (const Status s : kStatuses) words.push_back(to_string(s));
  return words;
}

Rule rule_of(const Axis& axis) {
  Rule rule{Kind::amount, axis.empty_when_neutral, {}, axis.most};
  switch (axis.kind) {
    case AxisKind::word:
      rule.kind = Kind::word;
      for (const AxisWord& word : axis.words) rule.words.push_back(word.word);
      break;
    case AxisKind::flag:
      rule.kind = Kind::flag;
      break;
    case AxisKind::size:
      rule.kind = Kind::size;
      break;
    case AxisKind::count:
      rule.kind = Kind::count;
      break;
    case AxisKind::number:
      break;
  }
  return rule;
}

/// Columns whose unit does not say what they hold.
std::optional<Rule> rule_by_name(std::string_view name) {
  if (const Axis* axis = find_axis(name)) return rule_of(*axis);
  if (name == "device") return Rule{Kind::word, false, {"cpu", "gpu"}};
  if (name == "cache") return Rule{Kind::word, false, {"cold", "hot"}};
  if (name == "status") return Rule{Kind::word, false, status_words()};
  if (name == "bytes_source") return Rule{Kind::word, true, {"cupti", "counted"}};
  if (name == "impl") return Rule{Kind::text, false};
  if (name == "tolerance") return Rule{Kind::amount, true, {}, 1};  // of a relative error
  if (one_of(name, {"threads", "samples", "warmups", "launches", "counter_passes", "rows_checked",
                    "registers", "plan_row", "plan_rows"})) {
    return Rule{Kind::count};
  }
  if (one_of(name, {"max_abs_err", "rel_err"})) return Rule{Kind::amount, true, {}, 1e300};
  if (name == "rest") return Rule{Kind::amount, true, {}, 1e3};
  if (name == "exp_count") return Rule{Kind::amount, true, {}, kMostFlops};
  if (one_of(name, {"time_us", "time_lo_us", "time_hi_us", "time_min_us", "time_max_us", "kernels_us"}))
    return Rule{Kind::duration, true, {}, kMostUs};
  return std::nullopt;
}

double most_of(std::string_view unit) {
  if (unit == "us") return kMostUs;
  if (unit == "ms") return kMostUs / 1000;
  if (unit == "bytes") return kMostBytes;
  if (unit == "flop") return kMostFlops;
  if (unit == "GB/s" || unit == "TFLOP/s" || unit == "Gexp/s") return kMostPerSecond;
  return kMostOfOthers;
}

Rule rule_for(std::string_view name) {
  if (const auto rule = rule_by_name(name)) return *rule;
  const Column* column = find_column(name);
  if (column == nullptr || column->unit.empty()) return {};
  if (column->unit == "0/1") return {Kind::flag};
  if (column->unit == "%") return {Kind::number};  // a deviation may be negative
  return {Kind::amount, true, {}, most_of(column->unit)};
}

std::string_view trimmed(std::string_view text) {
  const size_t begin = text.find_first_not_of(" \t");
  if (begin == text.npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t") - begin + 1);
}

std::string word_without_sign(std::string_view text) {
  if (!text.empty() && (text.front() == '-' || text.front() == '+')) text.remove_prefix(1);
  std::string low;
  for (const char c : text) low += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return low;
}
/// What arithmetic gives when it went wrong.
bool not_a_number(std::string_view text) {
  return one_of(word_without_sign(trimmed(text)), {"nan", "inf", "infinity"});
}
/// The words that tools write for a number that is not there.
bool means_missing(std::string_view text) {
  return not_a_number(text) || one_of(word_without_sign(text), {"", "na", "n/a", "null", "none"});
}

std::string listed(const Words& words) {
  std::string text;
  for (size_t i = 0; i < words.size(); ++i) {
    text += (i == 0 ? "" : i + 1 == words.size() ? " or " : ", ") + std::string(words[i]);
  }
  return text;
}

/// What is wrong with the cell; "" when nothing is. Rewrites a number that stands for nothing to "".
std::string complaint(std::string& cell, const Rule& rule, bool row_is_ok) {
  if (rule.kind == Kind::text) return cell.empty() && !rule.may_be_empty ? "is empty" : "";
  if (rule.kind == Kind::word) {
    if (cell.empty()) return rule.may_be_empty ? "" : "is empty; right would be " + listed(rule.words);
    if (one_of(cell, rule.words)) return "";
    return fmt::format("'{}' is none of {}", cell, listed(rule.words));
  }
  cell = trimmed(cell);
  if (means_missing(cell)) {
    cell.clear();
    return rule.may_be_empty ? "" : "is empty; a number was expected";
  }
  const auto value = cell_number(cell);
  if (!value) {
    const bool comma = cell.find(',') != cell.npos;
    return fmt::format("'{}' is not a number{}", cell, comma ? "; decimals need a '.'" : "");
  }
  if (!row_is_ok) return "";  // what was asked for may have made no sense: that is why it was not run
  if (*value > rule.most || (rule.kind == Kind::number && -*value > rule.most))
    return fmt::format("'{}' cannot be; at most {:g} can", cell, rule.most);
  const bool whole = std::floor(*value) == *value;
  switch (rule.kind) {
    case Kind::flag:
      return *value == 0 || *value == 1 ? "" : fmt::format("'{}' is neither 0 nor 1", cell);
    case Kind::duration:
      return *value > 0 ? "" : fmt::format("'{}' is no time; it must be above 0", cell);
    case Kind::amount:
      return *value >= 0 ? "" : fmt::format("'{}' is negative", cell);
    case Kind::size:
      if (*value < 1) return fmt::format("'{}' is below 1", cell);
      [[fallthrough]];
    case Kind::count:
      if (!whole) return fmt::format("'{}' is not a whole number", cell);
      return *value >= 0 ? "" : fmt::format("'{}' is negative", cell);
    default:
      return "";
  }
}

/// One form for whole numbers: pandas writes 128.0 where a column has gaps, others 1E3. Long seeds stay as
/// they are.
void unify_whole(std::string& cell) {
  if (cell.find_first_of(".eE") == cell.npos) return;
  const auto value = cell_number(cell);
  if (value && std::floor(*value) == *value && std::abs(*value) < 9e15)
    cell = cell_text(Cell(static_cast<int64_t>(*value)));
}

[[noreturn]] void refuse(const CsvTable& table, size_t row, std::string_view column,
                         const std::string& what) {
  throw UsageError(fmt::format("{}:{}: column '{}': {}", table.file, table.row_lines[row], column, what));
}

/// Rules between the cells of one row.
class CrossChecks {
 public:
  explicit CrossChecks(const CsvTable& table) : table_(table) {
    for (size_t i = 0; i < kNames.size(); ++i) {
      const auto at = std::find(table.header.begin(), table.header.end(), kNames[i]);
      position_[i] = at - table.header.begin();
    }
  }
  void check(size_t row, bool row_is_ok) const {
    const auto time = value(row, 0), low = value(row, 1), high = value(row, 2), least = value(row, 3),
               most = value(row, 4);
    const auto order = [&](const auto& below, size_t a, const auto& above, size_t b) {
      // Equal values stay equal through a spreadsheet's 15 digits; this is only for those that nearly are.
      constexpr double kRounding = 1 + 1e-9;
      if (!below || !above || *below <= *above * kRounding) return;
      refuse(table_, row, kNames[a],
             fmt::format("'{}' is above {} '{}'", cell(row, a), kNames[b], cell(row, b)));
    };
    order(low, 1, time, 0);
    order(time, 0, high, 2);
    order(low, 1, high, 2);
    order(least, 3, time, 0);
    order(time, 0, most, 4);
    if (row_is_ok && time && value(row, 5) == 0.0)
      refuse(table_, row, kNames[5], fmt::format("'{}', but there is a time of status ok", cell(row, 5)));
    if (row_is_ok && value(row, 6) == 0.0)
      refuse(table_, row, kNames[6],
             fmt::format("'{}', but status is ok: nothing was verified", cell(row, 6)));
  }

 private:
  static constexpr std::array<std::string_view, 7> kNames{
      "time_us", "time_lo_us", "time_hi_us", "time_min_us", "time_max_us", "samples", "rows_checked"};
  std::string_view cell(size_t row, size_t i) const {
    const auto& cells = table_.rows[row];
    const auto at = static_cast<size_t>(position_[i]);
    return at < cells.size() ? std::string_view(cells[at]) : std::string_view();
  }
  std::optional<double> value(size_t row, size_t i) const { return cell_number(cell(row, i)); }

  const CsvTable& table_;
  std::array<std::ptrdiff_t, kNames.size()> position_{};
};

}  // namespace

const std::vector<std::string_view>& required_columns() {
  static const std::vector<std::string_view> names{
      "device",   "threads",   "impl",     "pass",   "dtype",  "batch", "heads", "kv_heads",
      "seqlen_q", "seqlen_kv", "head_dim", "causal", "window", "scale", "fill",  "seed",
      "cache",    "tile_m",    "tile_n",   "stages", "warps",  "status"};
  return names;
}

void check_header_and_size(const CsvTable& table) {
  for (const std::string_view name : required_columns()) {
    if (table.has(name)) continue;
    std::string unknown;
    for (const std::string& own : table.header) {
      if (find_column(own) == nullptr) unknown += (unknown.empty() ? "'" : ", '") + own + "'";
    }
    throw UsageError(
        fmt::format("{}:1: has no column '{}', so its rows cannot be told apart{}", table.file, name,
                    unknown.empty() ? "" : fmt::format("; was it renamed? not known here: {}", unknown)));
  }
  for (const std::string_view name : {"time_us", "rel_err", "tolerance"}) {
    if (!table.has(name)) {
      throw UsageError(
          fmt::format("{}:1: has no column '{}', without which nothing can be compared", table.file, name));
    }
  }
  if (!table.has("schema")) {
    throw UsageError(
        fmt::format("{}:1: has no column 'schema', which says what the others mean; this version reads {}",
                    table.file, kSchemaVersion));
  }
  if (table.rows.empty()) {
    throw UsageError(fmt::format("{}: has a header but no {}rows; was anything measured?", table.file,
                                 table.torn_last_row ? "complete " : ""));
  }
}

std::vector<NotANumber> check_and_normalise(CsvTable& table) {
  std::vector<NotANumber> not_numbers;
  std::vector<Rule> rules;
  for (const std::string& name : table.header) rules.push_back(rule_for(name));
  const size_t status = table.column("status");
  const size_t schema = table.column("schema");
  const CrossChecks cross(table);
  for (size_t row = 0; row < table.rows.size(); ++row) {
    auto& cells = table.rows[row];
    if (cells[status] == "status") {
      throw UsageError(fmt::format(
          "{}:{}: is a second header line: files were joined as they are; keep the first header only, or "
          "read the files one by one",
          table.file, table.row_lines[row]));
    }
    const auto version = cell_number(trimmed(cells[schema]));
    if (version != double{kSchemaVersion}) {
      const bool newer = version && *version > kSchemaVersion;
      refuse(table, row, "schema",
             fmt::format("'{}', this version reads {}{}", cells[schema], kSchemaVersion,
                         newer ? "; a newer attnprof wrote it" : ""));
    }
    const bool is_ok = cells[status] == to_string(Status::ok);
    for (size_t i = 0; i < cells.size(); ++i) {
      const bool numeric = rules[i].kind != Kind::text && rules[i].kind != Kind::word;
      if (numeric && is_ok && not_a_number(cells[i]))
        not_numbers.push_back({table.row_lines[row], table.header[i], cells[i]});
      const std::string wrong = complaint(cells[i], rules[i], is_ok);
      if (!wrong.empty()) refuse(table, row, table.header[i], wrong);
      if (numeric) unify_whole(cells[i]);
    }
    cross.check(row, is_ok);
  }
  return not_numbers;
}

}  // namespace attnprof
