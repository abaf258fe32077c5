// The text of one axis to its values; see axes.hpp.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <limits>

#include "core/axes.hpp"
#include "core/error.hpp"
#include "core/text.hpp"

namespace attnprof {
namespace {

constexpr size_t kMaxValues = 4096;

/// An option as typed: what a message needs.
struct Typed {
  std::string_view option;
  std::string_view text;

  [[noreturn]] void fail(std::string_view item, std::string_view wrong) const {
    throw UsageError(fmt::format("--{} '{}': {}{}; right forms: 512,1k,2k or 1k:32k:x2 or 64:256:+64", option,
                                 text, item == text ? "" : fmt::format("'{}' ", item), wrong));
  }
};

int64_t parse_count(const Typed& typed, std::string_view item, int64_t min_value) {
  if (item.empty()) typed.fail(item, "is empty");
  std::string_view digits = item;
  int64_t unit = 1;
  const char last = digits.back();
  if (last == 'k' || last == 'K') unit = 1024;
  if (last == 'm' || last == 'M') unit = 1024 * 1024;
  if (unit != 1) digits.remove_suffix(1);
  int64_t value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (error == std::errc::result_out_of_range) typed.fail(item, "is too large");
  if (digits.empty() || error != std::errc() || end != digits.data() + digits.size()) {
    typed.fail(item, "is not a whole number");
  }
  if (value > std::numeric_limits<int64_t>::max() / unit) typed.fail(item, "is too large");
  value *= unit;
  if (value < min_value) typed.fail(item, fmt::format("is below {}", min_value));
  return value;
}

bool is_power_of_two(int64_t x) {
  return x > 0 && (x & (x - 1)) == 0;
}

/// Inclusive: the last value is there even when the steps do not meet it.
std::vector<int64_t> parse_range(const Typed& typed, std::string_view item, int64_t min_value) {
  const std::vector<std::string_view> parts = split(item, ':');
  if (parts.size() > 3) typed.fail(item, "has more than three parts");
  const int64_t first = parse_count(typed, parts[0], min_value);
  const int64_t last = parse_count(typed, parts[1], min_value);
  if (first > last) typed.fail(item, "runs backwards");
  bool geometric = is_power_of_two(first) && is_power_of_two(last);
  int64_t step = geometric ? 2 : 1;
  if (parts.size() == 3) {
    const std::string_view text = parts[2];
    if (text.size() < 2 || (text[0] != 'x' && text[0] != '+'))
      typed.fail(item, "has a step that is neither xF nor +S");
    geometric = text[0] == 'x';
    step = parse_count(typed, text.substr(1), 0);
    if (step < (geometric ? 2 : 1)) typed.fail(item, fmt::format("never ends: step {}", text));
  }
  if (geometric && first == 0) typed.fail(item, "never ends: 0 times anything is 0");
  std::vector<int64_t> values;
  for (int64_t v = first;;) {
    values.push_back(v);
    if (values.size() > kMaxValues) typed.fail(item, fmt::format("has more than {} values", kMaxValues));
    if (geometric ? v > last / step : v > last - step) break;
    v = geometric ? v * step : v + step;
  }
  if (values.back() != last) values.push_back(last);
  return values;
}

template <class T>
void append_unique(std::vector<T>& list, const T& value) {
  if (std::find(list.begin(), list.end(), value) == list.end()) list.push_back(value);
}

/// The values that `item` stands for as a word; nothing when it is none.
const std::vector<Cell>* values_of_word(const Axis& axis, std::string_view item) {
  for (const AxisWord& word : axis.words) {
    if (word.word == item) return &word.values;
  }
  return nullptr;
}

[[noreturn]] void refuse_word(const Typed& typed, const Axis& axis, std::string_view item) {
  std::string known;
  for (const AxisWord& word : axis.words) known += fmt::format("{}{}", known.empty() ? "" : ", ", word.word);
  throw UsageError(fmt::format("--{} '{}': '{}' is not one of {}", typed.option, typed.text, item, known));
}

/// "128x64": a number for each of the axes.
AxisItem parse_joined(const Typed& typed, const std::vector<const Axis*>& parts, std::string_view item) {
  const auto fail = [&](std::string_view wrong) {
    throw UsageError(fmt::format("--{} '{}': '{}' {}; right forms: 128x64,64x64 or {}", typed.option,
                                 typed.text, item, wrong, parts.front()->words.front().word));
  };
  const std::vector<std::string_view> sides = split(item, 'x');
  if (sides.size() != parts.size()) fail("is not MxN");
  AxisItem values;
  for (size_t i = 0; i < parts.size(); ++i) {
    int64_t value = 0;
    const auto [end, error] = std::from_chars(sides[i].data(), sides[i].data() + sides[i].size(), value);
    if (error == std::errc::result_out_of_range)
      value = std::numeric_limits<int64_t>::max();
    else if (error != std::errc() || end != sides[i].data() + sides[i].size())
      fail("is not MxN");
    if (value < parts[i]->least) fail(fmt::format("has a side below {}", parts[i]->least));
    if (static_cast<double>(value) > parts[i]->most)
      fail(fmt::format("has a side above {:.0f}", parts[i]->most));
    values.emplace_back(value);
  }
  return values;
}

/// Values of one item of an option that sets one axis.
std::vector<Cell> parse_item(const Typed& typed, const Axis& axis, std::string_view item) {
  if (const std::vector<Cell>* values = values_of_word(axis, item)) return *values;
  if (axis.kind == AxisKind::word || axis.kind == AxisKind::flag) refuse_word(typed, axis, item);
  if (axis.kind == AxisKind::number) {
    const std::optional<double> value = cell_number(item);
    if (!value) {
      throw UsageError(fmt::format("--{} '{}': '{}' is not a number", typed.option, typed.text, item));
    }
    if (axis.shown && *value == std::get<double>(axis.neutral())) {  // inside, it stands for "not given"
      throw UsageError(fmt::format("--{} '{}': '{}' is 0; leave --{} out for {}", typed.option, typed.text,
                                   item, typed.option, axis.neutral_text));
    }
    return {*value};
  }
  const int64_t least = axis.kind == AxisKind::size ? std::max<int64_t>(1, axis.least) : axis.least;
  std::vector<Cell> values;
  if (item.find(':') == std::string_view::npos) {
    values.emplace_back(parse_count(typed, item, least));
  } else {
    for (const int64_t value : parse_range(typed, item, least)) values.emplace_back(value);
  }
  for (const Cell& value : values) {
    if (static_cast<double>(std::get<int64_t>(value)) > axis.most)
      typed.fail(item, fmt::format("is above {:.0f}", axis.most));
  }
  return values;
}

}  // namespace

std::vector<int64_t> parse_int_axis(std::string_view option, std::string_view text, int64_t min_value) {
  const Typed typed{option, text};
  std::vector<int64_t> values;
  for (std::string_view item : split(text, ',')) {
    if (item.find(':') == std::string_view::npos) {
      append_unique(values, parse_count(typed, item, min_value));
    } else {
      for (int64_t v : parse_range(typed, item, min_value)) append_unique(values, v);
    }
    if (values.size() > kMaxValues) typed.fail(text, fmt::format("has more than {} values", kMaxValues));
  }
  return values;
}

std::vector<AxisItem> parse_axis(std::string_view option, std::string_view text) {
  const auto group = std::find_if(axis_options().begin(), axis_options().end(),
                                  [&](const auto& parts) { return parts.front()->option == option; });
  if (group == axis_options().end()) throw UsageError(fmt::format("there is no axis --{}", option));
  const Typed typed{option, text};
  std::vector<AxisItem> items;
  for (const std::string_view item : split(text, ',')) {
    if (group->size() > 1) {
      const std::vector<Cell>* word = values_of_word(*group->front(), item);
      append_unique(items, word ? AxisItem(group->size(), word->front()) : parse_joined(typed, *group, item));
    } else {
      for (const Cell& value : parse_item(typed, *group->front(), item))
        append_unique(items, AxisItem{value});
    }
    if (items.size() > kMaxValues) typed.fail(text, fmt::format("has more than {} values", kMaxValues));
  }
  return items;
}

}  // namespace attnprof
