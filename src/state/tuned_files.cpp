#include "state/tuned_files.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <set>

#include "core/axis.hpp"
#include "core/embedded_file.hpp"
#include "core/file_io.hpp"
#include "implementations.hpp"
#include "state/tuned_csv.hpp"

namespace attnprof {
namespace {

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

/// What the user named, the option before the variable; "" when nothing.
std::string named_by_user(const std::string& option) {
  return option.empty() ? environment("ATTNPROF_TUNED") : option;
}

bool is_known(std::string_view impl, DeviceKind device) {
  return std::any_of(registry().begin(), registry().end(),
                     [&](const Implementation& row) { return row.name == impl && row.device == device; });
}

}  // namespace

std::string default_tuned_file() {
  if (const std::string config = environment("XDG_CONFIG_HOME"); !config.empty())
    return config + "/attnprof/tuned.csv";
  if (const std::string home = environment("HOME"); !home.empty())
    return home + "/.config/attnprof/tuned.csv";
  return "";
}

std::vector<TunedEntry> read_tuned_file(const std::string& path) {
  std::vector<TunedEntry> entries = parse_tuned(read_whole_file(path), path, is_known);
  for (TunedEntry& entry : entries) entry.users = true;
  return entries;
}

namespace {

/// The user's file that `option`, else ATTNPROF_TUNED, else default_tuned_file() names; "" when that is
/// `none`, or the default and not there.
std::string users_tuned_file(const std::string& option) {
  const std::string named = named_by_user(option);
  if (named == "none") return "";
  if (!named.empty()) return named;
  const std::string file = default_tuned_file();
  std::error_code ignored;
  return !file.empty() && std::filesystem::exists(file, ignored) ? file : "";
}

}  // namespace

std::vector<TunedEntry> load_tuned(const std::string& option) {
  if (named_by_user(option) == "none") return {};
  std::vector<TunedEntry> table;
  if (const std::string file = users_tuned_file(option); !file.empty()) table = read_tuned_file(file);
  for (const EmbeddedFile& shipped : shipped_tuned()) {
    for (TunedEntry& entry : parse_tuned(shipped.text, shipped.path, is_known)) table.push_back(entry);
  }
  return table;
}

std::string users_tiles_note(const std::vector<PlannedRow>& rows, const std::vector<PlannedCase>& cases,
                             const DeviceInfo& device, std::vector<TunedEntry> tuned) {
  const auto own =
      std::find_if(tuned.begin(), tuned.end(), [](const TunedEntry& entry) { return entry.users; });
  if (own == tuned.end()) return "";
  const std::string file = own->origin;
  std::erase_if(tuned, [](const TunedEntry& entry) { return entry.users; });
  std::set<std::string> without;
  for (const PlannedRow& row : plan(cases, device, find_implementation, tuned))
    without.insert(identity(row.planned));
  const auto theirs = std::count_if(rows.begin(), rows.end(), [&](const PlannedRow& row) {
    return !without.contains(identity(row.planned));
  });
  if (theirs == 0) return "";
  return fmt::format("tiles of {} of {} rows come from {}; --tuned none leaves that file out", theirs,
                     rows.size(), file);
}

}  // namespace attnprof
