// What a person sees on the terminal: results as a table, progress as one line.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "core/record.hpp"

namespace attnprof {

/// Human units: "4.1 GB", "306 TFLOP/s", "1.24 ms".
std::string human_bytes(double bytes);
std::string human_time_us(double us);
std::string human_rate_flops(double flops_per_s);

struct TableStyle {
  bool color = false;
  int width = 100;
};
/// One line per row: problem, impl, tile, time, interval, TFLOP/s, HBM bytes (and their source), error, status.
/// Rows that failed print their message.
std::string results_table(const std::vector<Record>& records, const TableStyle& style);

/// Pairs of the first (baseline) and the other implementations of each problem: "4.1 GB -> 0.31 GB, 13x fewer; 6.2x faster".
/// No ratio from a row that is not verified ok, or whose denominator is missing.
std::string comparison_table(const std::vector<Record>& records, const TableStyle& style);

/// Progress on stderr, one rewritten line with time left; silent unless `enabled` (a terminal).
class Progress {
 public:
  Progress(int total, bool enabled);
  ~Progress();  ///< clears the line
  void step(int done, const std::string& what);

 private:
  int total_;
  bool enabled_;
  std::chrono::steady_clock::time_point start_;
};

}  // namespace attnprof
