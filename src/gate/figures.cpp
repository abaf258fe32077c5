#include "gate/figures.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "gate/gate_counts.hpp"

namespace attnprof {

namespace {

bool all_have(const std::vector<Row>& rows, std::string_view column) {
  return every_row(rows, [column](const Row& row) { return row.number(column).has_value(); });
}

bool is_count(std::string_view column) {
  return std::any_of(std::begin(kCounts), std::end(kCounts),
                     [column](const Count& count) { return count.column == column; });
}

}  // namespace

const std::vector<Figure>& figures() {
  static const std::vector<Figure> all{{"time_us", Subject::time, true},
                                       {"time_lo_us", Subject::time, true},
                                       {"time_hi_us", Subject::time, true},
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
                                       {"max_abs_err", Subject::status, false, true},
                                       {"rel_err", Subject::status, true, true},
                                       {"tolerance", Subject::status, true, true},
                                       {"rows_checked", Subject::status}};
  return all;
}

const Figure* find_figure(std::string_view column) {
  const auto at = std::find_if(figures().begin(), figures().end(),
                               [column](const Figure& figure) { return figure.column == column; });
  return at == figures().end() ? nullptr : &*at;
}

std::vector<OneSided> one_sided(const MatchedCase& c) {
  std::vector<OneSided> found;
  for (const Figure& figure : figures()) {
    if (figure.own_rule) continue;
    const bool had = all_have(c.before, figure.column), has = all_have(c.after, figure.column);
    if (had && !has && !is_count(figure.column)) {
      found.push_back({figure, why_lacking(c.after.front())});
    } else if (!had && has && c.before.front().has(figure.column)) {
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
