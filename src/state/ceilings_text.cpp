#include "state/ceilings_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "core/error.hpp"
#include "core/utc.hpp"
#include "rows/columns.hpp"
#include "rows/csv.hpp"
#include "rows/table_row.hpp"

namespace attnprof {

namespace {

std::string_view scope_text(CeilingScope scope) {
  return scope == CeilingScope::rows ? "rows" : "full";
}

/// Name and value of one fact about the whole list; number: for JSON.
struct Fact {
  const char* name;
  std::string text;
  bool number = false;
};

std::vector<Fact> facts(const CeilingReport& r) {
  const CeilingIdentity& id = r.identity;
  return {{"scope", std::string(scope_text(r.list.scope))},
          {"cached", r.age_s ? "1" : "0", true},
          {"device", std::string(to_string(id.kind))},
          {"device_name", id.device_name},
          {"device_uuid", id.device_uuid},
          {"driver", id.driver},
          {"cuda", id.cuda},
          {"power_limit_w", id.power_limit_w ? cell_text(*id.power_limit_w) : "", true},
          {"threads", id.threads > 0 ? std::to_string(id.threads) : "", true},
          {"hostname", id.hostname},
          {"tool_version", id.tool_version},
          {"measured_at", r.measured_at}};
}

CeilingIdentity read_identity(const TableRow& in) {
  CeilingIdentity id;
  if (in.text("device") != "cpu" && in.text("device") != "gpu") in.refuse("device", "is neither cpu nor gpu");
  id.kind = in.text("device") == "cpu" ? DeviceKind::host : DeviceKind::gpu;
  id.device_name = in.text("device_name");
  id.device_uuid = in.text("device_uuid");
  id.driver = in.text("driver");
  id.cuda = in.text("cuda");
  id.power_limit_w = in.positive("power_limit_w");
  id.threads = static_cast<int>(std::min(in.positive("threads").value_or(0), 1e9));
  id.hostname = in.text("hostname");
  id.tool_version = in.text("tool_version");
  return id;
}

CeilingScope read_scope(const TableRow& in) {
  if (in.text("scope") == "full") return CeilingScope::full;
  if (in.text("scope") != "rows") in.refuse("scope", "is neither rows nor full");
  return CeilingScope::rows;
}

CeilingValue read_value(const TableRow& in) {
  CeilingValue value;
  value.name = in.text("name");
  if (value.name.empty()) in.refuse("name", "is not a name");
  if (const auto bytes = in.positive("bytes")) value.bytes = static_cast<int64_t>(std::min(*bytes, 9e18));
  const auto number = in.positive("value");
  if (!number) in.refuse("value", "is not a positive number");
  value.value = *number;
  value.unit = in.text("unit");
  value.how = in.text("how");
  return value;
}

std::string device_line(const CeilingReport& r) {
  const CeilingIdentity& id = r.identity;
  std::string line = id.device_name;
  if (id.kind == DeviceKind::host) {
    line += fmt::format(", {} thread{}, {}", id.threads, id.threads == 1 ? "" : "s", id.hostname);
  } else {
    line += fmt::format(" ({}), driver {}, CUDA {}", id.device_uuid, id.driver, id.cuda);
    if (id.power_limit_w) line += fmt::format(", power limit {} W", *id.power_limit_w);
  }
  line += r.age_s ? fmt::format(": cached, measured {} ago ({}); --refresh measures anew", age_text(*r.age_s),
                                r.measured_at)
                  : std::string(": measured now");
  return line;
}

/// "copy_by_size" -> "copy".
std::string_view without_suffix(std::string_view name) {
  constexpr std::string_view kSuffix = "_by_size";
  return name.ends_with(kSuffix) ? name.substr(0, name.size() - kSuffix.size()) : name;
}

std::string size_text(int64_t bytes) {
  constexpr int64_t kMiB = int64_t{1} << 20;
  return bytes >= 1024 * kMiB ? fmt::format("{} GiB", bytes / (1024 * kMiB))
                              : fmt::format("{} MiB", bytes / kMiB);
}

/// Rates by size, a line per size and a column per name.
std::string size_table(const CeilingList& list) {
  std::vector<std::string> names;
  std::vector<int64_t> sizes;
  for (const CeilingValue& v : list.values) {
    if (!v.bytes) continue;
    if (std::find(names.begin(), names.end(), v.name) == names.end()) names.push_back(v.name);
    if (std::find(sizes.begin(), sizes.end(), *v.bytes) == sizes.end()) sizes.push_back(*v.bytes);
  }
  if (sizes.empty()) return "";
  std::string text = fmt::format("\n  {:<9}", "by size");
  for (const std::string& name : names) text += fmt::format(" {:>10}", without_suffix(name));
  text += "  GB/s\n";
  for (const int64_t size : sizes) {
    text += fmt::format("  {:>9}", size_text(size));
    for (const std::string& name : names) {
      const auto at = std::find_if(list.values.begin(), list.values.end(),
                                   [&](const CeilingValue& v) { return v.bytes == size && v.name == name; });
      text += at == list.values.end() ? fmt::format(" {:>10}", "") : fmt::format(" {:>10.1f}", at->value);
    }
    text += '\n';
  }
  return text;
}

}  // namespace

std::string ceilings_csv(const CeilingReport& report) {
  std::vector<std::string> header{"name", "bytes", "value", "unit", "how"};
  for (const Fact& fact : facts(report)) header.emplace_back(fact.name);
  std::string text = csv_line(header);
  for (const CeilingValue& v : report.list.values) {
    std::vector<std::string> cells{v.name, v.bytes ? std::to_string(*v.bytes) : "", cell_text(v.value),
                                   v.unit, v.how};
    for (const Fact& fact : facts(report)) cells.push_back(fact.text);
    text += csv_line(cells);
  }
  return text;
}

CeilingReport parse_ceilings_csv(const std::string& text, const std::string& file) {
  const CsvTable table = parse_csv(text, file);
  if (table.torn_last_row) throw UsageError(file + ": its last line has no line end, so it may be cut");
  if (table.rows.empty()) throw UsageError(file + ": holds no ceilings");
  const TableRow first(table, 0);
  CeilingReport report;
  report.identity = read_identity(first);
  report.list.scope = read_scope(first);
  report.measured_at = first.text("measured_at");
  if (!utc_seconds(report.measured_at))
    first.refuse("measured_at", "is not a time such as 2026-01-31T23:59:59Z");
  for (size_t row = 0; row < table.rows.size(); ++row) {
    const TableRow in(table, row);
    if (!(read_identity(in) == report.identity) || read_scope(in) != report.list.scope ||
        in.text("measured_at") != report.measured_at) {
      in.refuse("name", "was measured elsewhere or at another time than the first line");
    }
    report.list.values.push_back(read_value(in));
  }
  return report;
}

std::string ceilings_json(const CeilingReport& report) {
  std::string text = "{";
  for (const Fact& fact : facts(report)) {
    const std::string value = fact.text.empty() ? "null" : fact.number ? fact.text : json_string(fact.text);
    text += fmt::format("\"{}\":{},", fact.name, value);
  }
  text += "\"ceilings\":[";
  bool first = true;
  for (const CeilingValue& v : report.list.values) {
    text += fmt::format("{}\n{{\"name\":{},\"bytes\":{},\"value\":{},\"unit\":{},\"how\":{}}}",
                        first ? "" : ",", json_string(v.name), v.bytes ? std::to_string(*v.bytes) : "null",
                        cell_text(v.value), json_string(v.unit), json_string(v.how));
    first = false;
  }
  return text + "]}\n";
}

std::string ceilings_table(const CeilingReport& report) {
  std::string text = device_line(report) + "\n";
  size_t width = 0;
  for (const CeilingValue& v : report.list.values) {
    if (!v.bytes) width = std::max(width, v.name.size());
  }
  for (const CeilingValue& v : report.list.values) {
    if (v.bytes) continue;
    text += fmt::format("  {:<{}} {:>9} {:<8} {}\n", v.name, width, fmt::format("{:.4g}", v.value), v.unit,
                        v.how);
  }
  return text + size_table(report.list);
}

}  // namespace attnprof
