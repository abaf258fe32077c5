#include "core/file_io.hpp"
#include "rows/csv.hpp"
#include "rows/existing_csv.hpp"

namespace attnprof {

namespace {

class CsvSink : public Sink {
 public:
  CsvSink(const std::string& path, bool append) : file_(path, append) {
    // Read after it is locked: what another run has added meanwhile counts.
    const auto existing = append ? read_own_csv(path) : std::nullopt;
    if (existing) {
      go_on(*existing);
    } else {
      start();
    }
  }

  /// In the file's own order; columns that are not ours stay empty.
  void write(const Row& row) override {
    std::vector<std::string> cells;
    for (const std::string& name : header_) cells.emplace_back(row.text(name));
    file_.write(csv_line(cells));
  }

 private:
  void start() {
    if (file_.regular()) file_.truncate(0);  // a part of a header may be there
    header_ = column_names();
    file_.write(header_line());
  }
  void go_on(const CsvTable& existing) {
    header_ = existing.header;
    if (existing.torn_last_row) file_.truncate(existing.complete_bytes);
  }

  OutputFile file_;
  std::vector<std::string> header_;
};

}  // namespace

std::unique_ptr<Sink> open_csv(const std::string& path, bool append) {
  return std::make_unique<CsvSink>(path, append);
}

}  // namespace attnprof
