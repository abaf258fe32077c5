#include <algorithm>

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

  void write(const Record& record) override {
    line_.clear();
    for (size_t i = 0; i < order_.size(); ++i) {
      if (i > 0) line_ += ',';
      if (order_[i]) line_ += csv_field(cell_text(order_[i]->get(record)));
    }
    line_ += '\n';
    file_.write(line_);
  }

 private:
  void start() {
    if (file_.regular()) file_.truncate(0);  // a part of a header may be there
    for (const Column& column : columns()) order_.push_back(&column);
    file_.write(header_line());
  }
  void go_on(const CsvTable& existing) {
    for (const std::string& name : existing.header) {
      const auto at =
          std::find_if(columns().begin(), columns().end(), [&](const Column& c) { return c.name == name; });
      order_.push_back(at == columns().end() ? nullptr : &*at);
    }
    if (existing.torn_last_row) file_.truncate(existing.complete_bytes);
  }

  OutputFile file_;
  std::vector<const Column*> order_;  ///< by cell of the file; nullptr for a column that is not ours
  std::string line_;
};

}  // namespace

std::unique_ptr<Sink> open_csv(const std::string& path, bool append) {
  return std::make_unique<CsvSink>(path, append);
}

}  // namespace attnprof
