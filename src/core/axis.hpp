// The one table of axes: what a sweep can range over, a row for each field of Problem and KernelConfig. The
// command line, config files, CSV columns, the identity of a row, the command that repeats it, the checks of
// its cells, labels, tuned keys and the features that a case asks for all come from it. A new axis is a field
// and a row here.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "core/cell.hpp"
#include "core/problem.hpp"

namespace attnprof {

/// What the cell of an axis holds.
enum class AxisKind {
  word,    ///< one of Axis::words
  flag,    ///< 0 or 1
  size,    ///< whole, 1 or more
  count,   ///< whole, 0 or more
  number,  ///< 0 or more
};

/// What a row of the tuned table says of the axis.
enum class TunedMatch {
  no,     ///< nothing
  equal,  ///< it holds for this value, or for any when the cell is empty
  up_to,  ///< it holds up to this value, and above half of it: what suits 128 columns says nothing of 32
  from,   ///< it holds from this value on; 0 for 0 alone where 0 means none
};

/// A word that can be typed, and what it stands for.
struct AxisWord {
  std::string_view word;
  std::vector<Cell> values;
};

/// How many heads and sequences there are where --heads and --batch were not given.
struct Sizing {
  int64_t hidden = 2048;  ///< heads * head_dim (the FlashAttention papers' sizing)
  int64_t tokens = 0;     ///< batch * seqlen; 0: one sequence
};

/// Where the value of an axis lies in a case.
struct AxisField {
  std::function<Cell(const Case&)> get;
  std::function<void(Case&, const Cell&)> set;
};

struct Axis {
  std::string_view name;     ///< of the column: "seqlen_q"
  std::string_view option;   ///< "seqlen". Axes that follow each other with one option are typed as one item,
                             ///< joined by 'x': 128x64
  std::string_view help;     ///< of the option, in the first axis that has it
  std::string_view meaning;  ///< of the column
  std::string_view unit = "";
  AxisKind kind = AxisKind::size;
  std::vector<AxisWord>
      words{};         ///< all of them for `word` and `flag`; else what may be typed beside numbers
  int64_t least = 0;   ///< that may be typed; sizes: 1
  double most = 1e15;  ///< that a cell can hold
  AxisField field{};
  /// What the column shows, when it is not what was set.
  std::function<Cell(const Case&)> shown{};
  /// The value when the option was not given; empty: that of Case{}, the neutral one.
  std::function<Cell(const Case&, const Sizing&)> follows{};
  /// The feature that a value asks for (Implementation::takes), "" for none; empty: none.
  std::function<std::string(const Case&)> feature{};
  int nesting = 0;                  ///< order of the loops of a sweep, outermost first
  bool tiling = false;              ///< a field of KernelConfig: how it is computed, not what
  bool empty_when_neutral = false;  ///< the neutral value is an empty cell: files without the column mean it
  bool always_typed = false;        ///< in every reproducing command, also when neutral
  bool always_said = false;         ///< in every label, also when neutral
  std::string_view label = "";      ///< " b{}": its part of a label; "": never said
  std::string_view same_as = "";  ///< not said where it equals that axis: kv_heads, where they are the heads
  std::string_view title =
      "";  ///< of its column on the terminal, shared by axes that show as one; "": option
  std::string_view neutral_text = "";  ///< in that column
  TunedMatch tuned = TunedMatch::no;
  int tuned_rank = 0;  ///< of those with `up_to` and `from`: which decides first what row is nearest

  Cell neutral() const { return field.get(Case{}); }
  bool is_neutral(const Case& c) const { return field.get(c) == neutral(); }
  /// The cell of the column.
  Cell cell(const Case& c) const;
};

/// Every axis, in the order of the columns.
const std::vector<Axis>& axes();
std::vector<Axis> built_in_axes();  ///< axis_table.cpp
/// Nullptr when no axis has that name.
const Axis* find_axis(std::string_view name);
/// Axes by option: each group is typed as one item.
const std::vector<std::vector<const Axis*>>& axis_options();

/// Axes that are not built in. To be filled before the table is first asked for.
std::vector<Axis>& added_axes();

/// Every axis and who computes it, as text: equal for rows that are the same case.
std::string identity(const Case& c);
/// What the case asks for beyond a plain forward pass: its dtype, then "causal", "window", "gqa", ... An
/// implementation that does not list one of them does not get the case: a new feature is refused by every
/// kernel that does not know of it.
std::vector<std::string> features(const Case& c);
/// " --pass fwd --dtype bf16 ...": the options that make exactly this case.
std::string typed_options(const Case& c);

/// "bf16 b4 h16/8 s4k d128 causal window 4k": one line about a problem, from the texts of its cells.
std::string problem_label(const std::function<std::string(const Axis&)>& cell);

}  // namespace attnprof
