// A row: one case as the cells of its columns say it, whether just measured or read from a file.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "core/record.hpp"

namespace attnprof {

/// Identity of the device that a row was measured on, as its cells say it.
struct RowDevice {
  std::string device;  ///< "cpu", "gpu"
  std::string name;
  std::string uuid;  ///< empty on the host
  std::string host;  ///< name of the machine, for a device without a UUID: many have the same processor
  bool operator==(const RowDevice&) const = default;
};
/// The one definition of a device, from the cells of its columns.
RowDevice row_device(std::string_view device, std::string_view name, std::string_view uuid,
                     std::string_view hostname);
std::string device_key(const RowDevice& device);  ///< all of it, for the identity of a row

/// "gpu NVIDIA H200".
std::string device_text(const RowDevice& device);
/// Why it is another device: "gpu NVIDIA H100 against cpu AMD EPYC 9B14"; "" when it is the same one, as far
/// as is known. The index of a GPU says nothing; UUIDs, or names of machines, count when both are known.
std::string device_difference(const RowDevice& a, const RowDevice& b);

/// What the rows of one file share: its name, and those of its columns.
struct RowHeader {
  RowHeader(std::string file_name, std::vector<std::string> column_names);
  RowHeader(const RowHeader&) = delete;
  RowHeader& operator=(const RowHeader&) = delete;

  std::string file;
  std::vector<std::string> names;
  std::unordered_map<std::string_view, size_t> position;  ///< of a column, by name; views into names
};

/// Copies share the cells.
class Row {
 public:
  Row() = default;  ///< without cells
  Row(std::shared_ptr<const RowHeader> header, std::shared_ptr<const std::vector<std::string>> cells,
      int64_t line);

  std::string_view file() const { return header_->file; }  ///< as given by the user; "(stdin)"
  int64_t line() const { return line_; }  ///< where the row starts, 1-based; 0 for one just measured
  std::string where() const;              ///< "FILE:LINE", for messages

  bool has(std::string_view column) const;  ///< whether the file has such a column
  /// The cell; "" when it is empty, or when the row has no such column.
  std::string_view text(std::string_view column) const;
  /// The number in the cell; nothing when there is none.
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
  /// from which cache state. Rows with the same one may be compared with each other.
  const std::string& problem_key() const { return problem_key_; }

  /// "flash3 bf16 b4 h16 s4k d128 causal". Says whatever differs from the defaults (pass, KV heads, cache,
  /// ...), and the tile and the rest where rows of one file could not be told apart otherwise.
  const std::string& label() const { return label_; }
  void set_label(std::string label) { label_ = std::move(label); }
  std::string problem_label() const;  ///< "bf16 b4 h16 s4k d128 causal"
  std::string impl_label() const;     ///< "flash2 128x48", "naive"
  std::string tile_label() const;     ///< "128x48"; "" when untiled

  /// Of a row about one of several kernels of a launch: which ("softmax"). "" for rows about whole launches.
  std::string_view kernel() const { return text("kernel"); }

  RowDevice device() const;
  std::string_view driver() const { return text("driver"); }

 private:
  std::shared_ptr<const RowHeader> header_;
  std::shared_ptr<const std::vector<std::string>> cells_;
  int64_t line_ = 0;
  Status status_ = Status::ok;
  std::string why_unverified_, key_, problem_key_, label_;
};

/// A row of every column; what follows from other cells is derived from them.
Row row_of(const Record& record);
std::vector<Row> rows_of(const std::vector<Record>& records);

}  // namespace attnprof
