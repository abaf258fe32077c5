#include "gate/cases.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <unordered_map>
#include <utility>

#include "core/error.hpp"
#include "rows/human.hpp"
#include "rows/matching.hpp"

namespace attnprof {

namespace {

void require_one_machine(const std::vector<Row>& repeats) {
  for (const Row& row : repeats) {
    const std::string difference = machine_difference(repeats.front(), row);
    if (difference.empty()) continue;
    throw UsageError(
        fmt::format("{} and {} are not repeats of one run: {}; repeats tell the noise of one machine",
                    repeats.front().where(), row.where(), difference));
  }
}

void require_common_kind(const std::vector<RowFile>& baselines, const std::vector<RowFile>& news) {
  const Row& before = baselines.front().rows.front();
  for (const RowFile& file : news) {
    for (const Row& row : file.rows) {
      if (row.text("device") == before.text("device")) return;
    }
  }
  throw UnavailableError(fmt::format(
      "{} was measured on {}, {} on {}: they have no case in common; compare files of one kind of device",
      before.file(), device_text(before.device()), news.front().file,
      device_text(news.front().rows.front().device())));
}

bool same_backend(const Row& a, const Row& b) {
  return a.text("device") == b.text("device");
}

/// Rows of one key from one device, on one side: at most one of each file.
struct Group {
  std::vector<Row> rows;
  bool is_before = true;
  size_t first_file = 0, last_file = 0;  ///< that hold it, by their place in the command line
  const Group* partner = nullptr;
  bool of_absent_device = false;  ///< the other side holds no row of this device

  const Row& row() const { return rows.front(); }
};

/// All rows of both sides, sorted into groups.
class Groups {
 public:
  void add(const std::vector<RowFile>& files, bool is_before) {
    for (const RowFile& file : files) {
      ++file_;
      for (const Row& row : file.rows) {
        note_device(row, is_before);
        if (row.kernel().empty()) add(row, is_before);
      }
      for (const auto& [key, of_key] : by_key_) require_repeat(of_key, is_before);
    }
    for (const Group& group : groups_) require_one_machine(group.rows);
  }

  /// A device with itself; then, of one model, board with board; then, when the sides share no model,
  /// whatever is left of a key, so that the reader hears why it is not judged.
  void pair() {
    pair_by({MatchBy::device, MatchBy::model});
    const bool common = any_pair();
    if (!common) pair_by({MatchBy::key});
    for (const auto& [key, of_key] : by_key_) {
      const bool elsewhere =
          std::any_of(of_key.begin(), of_key.end(), [](const Group* g) { return g->partner; });
      for (Group* group : of_key) {
        if (group->partner != nullptr || other_side_has(*group, same_device)) continue;
        // A file without a row of the GPU, or of the CPU, at all lacks cases, not a machine.
        group->of_absent_device = elsewhere || (common && !other_side_has(*group, same_model) &&
                                                other_side_has(*group, same_backend));
      }
    }
  }

  bool any_pair() const {
    return std::any_of(groups_.begin(), groups_.end(), [](const Group& g) { return g.partner != nullptr; });
  }
  bool other_side_has(const Group& group, bool (*fits)(const Row&, const Row&)) const {
    const std::vector<Row>& others = group.is_before ? devices_after_ : devices_before_;
    return std::any_of(others.begin(), others.end(), [&](const Row& r) { return fits(r, group.row()); });
  }
  const std::deque<Group>& all() const { return groups_; }

 private:
  /// One row stands for each device.
  void note_device(const Row& row, bool is_before) {
    std::vector<Row>& devices = is_before ? devices_before_ : devices_after_;
    const auto same = [&row](const Row& r) { return r.device() == row.device(); };
    if (std::none_of(devices.begin(), devices.end(), same)) devices.push_back(row);
  }

  void add(const Row& row, bool is_before) {
    std::vector<Group*>& of_key = by_key_[row.key()];
    for (Group* group : of_key) {
      if (group->is_before != is_before || group->last_file == file_ || !same_device(group->row(), row))
        continue;
      group->rows.push_back(row);
      group->last_file = file_;
      return;
    }
    groups_.push_back({{row}, is_before, file_, file_, nullptr, false});
    of_key.push_back(&groups_.back());
  }

  /// A file that repeats a case of an earlier one does so on a device of it.
  void require_repeat(const std::vector<Group*>& of_key, bool is_before) const {
    const Group *earlier = nullptr, *own = nullptr;
    for (const Group* group : of_key) {
      if (group->is_before != is_before) continue;
      if (group->first_file == file_) {
        own = group;
      } else if (group->last_file == file_) {
        return;
      } else {
        earlier = group;
      }
    }
    if (earlier != nullptr && own != nullptr) require_one_machine({earlier->row(), own->row()});
  }

  void pair_by(const std::vector<MatchBy>& rules) {
    std::vector<Row> before, after;
    std::vector<Group*> groups_before, groups_after;
    for (Group& group : groups_) {
      (group.is_before ? before : after).push_back(group.row());
      (group.is_before ? groups_before : groups_after).push_back(&group);
    }
    const auto partners = match_rows(before, after, rules);
    for (size_t i = 0; i < after.size(); ++i) {
      if (!partners[i]) continue;
      groups_after[i]->partner = groups_before[*partners[i]];
      groups_before[*partners[i]]->partner = groups_after[i];
    }
  }

  std::deque<Group> groups_;  ///< in the order of first appearance
  std::unordered_map<std::string, std::vector<Group*>> by_key_;
  std::vector<Row> devices_before_, devices_after_;
  size_t file_ = 0;
};

/// "ref.csv: 12 rows of NVIDIA A100 have no counterpart: the new file holds none of that device", for each
/// file and device.
std::vector<std::string> absent_devices(const Groups& groups, size_t baselines, size_t news) {
  std::vector<std::pair<const Group*, size_t>> counts;
  for (const Group& group : groups.all()) {
    if (!group.of_absent_device) continue;
    const auto same = [&group](const auto& entry) {
      return entry.first->row().file() == group.row().file() &&
             entry.first->row().device() == group.row().device();
    };
    const auto at = std::find_if(counts.begin(), counts.end(), same);
    if (at == counts.end()) {
      counts.emplace_back(&group, 1);
    } else {
      ++at->second;
    }
  }
  std::vector<std::string> sentences;
  for (const auto& [group, count] : counts) {
    const RowDevice device = group->row().device();
    std::string name = device.name.empty() ? device.device : device.name;
    if (!device.uuid.empty() && groups.other_side_has(*group, same_model)) name += " " + device.uuid;
    const char* other = group->is_before ? (news == 1 ? "the new file holds" : "the new files hold")
                                         : (baselines == 1 ? "the baseline holds" : "the baselines hold");
    sentences.push_back(fmt::format("{}: {} of {} {} no counterpart: {} none of that device",
                                    group->row().file(), number_of(count, "row"), name,
                                    count == 1 ? "has" : "have", other));
  }
  return sentences;
}

}  // namespace

Matching match_cases(const std::vector<RowFile>& baselines, const std::vector<RowFile>& news) {
  Groups groups;
  groups.add(baselines, true);
  groups.add(news, false);
  groups.pair();
  if (!groups.any_pair()) require_common_kind(baselines, news);
  Matching matching;
  for (const Group& group : groups.all()) {
    if (group.of_absent_device) {
      if (!group.is_before)
        matching.of_absent_devices.insert(matching.of_absent_devices.end(), group.rows.begin(),
                                          group.rows.end());
    } else if (group.is_before) {
      matching.cases.push_back({group.rows, group.partner ? group.partner->rows : std::vector<Row>{}});
    } else if (group.partner == nullptr) {
      matching.cases.push_back({{}, group.rows});
    }
  }
  matching.warnings = absent_devices(groups, baselines.size(), news.size());
  return matching;
}

std::string nearest_case(const Row& missing, const std::vector<Row>& others) {
  const Nearest nearest =
      nearest_row(missing, others, [&](const Row& r) { return r.text("impl") == missing.text("impl"); });
  // More than a tile's two sides, or another problem: then it is another case, not this one under another
  // name.
  const auto of_problem = [](std::string_view name) {
    return name != "threads" && name != "tile_m" && name != "tile_n" && name != "stages" && name != "warps" &&
           name != "scale" && name != "seed" && name != "fill" && name != "cache" && name != "rest";
  };
  if (nearest.differing.empty() ||
      std::any_of(nearest.differing.begin(), nearest.differing.end(), of_problem))
    return "";
  std::string text;
  for (const std::string_view name : nearest.differing) {
    text += fmt::format("{}{} {} instead of {}", text.empty() ? "" : ", ", name,
                        cell_or_none(*nearest.row, name), cell_or_none(missing, name));
  }
  return "the new file has it with " + text;
}

}  // namespace attnprof
