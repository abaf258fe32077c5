#include "rows/columns.hpp"

#include <algorithm>
#include <unordered_map>

#include "rows/column_groups.hpp"
#include "rows/row.hpp"

namespace attnprof {

namespace {

struct Group {
  const char* title;
  std::vector<Column> columns;
};

const std::vector<Group>& groups() {
  static const std::vector<Group> all = {
      {"The case", case_columns()},
      {"Measured", measurement_columns()},
      {"Against what the device can do", attribution_columns()},
      {"In theory, and what the case needs", model_columns()},
      {"Where and how", environment_columns()},
  };
  return all;
}

}  // namespace

const std::vector<Column>& columns() {
  static const std::vector<Column> all = [] {
    std::vector<Column> joined;
    for (const Group& group : groups())
      joined.insert(joined.end(), group.columns.begin(), group.columns.end());
    for (Column& column : joined) {
      const Cell cell = column.get ? column.get({}) : column.derive({});
      column.is_text = std::holds_alternative<std::string>(cell);  // also when it is empty
    }
    return joined;
  }();
  return all;
}

std::vector<std::string> column_names() {
  std::vector<std::string> names;
  for (const Column& column : columns()) names.emplace_back(column.name);
  return names;
}

const std::vector<std::string_view>& key_columns() {
  static const std::vector<std::string_view> keys = [] {
    std::vector<std::string_view> names;
    for (const Column& column : columns()) {
      if (column.is_key) names.push_back(column.name);
    }
    return names;
  }();
  return keys;
}

const Column* find_column(std::string_view name) {
  static const auto by_name = [] {
    std::unordered_map<std::string_view, const Column*> map;
    for (const Column& column : columns()) map.emplace(column.name, &column);
    return map;
  }();
  const auto at = by_name.find(name);
  return at == by_name.end() ? nullptr : at->second;
}

std::string columns_markdown() {
  std::string text =
      "# Columns\n\n"
      "One row per planned case, one column per quantity; the same names in CSV and JSON Lines. An empty "
      "cell (JSON: null)\n"
      "is a value that is not known: never 0. Columns are found by name: their order may change, names do "
      "not, and new\n"
      "ones may appear. This page is what `attnprof list columns` prints.\n\n"
      "Columns marked *key* identify a row: `--resume` and comparisons use them. Schema " +
      std::to_string(kSchemaVersion) + ".\n";
  for (const Group& group : groups()) {
    text += "\n## " + std::string(group.title) + "\n\n| column | unit | key | meaning |\n|---|---|---|---|\n";
    for (const Column& column : group.columns) {
      std::string meaning;
      for (const char c : column.meaning) meaning += c == '|' ? std::string("\\|") : std::string(1, c);
      text += "| `" + std::string(column.name) + "` | " + std::string(column.unit) + " | " +
              (column.is_key ? "key" : "") + " | " + meaning + " |\n";
    }
  }
  return text;
}

std::string_view to_string(Status status) {
  constexpr std::array<std::string_view, 7> kNames{"ok",     "skipped",       "unsupported", "oom",
                                                   "failed", "verify-failed", "no-samples"};
  return kNames[static_cast<size_t>(status)];
}

std::string_view to_string(BytesSource source) {
  constexpr std::array<std::string_view, 3> kNames{"", "counted", "cupti"};
  return kNames[static_cast<size_t>(source)];
}

std::string_view to_string(CacheMode cache) {
  return cache == CacheMode::cold ? "cold" : "hot";
}
std::string_view to_string(DeviceKind kind) {
  return kind == DeviceKind::host ? "cpu" : "gpu";
}

}  // namespace attnprof
