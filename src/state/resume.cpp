#include "state/resume.hpp"

#include <algorithm>
#include <utility>

#include "core/error.hpp"
#include "rows/columns.hpp"
#include "rows/csv.hpp"
#include "rows/existing_csv.hpp"

namespace attnprof {

namespace {

std::string describe(const RowDevice& device) {
  const std::string& which = device.uuid.empty() ? device.host : device.uuid;
  return device_text(device) + (which.empty() ? "" : " (" + which + ")");
}

}  // namespace

ResumeInfo read_resume(const std::string& path) {
  ResumeInfo info;
  auto table = read_own_csv(path);
  if (!table) return info;
  const size_t device = table->column("device"), name = table->column("device_name"),
               uuid = table->column("device_uuid"), host = table->column("hostname"),
               status = table->column("status"), time = table->column("time_us"),
               kernel = table->column("kernel");
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
    const RowDevice seen = row_device(cells[device], cells[name], cells[uuid], cells[host]);
    if (std::find(info.devices.begin(), info.devices.end(), seen) == info.devices.end())
      info.devices.push_back(seen);
  }
  info.table = std::move(*table);
  return info;
}

void require_same_device(const ResumeInfo& info, const DeviceInfo& device, const std::string& hostname,
                         const std::string& path) {
  const RowDevice now = row_device(to_string(device.kind), device.name, device.uuid, hostname);
  for (const RowDevice& seen : info.devices) {
    if (device_difference(seen, now).empty()) continue;
    throw UsageError("cannot continue '" + path + "': it holds rows of " + describe(seen) +
                     ", this run is on " + describe(now) + "; choose a new file, or that device");
  }
}

}  // namespace attnprof
