// What a person sees on the terminal: results as a table, progress as one line.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "rows/human.hpp"
#include "rows/row.hpp"

namespace attnprof {

struct TableStyle {
  bool color = false;
  int width = 100;  ///< columns that matter least are left out until the lines fit
};
/// One line per row: problem, impl, tile, time, interval, TFLOP/s, HBM bytes (and their source), error,
/// status. What is the same in all rows stands once, above. Rows that failed print their message instead of
/// figures; warnings follow below.
std::string results_table(const std::vector<Row>& rows, const TableStyle& style);

/// "[12/120] 0:14, about 2:06 left: naive fwd ..." cut to `width` characters. Time left follows from finished
/// work.
std::string progress_line(int done, int total, double elapsed_s, const std::string& what, int width);

/// Progress on stderr, one rewritten line; silent unless `enabled` (a terminal).
class Progress {
 public:
  Progress(int total, bool enabled);
  ~Progress();  ///< clears the line
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  void step(int done, const std::string& what);
  void clear();  ///< before anything else is printed on stderr

 private:
  int total_;
  bool enabled_;
  bool shown_ = false;
  std::chrono::steady_clock::time_point start_;
};

}  // namespace attnprof
