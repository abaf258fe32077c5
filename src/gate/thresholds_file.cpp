// The thresholds' TOML file, read with toml++.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <toml++/toml.h>
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <sstream>

#include "core/axes.hpp"
#include "core/error.hpp"
#include "core/file_io.hpp"
#include "gate/thresholds.hpp"
#include "rows/columns.hpp"

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

class Reader {
 public:
  explicit Reader(std::string file) : file_(std::move(file)) {}

  Thresholds read(const toml::table& table) {
    Thresholds thresholds;
    LimitChanges changes;
    for (const auto& [key, node] : table) {
      if (key == "override") {
        thresholds.overrides = overrides(key, node);
      } else if (key == "alpha") {
        thresholds.alpha = number(key, node);
        if (*thresholds.alpha <= 0 || *thresholds.alpha > 0.5)
          fail(key, "is a chance: above 0 and at most 0.5");
      } else if (!limit(key, node, changes)) {
        unknown(key, {"alpha", "override"});
      }
    }
    changes.apply_to(thresholds.global);
    return thresholds;
  }

 private:
  [[noreturn]] void fail(const toml::key& key, const std::string& what) const {
    throw UsageError(fmt::format("{}:{}: key '{}': {}", file_, key.source().begin.line, key.str(), what));
  }

  [[noreturn]] void unknown(const toml::key& key, std::vector<std::string_view> known) const {
    for (const std::string_view name : {"time_pct", "noise_pct", "bytes_pct", "flops_pct", "workspace_pct"})
      known.push_back(name);
    for (const Subject subject : kSubjects) known.push_back(to_string(subject));
    const std::string_view word = key.str();
    const auto nearest = *std::min_element(known.begin(), known.end(), [word](auto a, auto b) {
      return edit_distance(word, a) < edit_distance(word, b);
    });
    const auto& axes = key_columns();
    const bool axis = std::find(axes.begin(), axes.end(), word) != axes.end();
    fail(key, axis ? "axes belong into an [[override]] table"
                   : fmt::format("is not known; the nearest that is: '{}'", nearest));
  }

  double number(const toml::key& key, const toml::node& node) const {
    const auto value = node.value<double>();
    if (!node.is_number() || !value || !std::isfinite(*value)) fail(key, "takes a number, such as 2.5");
    return *value;
  }

  /// Sets what `key` names; false when it names no limit and no subject.
  bool limit(const toml::key& key, const toml::node& node, LimitChanges& changes) const {
    struct Named {
      std::string_view name;
      std::optional<double> LimitChanges::*value;
    };
    for (const Named& n : {Named{"time_pct", &LimitChanges::time_pct},
                           {"noise_pct", &LimitChanges::noise_pct},
                           {"bytes_pct", &LimitChanges::bytes_pct},
                           {"flops_pct", &LimitChanges::flops_pct},
                           {"workspace_pct", &LimitChanges::workspace_pct}}) {
      if (key != n.name) continue;
      const double percent = number(key, node);
      if (percent < 0 || percent > 1000) fail(key, "is a percentage from 0 to 1000");
      changes.*n.value = percent;
      return true;
    }
    for (const Subject subject : kSubjects) {
      if (key != to_string(subject)) continue;
      const auto word = node.value<std::string_view>();
      for (const Policy policy : {Policy::fail, Policy::warn, Policy::ignore}) {
        if (word && *word == to_string(policy)) {
          changes.policy[static_cast<size_t>(subject)] = policy;
          return true;
        }
      }
      fail(key, "takes \"fail\", \"warn\" or \"ignore\"");
    }
    return false;
  }

  std::vector<Override> overrides(const toml::key& key, const toml::node& node) const {
    const toml::array* tables = node.as_array();
    if (tables == nullptr || !tables->is_homogeneous(toml::node_type::table))
      fail(key, "is a list of tables: write [[override]]");
    const auto& axes = key_columns();
    std::vector<Override> result;
    for (const toml::node& entry : *tables) {
      Override o;
      for (const auto& [name, value] : *entry.as_table()) {
        if (limit(name, value, o.changes)) continue;
        if (std::find(axes.begin(), axes.end(), name.str()) == axes.end()) {
          if (name == "alpha")
            fail(name, "holds for all cases together; put it above the first [[override]]");
          unknown(name, axes);
        }
        o.axes.push_back(axis(name, value));
      }
      if (o.axes.empty())
        throw UsageError(
            fmt::format("{}:{}: this [[override]] names no axis (impl, seqlen_q, ...), so it would "
                        "hold for all cases; put its limits above the first [[override]]",
                        file_, entry.source().begin.line));
      o.where = fmt::format("{}:{}", file_, entry.source().begin.line);
      result.push_back(std::move(o));
    }
    return result;
  }

  AxisMatch axis(const toml::key& key, const toml::node& node) const {
    std::ostringstream typed;
    node.visit([&typed](const auto& value) { typed << value; });
    AxisMatch match{std::string(key.str()), {}, {}, typed.str()};
    const toml::array* list = node.as_array();
    if (list == nullptr) {
      add_value(key, node, match);
      return match;
    }
    if (list->empty()) fail(key, "is an empty list, so that no case matches");
    for (const toml::node& item : *list) add_value(key, item, match);
    return match;
  }

  void add_value(const toml::key& key, const toml::node& node, AxisMatch& match) const {
    if (const auto flag = node.as_boolean()) {
      match.words.push_back(flag->get() ? "1" : "0");
    } else if (node.is_number()) {
      const double value = number(key, node);
      match.ranges.push_back({value, value});
    } else if (const auto text = node.value<std::string>(); text && !text->empty()) {
      for (size_t begin = 0; begin <= text->size();) {
        const size_t end = std::min(text->find(',', begin), text->size());
        add_word(key, text->substr(begin, end - begin), match);
        begin = end + 1;
      }
    } else {
      fail(key, "takes a word, a number, a range such as \"512:4k\", or a list of them");
    }
  }

  /// "flash3", "4k", "512:4k", "8k:", ":512".
  void add_word(const toml::key& key, const std::string& word, AxisMatch& match) const {
    if (word.empty()) fail(key, "has an empty item");
    const size_t colon = word.find(':');
    const bool numeric = word.find_first_of("0123456789") == 0 || colon == 0;
    if (!numeric) return match.words.push_back(word);
    const auto side = [&](const std::string& text, double open) {
      if (text.empty()) return open;
      if (text.find(':') != std::string::npos) fail(key, fmt::format("'{}' has more than one ':'", word));
      try {
        return static_cast<double>(parse_int_axis(key.str(), text, 0).front());
      } catch (const UsageError& e) {
        fail(key, e.what());
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
    if (range.first > range.last) fail(key, fmt::format("the range '{}' is reversed", word));
    match.ranges.push_back(range);
  }

  std::string file_;
};

}  // namespace

Thresholds parse_thresholds(std::string_view text, const std::string& file) {
  try {
    return Reader(file).read(toml::parse(text, file));
  } catch (const toml::parse_error& e) {
    throw UsageError(fmt::format("{}:{}: {}", file, e.source().begin.line, e.description()));
  }
}

Thresholds read_thresholds(const std::string& path) {
  return parse_thresholds(read_whole_file(path), path);
}

}  // namespace attnprof
