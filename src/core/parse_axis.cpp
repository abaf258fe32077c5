// The text of one axis to its values; see axes.hpp.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <limits>

#include "core/axes.hpp"
#include "core/error.hpp"

namespace attnprof {
namespace {

constexpr size_t kMaxValues = 4096;

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  while (true) {
    const size_t at = text.find(separator);
    parts.push_back(text.substr(0, at));
    if (at == std::string_view::npos) return parts;
    text.remove_prefix(at + 1);
  }
}

/// Everything a message about one axis needs.
struct Axis {
  std::string_view name;
  std::string_view text;

  [[noreturn]] void fail(std::string_view item, std::string_view wrong) const {
    throw UsageError(fmt::format("--{} '{}': {}{}; right forms: 512,1k,2k or 1k:32k:x2 or 64:256:+64", name,
                                 text, item == text ? "" : fmt::format("'{}' ", item), wrong));
  }
};

int64_t parse_count(const Axis& axis, std::string_view item, int64_t min_value) {
  if (item.empty()) axis.fail(item, "is empty");
  std::string_view digits = item;
  int64_t unit = 1;
  const char last = digits.back();
  if (last == 'k' || last == 'K') unit = 1024;
  if (last == 'm' || last == 'M') unit = 1024 * 1024;
  if (unit != 1) digits.remove_suffix(1);
  int64_t value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (error == std::errc::result_out_of_range) axis.fail(item, "is too large");
  if (digits.empty() || error != std::errc() || end != digits.data() + digits.size()) {
    axis.fail(item, "is not a whole number");
  }
  if (value > std::numeric_limits<int64_t>::max() / unit) axis.fail(item, "is too large");
  value *= unit;
  if (value < min_value) axis.fail(item, fmt::format("is below {}", min_value));
  return value;
}

bool is_power_of_two(int64_t x) {
  return x > 0 && (x & (x - 1)) == 0;
}

/// Inclusive: the last value is there even when the steps do not meet it.
std::vector<int64_t> parse_range(const Axis& axis, std::string_view item, int64_t min_value) {
  const std::vector<std::string_view> parts = split(item, ':');
  if (parts.size() > 3) axis.fail(item, "has more than three parts");
  const int64_t first = parse_count(axis, parts[0], min_value);
  const int64_t last = parse_count(axis, parts[1], min_value);
  if (first > last) axis.fail(item, "runs backwards");
  bool geometric = is_power_of_two(first) && is_power_of_two(last);
  int64_t step = geometric ? 2 : 1;
  if (parts.size() == 3) {
    const std::string_view text = parts[2];
    if (text.size() < 2 || (text[0] != 'x' && text[0] != '+'))
      axis.fail(item, "has a step that is neither xF nor +S");
    geometric = text[0] == 'x';
    step = parse_count(axis, text.substr(1), 0);
    if (step < (geometric ? 2 : 1)) axis.fail(item, fmt::format("never ends: step {}", text));
  }
  if (geometric && first == 0) axis.fail(item, "never ends: 0 times anything is 0");
  std::vector<int64_t> values;
  for (int64_t v = first;;) {
    values.push_back(v);
    if (values.size() > kMaxValues) axis.fail(item, fmt::format("has more than {} values", kMaxValues));
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

/// Axes whose items are words from a table.
template <class T>
std::vector<T> parse_words(std::string_view name, std::string_view text,
                           const std::vector<std::pair<std::string_view, std::vector<T>>>& words) {
  std::vector<T> values;
  for (std::string_view item : split(text, ',')) {
    const auto word =
        std::find_if(words.begin(), words.end(), [&](const auto& w) { return w.first == item; });
    if (word == words.end()) {
      std::string known;
      for (const auto& w : words) known += fmt::format("{}{}", known.empty() ? "" : ", ", w.first);
      throw UsageError(fmt::format("--{} '{}': '{}' is not one of {}", name, text, item, known));
    }
    for (const T& value : word->second) append_unique(values, value);
  }
  return values;
}

}  // namespace

std::vector<int64_t> parse_int_axis(std::string_view axis_name, std::string_view text, int64_t min_value) {
  const Axis axis{axis_name, text};
  std::vector<int64_t> values;
  for (std::string_view item : split(text, ',')) {
    if (item.find(':') == std::string_view::npos) {
      append_unique(values, parse_count(axis, item, min_value));
    } else {
      for (int64_t v : parse_range(axis, item, min_value)) append_unique(values, v);
    }
    if (values.size() > kMaxValues) axis.fail(text, fmt::format("has more than {} values", kMaxValues));
  }
  return values;
}

std::vector<bool> parse_causal_axis(std::string_view text) {
  const std::vector<int> values = parse_words<int>(
      "causal", text,
      {{"0", {0}}, {"1", {1}}, {"both", {0, 1}}, {"false", {0}}, {"true", {1}}, {"no", {0}}, {"yes", {1}}});
  return {values.begin(), values.end()};
}

std::vector<DType> parse_dtype_axis(std::string_view text) {
  return parse_words<DType>("dtype", text,
                            {{"fp32", {DType::fp32}}, {"fp16", {DType::fp16}}, {"bf16", {DType::bf16}}});
}

std::vector<Pass> parse_pass_axis(std::string_view text) {
  return parse_words<Pass>("pass", text,
                           {{"fwd", {Pass::fwd}}, {"bwd", {Pass::bwd}}, {"fwd+bwd", {Pass::fwd_bwd}}});
}

std::vector<std::pair<int, int>> parse_tile_axis(std::string_view text) {
  constexpr int64_t kMaxSide = 1 << 20;
  std::vector<std::pair<int, int>> tiles;
  for (std::string_view item : split(text, ',')) {
    if (item == "default") {
      append_unique(tiles, {0, 0});
      continue;
    }
    const auto fail = [&](std::string_view wrong) {
      throw UsageError(
          fmt::format("--tile '{}': '{}' {}; right forms: 128x64,64x64 or default", text, item, wrong));
    };
    const std::vector<std::string_view> sides = split(item, 'x');
    if (sides.size() != 2) fail("is not MxN");
    int values[2] = {0, 0};
    for (int i = 0; i < 2; ++i) {
      const std::string_view side = sides[static_cast<size_t>(i)];
      const auto [end, error] = std::from_chars(side.data(), side.data() + side.size(), values[i]);
      if (error != std::errc() || end != side.data() + side.size()) fail("is not MxN");
      if (values[i] < 1) fail("has a side below 1");
      if (values[i] > kMaxSide) fail("has a side above 1048576");
    }
    append_unique(tiles, {values[0], values[1]});
  }
  return tiles;
}

std::vector<int64_t> parse_window_axis(std::string_view text) {
  std::vector<int64_t> windows;
  for (std::string_view item : split(text, ',')) {
    if (item == "none") {
      append_unique<int64_t>(windows, 0);
    } else {
      for (int64_t w : parse_int_axis("window", item)) append_unique(windows, w);
    }
  }
  return windows;
}

}  // namespace attnprof
