#include "gate/figures.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "gate/gate_counts.hpp"

namespace attnprof {

namespace {

template <class Predicate>
bool any(const std::vector<Row>& rows, Predicate&& is) {
  return std::any_of(rows.begin(), rows.end(), is);
}

bool all_have(const std::vector<Row>& rows, std::string_view column) {
  return !any(rows, [column](const Row& row) { return !row.number(column); });
}

bool has_column(const Row& row, std::string_view column, const std::vector<RowFile>& files) {
  return std::any_of(files.begin(), files.end(), [&](const RowFile& file) {
    return file.file == row.file() &&
           std::find(file.header.begin(), file.header.end(), column) != file.header.end();
  });
}

/// Rules of their own say what happens when these are missing.
bool judged_elsewhere(std::string_view column) {
  return column == "time_us" || column == "time_lo_us" || column == "time_hi_us" || column == "rel_err" ||
         column == "tolerance";
}
bool is_count(std::string_view column) {
  return std::any_of(std::begin(kCounts), std::end(kCounts),
                     [column](const Count& count) { return count.column == column; });
}

}  // namespace

const std::vector<Figure>& figures() {
  static const std::vector<Figure> all{{"time_us", Subject::time},
                                       {"time_lo_us", Subject::time},
                                       {"time_hi_us", Subject::time},
                                       {"time_min_us", Subject::time},
                                       {"time_max_us", Subject::time},
                                       {"samples", Subject::time},
                                       {"hbm_read_bytes", Subject::bytes},
                                       {"hbm_write_bytes", Subject::bytes},
                                       {"l2_bytes", Subject::bytes},
                                       {"min_hbm_bytes", Subject::bytes},
                                       {"min_hbm_read_bytes", Subject::bytes},
                                       {"min_hbm_write_bytes", Subject::bytes},
                                       {"tensor_flops", Subject::flops},
                                       {"fp32_flops", Subject::flops},
                                       {"executed_flops", Subject::flops},
                                       {"exp_count", Subject::flops},
                                       {"workspace_bytes", Subject::workspace},
                                       {"max_abs_err", Subject::status},
                                       {"rel_err", Subject::status},
                                       {"tolerance", Subject::status},
                                       {"rows_checked", Subject::status}};
  return all;
}

Subject subject_of(std::string_view column) {
  for (const Figure& figure : figures()) {
    if (figure.column == column) return figure.subject;
  }
  return Subject::status;
}

bool tells_verified(std::string_view column) {
  return column == "rel_err" || column == "max_abs_err" || column == "tolerance";
}

std::vector<OneSided> one_sided(const MatchedCase& c, const std::vector<RowFile>& baselines) {
  std::vector<OneSided> found;
  for (const Figure& figure : figures()) {
    if (judged_elsewhere(figure.column)) continue;
    const bool had = all_have(c.before, figure.column), has = all_have(c.after, figure.column);
    if (had && !has && !is_count(figure.column)) {
      found.push_back({figure, why_lacking(c.after.front())});
    } else if (!had && has && has_column(c.before.front(), figure.column, baselines)) {
      found.push_back({figure, "no data in the baseline; renew it with --update"});
    }
  }
  return found;
}

std::string why_lacking(const Row& row) {
  const std::string_view why = row.text("counters_status");
  return why.empty() || why == "ok" ? "the new row lacks it"
                                    : fmt::format("the new row lacks it (counters: {})", why);
}

}  // namespace attnprof
