#include "state/resume.hpp"

#include <algorithm>
#include <utility>

#include "core/error.hpp"
#include "core/file_io.hpp"
#include "rows/columns.hpp"
#include "rows/csv.hpp"
#include "rows/existing_csv.hpp"

namespace attnprof {

namespace {

std::string describe(const RowDevice& device) {
  std::string text = device_text(device);
  if (!device.uuid.empty()) text += " (" + device.uuid + ")";
  return text;
}

bool starts_our_header(std::string_view text) {
  const std::string header = header_line();
  return std::string_view(header).substr(0, text.size()) == text;
}

}  // namespace

std::string device_text(const RowDevice& d) {
  return d.device + (d.name.empty() ? "" : " " + d.name);
}

std::string header_line() {
  std::string line;
  for (const Column& column : columns()) {
    if (!line.empty()) line += ',';
    line += column.name;
  }
  return line + '\n';
}

std::optional<CsvTable> parse_finished_rows(const std::string& text, const std::string& path) {
  // A run can die while it writes the header.
  if (starts_our_header(text) && (text.empty() || text.back() != '\n')) return std::nullopt;
  CsvTable table = parse_csv(text, path);
  if (table.final_newline) return table;
  if (table.complete_bytes > 0 && !table.torn_last_row && !table.rows.empty()) {
    table.rows.pop_back();  // complete as it may look, its last cell can be cut
    table.row_lines.pop_back();
  }
  table.torn_last_row = true;
  return table;
}

std::optional<CsvTable> read_own_csv(const std::string& path) {
  const auto text = read_existing(path);
  if (!text) return std::nullopt;
  const auto found = parse_finished_rows(*text, path);
  if (!found) return std::nullopt;
  const CsvTable& table = *found;
  for (const Column& column : columns()) {
    if (table.has(column.name)) continue;
    throw UsageError("cannot continue '" + path + "': it has no column '" + std::string(column.name) +
                     "', so it was not written by this version; choose a new file");
  }
  if (table.complete_bytes == 0) return std::nullopt;  // a header without line end, and no row
  const size_t schema = table.column("schema");
  const std::string expected = std::to_string(kSchemaVersion);
  for (size_t row = 0; row < table.rows.size(); ++row) {
    if (table.rows[row][schema] == expected) continue;
    throw UsageError("cannot continue '" + path + "': line " + std::to_string(table.row_lines[row]) +
                     " has '" + table.rows[row][schema] + "' in column 'schema', this version writes " +
                     expected + "; choose a new file");
  }
  return found;
}

ResumeInfo read_resume(const std::string& path) {
  ResumeInfo info;
  auto table = read_own_csv(path);
  if (!table) return info;
  info.torn = table->torn_last_row;
  info.rows = static_cast<int64_t>(table->rows.size());
  const size_t device = table->column("device"), name = table->column("device_name"),
               uuid = table->column("device_uuid"), status = table->column("status"),
               time = table->column("time_us"), kernel = table->column("kernel");
  const std::vector<size_t> key = key_positions(*table);
  for (size_t row = 0; row < table->rows.size(); ++row) {
    const auto& cells = table->rows[row];
    info.status_by_key[row_key(*table, row, key)] = cells[status];
    const int64_t line = table->row_lines[row];
    if (cells[status] == to_string(Status::ok)) {
      ++(cells[time].empty() ? info.untimed : info.timed);
      if (cells[time].empty() && info.untimed_line == 0) info.untimed_line = line;
    }
    if (!cells[kernel].empty() && info.kernel_line == 0) info.kernel_line = line;
    const RowDevice seen{cells[device], cells[name], cells[uuid]};
    if (std::find(info.devices.begin(), info.devices.end(), seen) == info.devices.end())
      info.devices.push_back(seen);
  }
  info.table = std::move(*table);
  return info;
}

void require_same_device(const ResumeInfo& info, const DeviceInfo& device, const std::string& path) {
  const RowDevice now{std::string(to_string(device.kind)), device.name, device.uuid};
  for (const RowDevice& seen : info.devices) {
    const bool other_uuid = !seen.uuid.empty() && !now.uuid.empty() && seen.uuid != now.uuid;
    if (seen.device == now.device && seen.name == now.name && !other_uuid) continue;
    throw UsageError("cannot continue '" + path + "': it holds rows of " + describe(seen) +
                     ", this run is on " + describe(now) + "; choose a new file, or that device");
  }
}

}  // namespace attnprof
