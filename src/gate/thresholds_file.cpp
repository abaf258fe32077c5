// The thresholds' TOML file.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <limits>

#include "core/axes.hpp"
#include "core/error.hpp"
#include "core/file_io.hpp"
#include "core/toml_file.hpp"
#include "gate/thresholds.hpp"
#include "rows/columns.hpp"

namespace attnprof {

namespace {

struct NamedLimit {
  std::string_view name;
  std::optional<double> LimitChanges::*value;
};
constexpr NamedLimit kLimits[] = {{"time_pct", &LimitChanges::time_pct},
                                  {"noise_pct", &LimitChanges::noise_pct},
                                  {"bytes_pct", &LimitChanges::bytes_pct},
                                  {"flops_pct", &LimitChanges::flops_pct},
                                  {"workspace_pct", &LimitChanges::workspace_pct}};

/// As a message quotes it: 'flash3', 4096, ['1k', '2k'].
std::string quoted(const TomlNode& node) {
  if (const auto* text = node.as<std::string>()) return fmt::format("'{}'", *text);
  const TomlArray* array = node.as<TomlArray>();
  if (array == nullptr) return node.text().value_or("");
  std::vector<std::string> items;
  for (const TomlNode& item : array->items) items.push_back(quoted(item));
  return fmt::format("[{}]", fmt::join(items, ", "));
}

class Reader {
 public:
  explicit Reader(const TomlFile& file) : file_(file) {}

  Thresholds read() {
    Thresholds thresholds;
    LimitChanges changes;
    for (const TomlNode& node : file_.entries()) {
      if (node.key == "override") {
        thresholds.overrides = overrides(node);
      } else if (node.key == "alpha") {
        thresholds.alpha = number(node);
        if (*thresholds.alpha <= 0 || *thresholds.alpha > 0.5)
          file_.fail(node, "is a chance: above 0 and at most 0.5");
      } else if (!limit(node, changes)) {
        unknown(node, {"alpha", "override"});
      }
    }
    changes.apply_to(thresholds.global);
    return thresholds;
  }

 private:
  [[noreturn]] void unknown(const TomlNode& node, std::vector<std::string> known) const {
    const auto& axes = key_columns();
    if (std::find(axes.begin(), axes.end(), node.key) != axes.end())
      file_.fail(node, "axes belong in an [[override]] table");
    for (const NamedLimit& limit : kLimits) known.emplace_back(limit.name);
    for (const Subject subject : kSubjects) known.emplace_back(to_string(subject));
    file_.unknown_key(node, known);
  }

  double number(const TomlNode& node) const {
    const std::optional<double> value = node.number();
    if (!value) file_.fail(node, "takes a number, such as 2.5");
    return *value;
  }

  /// Sets what the key names; false when it names no limit and no subject.
  bool limit(const TomlNode& node, LimitChanges& changes) const {
    for (const NamedLimit& named : kLimits) {
      if (node.key != named.name) continue;
      const double percent = number(node);
      if (percent < 0 || percent > 1000) file_.fail(node, "is a percentage from 0 to 1000");
      changes.*named.value = percent;
      return true;
    }
    for (const Subject subject : kSubjects) {
      if (node.key != to_string(subject)) continue;
      const auto* word = node.as<std::string>();
      for (const Policy policy : {Policy::fail, Policy::warn, Policy::ignore}) {
        if (word && *word == to_string(policy)) {
          changes.policy[static_cast<size_t>(subject)] = policy;
          return true;
        }
      }
      file_.fail(node, "takes \"fail\", \"warn\" or \"ignore\"");
    }
    return false;
  }

  std::vector<Override> overrides(const TomlNode& node) const {
    const TomlArray* tables = node.as<TomlArray>();
    if (tables == nullptr) file_.fail(node, "is a list of tables: write [[override]]");
    const auto& axes = key_columns();
    std::vector<Override> result;
    for (const TomlNode& entry : tables->items) {
      const TomlTable* table = entry.as<TomlTable>();
      if (table == nullptr) file_.fail(entry, "is a list of tables: write [[override]]");
      Override o;
      for (const TomlNode& item : table->entries) {
        if (item.key == to_string(Subject::family))
          file_.fail(item, "holds for all cases together; put it above the first [[override]]");
        if (limit(item, o.changes)) continue;
        if (std::find(axes.begin(), axes.end(), item.key) == axes.end()) {
          if (item.key == "alpha")
            file_.fail(item, "holds for all cases together; put it above the first [[override]]");
          unknown(item, {axes.begin(), axes.end()});
        }
        o.axes.push_back(axis(item));
      }
      o.where = file_.place(entry);
      if (o.axes.empty())
        throw UsageError(
            fmt::format("{}: this [[override]] names no axis (impl, seqlen_q, ...), so it would hold for all "
                        "cases; put its limits above the first [[override]]",
                        o.where));
      result.push_back(std::move(o));
    }
    return result;
  }

  AxisMatch axis(const TomlNode& node) const {
    AxisMatch match{node.key, {}, {}, quoted(node)};
    const TomlArray* list = node.as<TomlArray>();
    if (list == nullptr) {
      add_value(node, match);
      return match;
    }
    if (list->items.empty()) file_.fail(node, "is an empty list, so that no case matches");
    for (const TomlNode& item : list->items) add_value(item, match);
    return match;
  }

  void add_value(const TomlNode& node, AxisMatch& match) const {
    if (const bool* flag = node.as<bool>()) {
      match.words.push_back(*flag ? "1" : "0");
    } else if (const auto value = node.number()) {
      match.ranges.push_back({*value, *value});
    } else if (const auto* text = node.as<std::string>(); text && !text->empty()) {
      for (size_t begin = 0; begin <= text->size();) {
        const size_t end = std::min(text->find(',', begin), text->size());
        add_word(node, text->substr(begin, end - begin), match);
        begin = end + 1;
      }
    } else {
      file_.fail(node, "takes a word, a number, a range such as \"512:4k\", or a list of them");
    }
  }

  /// "flash3", "4k", "512:4k", "8k:", ":512".
  void add_word(const TomlNode& node, const std::string& word, AxisMatch& match) const {
    if (word.empty()) file_.fail(node, "has an empty item");
    const size_t colon = word.find(':');
    const bool numeric = word.find_first_of("0123456789") == 0 || colon == 0;
    if (!numeric) return match.words.push_back(word);
    const auto side = [&](const std::string& text, double open) {
      if (text.empty()) return open;
      if (text.find(':') != std::string::npos)
        file_.fail(node, fmt::format("'{}' has more than one ':'", word));
      try {
        return static_cast<double>(parse_int_axis(node.key, text, 0).front());
      } catch (const UsageError& e) {
        file_.fail(node, e.what());
      }
    };
    if (colon == std::string::npos) {
      match.words.push_back(word);
      if (word.find('.') != std::string::npos) return;  // a scale
      const double value = side(word, 0);
      return match.ranges.push_back({value, value});
    }
    constexpr double kOpen = std::numeric_limits<double>::infinity();
    const AxisMatch::Range range{side(word.substr(0, colon), -kOpen), side(word.substr(colon + 1), kOpen)};
    if (range.first > range.last) file_.fail(node, fmt::format("the range '{}' is reversed", word));
    match.ranges.push_back(range);
  }

  const TomlFile& file_;
};

}  // namespace

Thresholds parse_thresholds(std::string_view text, const std::string& file) {
  const TomlFile toml(text, file);
  return Reader(toml).read();
}

Thresholds read_thresholds(const std::string& path) {
  return parse_thresholds(read_whole_file(path), path);
}

}  // namespace attnprof
