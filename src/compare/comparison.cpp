#include "compare/comparison.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <unordered_map>

#include "core/error.hpp"
#include "rows/derived.hpp"
#include "rows/human.hpp"
#include "rows/matching.hpp"

namespace attnprof {

namespace {

/// Rows about one kernel of a launch are parts of a case, not cases.
bool is_case(const Row& row) {
  return row.kernel().empty() && row.status() != Status::skipped;
}

/// Same problem, same device: what may be compared within a file.
std::string group_key(const Row& row) {
  return row.problem_key() + device_key(row.device());
}

std::vector<std::vector<Row>> grouped_by_problem(const RowFile& file) {
  std::unordered_map<std::string, size_t> at;
  std::vector<std::vector<Row>> groups;
  for (const Row& row : file.rows) {
    if (!is_case(row)) continue;
    const auto [found, is_new] = at.emplace(group_key(row), groups.size());
    if (is_new) groups.emplace_back();
    groups[found->second].push_back(row);
  }
  return groups;
}

bool is_named(const Row& row, const std::string& reference) {
  return row.text("impl") == reference || row.impl_label() == reference;
}

/// Verified before not; then the shorter time.
bool better_reference(const Row& a, const Row& b) {
  if (a.verified() != b.verified()) return a.verified();
  const double never = 1e300;
  return resolved_time_us(a).value_or(never) < resolved_time_us(b).value_or(never);
}

/// Position of the reference row in its group; the group's size when it has none.
size_t reference_of(const std::vector<Row>& group, const std::string& reference) {
  std::string wanted = reference;
  if (wanted.empty()) {
    const bool has_naive =
        std::any_of(group.begin(), group.end(), [](const Row& r) { return r.text("impl") == "naive"; });
    wanted = has_naive ? "naive" : std::string(group.front().text("impl"));
  }
  size_t best = group.size();
  for (size_t i = 0; i < group.size(); ++i) {
    if (is_named(group[i], wanted) && (best == group.size() || better_reference(group[i], group[best])))
      best = i;
  }
  return best;
}

void require_known(const RowFile& file, const std::string& reference) {
  if (reference.empty()) return;
  if (std::any_of(file.rows.begin(), file.rows.end(), [&](const Row& r) { return is_named(r, reference); }))
    return;
  std::string known;
  for (const std::string& name : implementations(file)) known += (known.empty() ? "" : ", ") + name;
  throw UsageError(fmt::format("--reference '{}' is not in {}; there are: {}", reference, file.file, known));
}

void note_file(Comparison& c, const RowFile& file) {
  if (file.torn_last_row)
    c.notes.push_back(fmt::format("{}: the last line was cut off and is left out", file.file));
  if (!file.not_numbers.empty()) {
    const NotANumber& first = file.not_numbers.front();
    c.notes.push_back(fmt::format(
        "{}:{}: column '{}' says '{}'{}; shown as missing", file.file, first.line, first.column, first.cell,
        file.not_numbers.size() == 1 ? "" : fmt::format(" ({} such cells in all)", file.not_numbers.size())));
  }
  if (file.repeats > 0) {
    c.notes.push_back(fmt::format("{}: {} left out: the row with the median time stands for repeats",
                                  file.file, number_of(file.repeats, "row")));
  }
  size_t unconverged = 0;
  std::map<std::string, size_t> unverified;
  for (const Row& row : file.rows) {
    if (!is_case(row)) continue;
    if (!row.verified()) ++unverified[row.why_unverified()];
    unconverged += row.ok() && row.text("converged") == "0";
  }
  for (const auto& [why, rows] : unverified) {
    c.notes.push_back(
        fmt::format("{}: {} without ratios, not verified: {}", file.file, number_of(rows, "row"), why));
  }
  if (unconverged > 0) {
    c.notes.push_back(
        fmt::format("{}: in {} the interval of the time was wider than asked for when its time "
                    "budget ended",
                    file.file, number_of(unconverged, "row")));
  }
}

/// Conditions other than the device that should not differ between two files, but may.
void note_conditions(Comparison& c) {
  for (const auto& [column, name] :
       std::initializer_list<std::pair<const char*, const char*>>{{"driver", "driver"},
                                                                  {"cuda", "CUDA"},
                                                                  {"tool_version", "attnprof"},
                                                                  {"power_limit_w", "power limit (W)"},
                                                                  {"ecc", "ECC"}}) {
    std::set<std::string> seen;
    for (const Pair& p : c.pairs) {
      const std::string from(p.from.text(column)), to(p.to.text(column));
      if (!from.empty() && !to.empty() && from != to && seen.insert(from + to).second)
        c.notes.push_back(fmt::format("{} differs: {} -> {}", name, from, to));
    }
  }
}

/// Rows that have no partner, and why: in every format, since a row that is not there is not missed.
void note_unmatched(Comparison& c) {
  const auto count = [](const std::vector<Row>& rows, const std::string& file) {
    return fmt::format("{} in {}", rows.size(), file);
  };
  if (c.only_from.empty() && c.only_to.empty()) return;
  std::string text = c.only_from.empty() ? "" : count(c.only_from, c.from_name);
  if (!c.only_to.empty()) text += (text.empty() ? "" : ", ") + count(c.only_to, c.to_name);
  const std::string differing = unmatched_reason(c);
  c.notes.push_back(fmt::format("unmatched rows: {}{}", text,
                                differing.empty() ? "" : "; the most similar rows differ in " + differing));
}

std::vector<Row> cases_of(const RowFile& file) {
  std::vector<Row> rows;
  std::copy_if(file.rows.begin(), file.rows.end(), std::back_inserter(rows), is_case);
  return rows;
}

}  // namespace

Comparison compare_within(const RowFile& file, const std::string& reference) {
  require_known(file, reference);
  Comparison c;
  c.from_name = reference;
  size_t without = 0;
  std::set<std::string> names;
  for (const std::vector<Row>& group : grouped_by_problem(file)) {
    const size_t at = reference_of(group, reference);
    if (at == group.size()) {
      ++without;
      continue;
    }
    for (size_t i = 0; i < group.size(); ++i) {
      if (i == at) continue;
      names.insert(std::string(group[at].text("impl")));
      c.pairs.push_back(pair_of(group[at], group[i], true));
    }
  }
  if (reference.empty()) c.from_name = names.size() == 1 ? *names.begin() : "reference";
  note_file(c, file);
  if (without > 0) {
    c.notes.push_back(
        fmt::format("{}: {} without a row of {}", file.file, number_of(without, "problem"), reference));
  }
  return c;
}

Comparison compare_files(const RowFile& before, const RowFile& after, bool allow_device_mismatch) {
  Comparison c;
  c.two_files = true;
  c.from_name = before.file;
  c.to_name = after.file;
  c.device_mismatch_allowed = allow_device_mismatch;
  const std::vector<Row> from = cases_of(before), to = cases_of(after);
  const auto partners = match_rows(from, to, {MatchBy::device, MatchBy::key, MatchBy::key_but_backend});
  std::vector<bool> paired(from.size(), false);
  for (size_t i = 0; i < to.size(); ++i) {
    if (!partners[i]) {
      c.only_to.push_back(to[i]);
      continue;
    }
    paired[*partners[i]] = true;
    const Row& mate = from[*partners[i]];
    const std::string difference = device_difference(mate, to[i]);
    if (c.device_mismatch.empty()) c.device_mismatch = difference;
    c.pairs.push_back(pair_of(mate, to[i], difference.empty() || allow_device_mismatch));
  }
  for (size_t i = 0; i < from.size(); ++i) {
    if (!paired[i]) c.only_from.push_back(from[i]);
  }
  note_unmatched(c);
  note_file(c, before);
  note_file(c, after);
  note_conditions(c);
  return c;
}

}  // namespace attnprof
