// A file that ends early, anywhere: every reader gives whole rows with their own figures, or a refusal.
#include <algorithm>

#include "catch.hpp"
#include "compare_case.hpp"
#include "core/error.hpp"
#include "rows/merge.hpp"
#include "rows/rows.hpp"
#include "state/ceilings_text.hpp"
#include "state/resume.hpp"
#include "state/tuned_csv.hpp"
#include "temp_folder.hpp"
#include "text.hpp"

using namespace attnprof;

namespace {

/// A file, and the length up to which each of its lines is whole.
struct Whole {
  std::string text;
  std::vector<size_t> ends;

  void add(const std::string& line) {
    text += line;
    ends.push_back(text.size());
  }
  /// Lines, the header among them, that are whole when the file ends at `cut`.
  size_t lines(size_t cut) const {
    return static_cast<size_t>(
        std::count_if(ends.begin(), ends.end(), [cut](size_t end) { return end <= cut; }));
  }
};

/// Three rows, `last` being the last column, and one cell with a comma, quotes and a line end.
Whole a_sweep(const std::string& last) {
  std::vector<std::string> names = all_columns();
  std::erase(names, last);
  names.push_back(last);
  Whole whole;
  whole.add(csv_line(names));
  for (const char* impl : {"naive", "flash2", "flash3"}) {
    Cells row = good_row();
    row["impl"] = impl;
    row["message"] = "one, \"two\"\nthree";
    std::vector<std::string> cells;
    for (const std::string& name : names) cells.push_back(row[name]);
    whole.add(csv_line(cells));
  }
  return whole;
}

/// Calls `read` with every beginning of the file; it gives the rows as text, one for each. A refusal is fine.
template <class Read>
void check_cuts(const Whole& whole, Read read) {
  const std::vector<std::string> all = read(whole.text);
  REQUIRE(all.size() + 1 == whole.ends.size());
  const size_t header = whole.ends.front();
  for (size_t cut = 0; cut < whole.text.size(); cut += cut + 2 < header ? 7 : 1) {
    std::vector<std::string> rows;
    try {
      rows = read(whole.text.substr(0, cut));
    } catch (const UsageError&) {
      continue;
    }
    INFO(cut);
    const size_t lines = whole.lines(cut);
    REQUIRE(rows.size() == (lines > 0 ? lines - 1 : 0));
    for (size_t i = 0; i < rows.size(); ++i) REQUIRE(rows[i] == all[i]);
  }
}

std::vector<std::string> lines_of(const CsvTable& table) {
  std::vector<std::string> lines;
  for (const auto& cells : table.rows) lines.push_back(csv_line(cells));
  return lines;
}

}  // namespace

TEST_CASE("a sweep's file cut anywhere gives its whole rows to every reader", "[csv][cut]") {
  const TempFolder folder;
  for (const char* last : {"time_us", "hbm_read_bytes", "device_name"}) {
    const Whole whole = a_sweep(last);
    check_cuts(whole, [](const std::string& text) {
      std::vector<std::string> rows;
      for (const Row& row : rows_of(parse_csv(text, "f.csv")).rows) {
        std::string line;
        for (const std::string& name : all_columns()) line += std::string(row.text(name)) + '|';
        rows.push_back(line);
      }
      return rows;
    });
    const auto file = [&folder](const std::string& text) {
      put(folder.path / "f.csv", text);
      return folder.file("f.csv");
    };
    check_cuts(whole, [&](const std::string& text) { return lines_of(read_rows_to_merge(file(text))); });
    check_cuts(whole, [&](const std::string& text) { return lines_of(read_resume(file(text)).table); });
  }
}

TEST_CASE("a tuned table cut anywhere gives its tiles or a refusal", "[csv][cut]") {
  Whole whole;
  whole.add(
      "impl,device,compute_capability,dtype,head_dim,causal,window,seqlen_kv,tile_m,stages,warps,tile_n\n");
  for (const char* row : {"flash3,gpu,9.0,,64,,,0,128,2,,128\n", "flash3,gpu,9.0,,128,,,0,192,2,,256\n"})
    whole.add(row);
  check_cuts(whole, [](const std::string& text) {
    std::vector<std::string> rows;
    for (const TunedEntry& e : parse_tuned(text, "t.csv", [](std::string_view, DeviceKind) { return true; }))
      rows.push_back(tuned_csv({e}));
    return rows;
  });
}

TEST_CASE("cached ceilings cut anywhere give their values or a refusal", "[csv][cut]") {
  CeilingReport report;
  report.identity.kind = DeviceKind::host;
  report.identity.device_name = "EPYC";
  report.identity.hostname = "node1";
  report.measured_at = "2026-01-31T23:59:59Z";
  report.list.add({"copy", std::nullopt, 123.25, "GB/s", "a loop"});
  report.list.add({"matrix", std::nullopt, 4567.5, "GFLOP/s", "a loop"});
  const std::string text = ceilings_csv(report);
  Whole whole;
  for (size_t at = 0; at < text.size();) {
    const size_t end = text.find('\n', at) + 1;
    whole.add(text.substr(at, end - at));
    at = end;
  }
  check_cuts(whole, [](const std::string& part) {
    std::vector<std::string> rows;
    for (const CeilingValue& v : parse_ceilings_csv(part, "c.csv").list.values)
      rows.push_back(v.name + cell_text(v.value) + v.unit);
    return rows;
  });
}
