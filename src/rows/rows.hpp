// Rows of a CSV, typed by column name and checked: what compare, check and report read.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "core/record.hpp"
#include "rows/csv.hpp"
#include "state/resume.hpp"

namespace attnprof {

/// One row of a file that passed every check of read_rows. Cheap to copy: the cells are shared.
class Row {
 public:
  std::string_view file() const;  ///< as given by the user; "(stdin)"
  int64_t line() const;           ///< where the row starts, 1-based
  std::string where() const;      ///< "FILE:LINE", for messages

  /// The cell; "" when it is empty, says nan or inf, or when the file has no such column.
  std::string_view text(std::string_view column) const;
  /// The number in the cell; nothing in all those cases.
  std::optional<double> number(std::string_view column) const;

  Status status() const { return status_; }
  bool ok() const { return status_ == Status::ok; }
  /// Status ok, and an error that is known to be within a known tolerance. No ratio without it.
  bool verified() const { return ok() && why_unverified_.empty(); }
  /// "oom", "no rel_err", "rel_err 0.2 above tolerance 0.01"; "" when verified.
  const std::string& why_unverified() const { return why_unverified_; }

  /// Every key column, as in row_key: what is the same in before and after.
  const std::string& key() const { return key_; }
  /// The key without impl, tile_m, tile_n, stages, warps and kernel: which problem, on which kind of device,
  /// from which cache state. Rows with the same one may be held against each other.
  const std::string& problem_key() const { return problem_key_; }

  /// "flash3 bf16 b4 h16 s4k d128 causal". Says whatever differs from the defaults (pass, KV heads, cache,
  /// ...), and the tile and the rest where rows of one file could not be told apart otherwise.
  const std::string& label() const { return label_; }
  std::string problem_label() const;  ///< "bf16 b4 h16 s4k d128 causal"
  std::string impl_label() const;     ///< "flash2 128x48", "naive"

  /// Of a row about one of several kernels of a launch: which ("softmax"). "" for rows about whole launches.
  std::string_view kernel() const { return text("kernel"); }

  RowDevice device() const;
  std::string_view driver() const { return text("driver"); }

 private:
  friend class RowReader;
  struct Source {
    CsvTable table;
    std::unordered_map<std::string_view, size_t> position;  ///< of a column, by name; views into table.header
  };
  std::shared_ptr<const Source> source_;
  size_t index_ = 0;
  Status status_ = Status::ok;
  std::string why_unverified_, key_, problem_key_, label_;
};

/// What rows with one key mean.
enum class Duplicates {
  refuse,  ///< an error that names both lines
  median,  ///< repeats: the row with the median time stands for them (of an even number, the slower of the
           ///< two in the middle); a repeat that is not verified comes before those that are
  keep,    ///< all of them
};

struct RowFile {
  std::string file;
  std::vector<std::string> header;
  std::vector<Row> rows;       ///< in the order of the file; with Duplicates::median, of first appearance
  size_t repeats = 0;          ///< rows that Duplicates::median left out
  bool torn_last_row = false;  ///< the last line was cut off and is not among the rows: worth a warning
};

/// Checks every cell of the columns known to this version; others are kept as text. Throws UsageError
/// "FILE:LINE: column 'x': ..." for what cannot be right: a key column that is missing, no schema or another,
/// no rows, a second header, text in a numeric column, a time that is zero or negative, an interval that does
/// not hold its median, negative bytes or FLOPs, figures that no machine reaches, a time of no samples, a
/// result that is ok with no row checked, sizes below 1, flags (causal, ...) other than 0 and 1, words that
/// no version writes.
RowFile rows_of(CsvTable table, Duplicates duplicates = Duplicates::refuse);
/// The same from a file; `path` "-" is standard input.
RowFile read_rows(const std::string& path, Duplicates duplicates = Duplicates::refuse);

/// Rows just measured, as their file would be read; the cells are our own and are not checked. Every row is
/// kept.
RowFile rows_of(const std::vector<Record>& records);

/// Why times of these two must not be compared: "gpu NVIDIA H100 against cpu AMD EPYC 9B14"; "" when it is
/// the same device. The index of a GPU says nothing; UUIDs count when both are known.
std::string device_difference(const Row& a, const Row& b);
/// The same, or else "driver 580 against 575": a time depends on it, too.
std::string machine_difference(const Row& a, const Row& b);

/// Those that the file holds, each once, in its order.
std::vector<std::string> implementations(const RowFile& file);

// Figures that follow from the cells; empty when the row is not ok, or where they would mislead.

/// time_us, unless the timer could not tell it from nothing.
std::optional<double> resolved_time_us(const Row& row);
/// Read and written, of a row that has both.
std::optional<double> hbm_bytes(const Row& row);
/// Whether caches, not HBM, served the case: less than half of the compulsory bytes crossed. Nothing when
/// either is not known.
std::optional<bool> served_by_cache(const Row& row);

/// FLOPs that ran, masked parts of visited tiles included, and how that is known.
struct ExecutedFlops {
  double flops = 0;
  std::string_view source;  ///< "measured" (tensor_flops, hardware counters) or "modelled" (executed_flops)
};
std::optional<ExecutedFlops> executed_flops(const Row& row);
/// The same from one source only, so that two rows can be held against each other.
std::optional<double> measured_flops(const Row& row);
std::optional<double> modelled_flops(const Row& row);

}  // namespace attnprof
