#include "core/toml_file.hpp"

#include <fmt/format.h>

#include <toml++/toml.h>
#include <algorithm>
#include <cmath>
#include <numeric>
#include <tuple>

#include "core/error.hpp"

namespace attnprof {
namespace {

/// Insertions, deletions and replacements that turn one word into the other (Levenshtein).
size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), size_t{0});
  for (size_t i = 1; i <= a.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t replaced = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, replaced});
    }
  }
  return row.back();
}

TomlTable table_of(const toml::table& source);

TomlNode node_of(std::string_view key, const toml::source_position& place, const toml::node& source) {
  TomlNode node{std::string(key), static_cast<int>(place.line), static_cast<int>(place.column), TomlDate{}};
  if (const auto* flag = source.as_boolean()) node.value = flag->get();
  if (const auto* integer = source.as_integer()) node.value = integer->get();
  if (const auto* number = source.as_floating_point()) node.value = number->get();
  if (const auto* text = source.as_string()) node.value = text->get();
  if (const auto* table = source.as_table()) node.value = table_of(*table);
  if (const auto* array = source.as_array()) {
    TomlArray items;
    for (const toml::node& item : *array) items.items.push_back(node_of(key, item.source().begin, item));
    node.value = std::move(items);
  }
  return node;
}

TomlTable table_of(const toml::table& source) {
  TomlTable table;
  for (const auto& [key, value] : source)
    table.entries.push_back(node_of(key.str(), key.source().begin, value));
  std::sort(table.entries.begin(), table.entries.end(), [](const TomlNode& a, const TomlNode& b) {
    return std::tie(a.line, a.column) < std::tie(b.line, b.column);
  });
  return table;
}

}  // namespace

std::optional<double> TomlNode::number() const {
  if (const int64_t* integer = as<int64_t>()) return static_cast<double>(*integer);
  const double* number = as<double>();
  return number && std::isfinite(*number) ? std::optional(*number) : std::nullopt;
}

std::optional<std::string> TomlNode::text() const {
  if (const std::string* text = as<std::string>()) return *text;
  if (const bool* flag = as<bool>()) return *flag ? "true" : "false";
  if (const int64_t* integer = as<int64_t>()) return fmt::format("{}", *integer);
  if (const double* number = as<double>()) return fmt::format("{}", *number);  // the shortest that reads back
  return std::nullopt;
}

TomlFile::TomlFile(std::string_view text, std::string name) : name_(std::move(name)) {
  try {
    root_ = table_of(toml::parse(text, name_));
  } catch (const toml::parse_error& e) {
    const toml::source_position& at = e.source().begin;
    throw UsageError(fmt::format("{}:{}:{}: {}", name_, at.line, at.column, e.description()));
  }
}

std::string TomlFile::place(const TomlNode& node) const {
  return fmt::format("{}:{}:{}", name_, node.line, node.column);
}

void TomlFile::fail(const TomlNode& node, const std::string& what) const {
  throw UsageError(fmt::format("{}: key '{}': {}", place(node), node.key, what));
}

void TomlFile::unknown_key(const TomlNode& node, const std::vector<std::string>& known) const {
  const std::string& word = node.key;
  const auto nearest =
      std::min_element(known.begin(), known.end(), [&word](const std::string& a, const std::string& b) {
        return edit_distance(word, a) < edit_distance(word, b);
      });
  fail(node, nearest == known.end() ? "unknown" : fmt::format("unknown; the nearest is '{}'", *nearest));
}

}  // namespace attnprof
