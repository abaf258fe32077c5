#include "rows/row.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/axis.hpp"
#include "rows/columns.hpp"
#include "rows/csv.hpp"
#include "rows/human.hpp"

namespace attnprof {

namespace {

/// Who computes it, and how.
bool is_config(std::string_view column) {
  const Axis* axis = find_axis(column);
  return column == "impl" || column == "kernel" || (axis != nullptr && axis->tiling);
}

std::string unverified_reason(const Row& row) {
  if (!row.ok()) return std::string(to_string(row.status()));
  const auto error = row.number("rel_err"), tolerance = row.number("tolerance");
  if (!error) return "no rel_err";
  if (!tolerance) return "no tolerance";
  if (*error <= *tolerance) return "";
  return fmt::format("rel_err {:.3g} above tolerance {:.3g}", *error, *tolerance);
}

std::shared_ptr<const RowHeader> own_header() {
  static const auto header = std::make_shared<const RowHeader>("this sweep", column_names());
  return header;
}

}  // namespace

RowDevice row_device(std::string_view device, std::string_view name, std::string_view uuid,
                     std::string_view hostname) {
  return {std::string(device), std::string(name), std::string(uuid),
          uuid.empty() ? std::string(hostname) : std::string()};
}

std::string device_key(const RowDevice& d) {
  return fmt::format("{}\x1f{}\x1f{}\x1f{}", d.device, d.name, d.uuid, d.host);
}

std::string device_text(const RowDevice& d) {
  return d.device + (d.name.empty() ? "" : " " + d.name);
}

std::string device_difference(const RowDevice& a, const RowDevice& b) {
  const auto differ = [](const std::string& x, const std::string& y) {
    return !x.empty() && !y.empty() && x != y;
  };
  if (a.device != b.device || a.name != b.name) return device_text(a) + " against " + device_text(b);
  if (differ(a.uuid, b.uuid)) return fmt::format("{} {} against {}", device_text(a), a.uuid, b.uuid);
  if (differ(a.host, b.host)) return fmt::format("{} of {} against {}", device_text(a), a.host, b.host);
  return "";
}

RowHeader::RowHeader(std::string file_name, std::vector<std::string> column_names)
    : file(std::move(file_name)), names(std::move(column_names)) {
  for (size_t i = 0; i < names.size(); ++i) position.emplace(names[i], i);
}

Row::Row(std::shared_ptr<const RowHeader> header, std::shared_ptr<const std::vector<std::string>> cells,
         int64_t line)
    : header_(std::move(header)), cells_(std::move(cells)), line_(line) {
  const auto is_own = [word = text("status")](Status s) { return to_string(s) == word; };
  const auto known = std::find_if(kStatuses.begin(), kStatuses.end(), is_own);
  status_ = known == kStatuses.end() ? Status::failed : *known;
  why_unverified_ = unverified_reason(*this);
  for (const std::string_view name : key_columns()) {
    const std::string part = key_part(text(name)) + '\x1f';
    key_ += part;
    if (!is_config(name)) problem_key_ += part;
  }
  label_ = fmt::format("{}{}{} {}", text("impl"), kernel().empty() ? "" : " ", kernel(), problem_label());
}

std::string Row::where() const {
  return fmt::format("{}:{}", file(), line());
}

std::string_view Row::text(std::string_view column) const {
  if (!header_) return {};
  const auto at = header_->position.find(column);
  return at == header_->position.end() ? std::string_view() : (*cells_)[at->second];
}
std::optional<double> Row::number(std::string_view column) const {
  return cell_number(text(column));
}

bool Row::has(std::string_view column) const {
  return header_ && header_->position.count(column) > 0;
}

RowDevice Row::device() const {
  return row_device(text("device"), text("device_name"), text("device_uuid"), text("hostname"));
}

std::string Row::tile_label() const {
  const auto side = [](std::string_view cell) { return cell.empty() ? std::string_view("?") : cell; };
  if (text("tile_m").empty() && text("tile_n").empty()) return "";
  return fmt::format("{}x{}", side(text("tile_m")), side(text("tile_n")));
}

std::string Row::impl_label() const {
  std::string label(text("impl"));
  if (const std::string tile = tile_label(); !tile.empty()) label += " " + tile;
  if (!kernel().empty()) label += fmt::format(" {}", kernel());
  return label;
}

std::string Row::problem_label() const {
  std::string label = attnprof::problem_label([this](std::string_view column) { return text(column); });
  if (text("cache") != "cold") label += fmt::format(" {} cache", text("cache"));
  if (!text("rest").empty()) label += fmt::format(" rest {}", text("rest"));
  return label;
}

Row row_of(const Record& record) {
  const auto cells = std::make_shared<std::vector<std::string>>();
  for (const Column& column : columns())
    cells->push_back(column.get ? cell_text(column.get(record)) : std::string());
  Row row(own_header(), cells, 0);
  for (size_t i = 0; i < columns().size(); ++i) {
    if (columns()[i].derive) (*cells)[i] = cell_text(columns()[i].derive(row));
  }
  return row;
}

std::vector<Row> rows_of(const std::vector<Record>& records) {
  std::vector<Row> rows;
  for (const Record& record : records) rows.push_back(row_of(record));
  return rows;
}

}  // namespace attnprof
