// Who may write a file, and when that is found out.
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <string>

#include "catch.hpp"
#include "core/error.hpp"
#include "core/file_io.hpp"
#include "error_of.hpp"
#include "rows/csv.hpp"
#include "state/resume.hpp"
#include "temp_folder.hpp"
#include "text.hpp"

using namespace attnprof;

namespace {

Record row(const char* impl) {
  Record r;
  r.planned.impl = impl;
  r.planned.problem = {
      .batch = 1, .heads = 2, .kv_heads = 2, .seqlen_q = 128, .seqlen_kv = 128, .head_dim = 80};
  r.time = TimeStats{20, 19, 21, 18, 30, 20, 3, true, false};
  return r;
}

}  // namespace

TEST_CASE("a file that one run writes is refused to another, and keeps its content", "[output]") {
  const TempFolder folder;
  using Open = std::function<std::unique_ptr<Sink>(const std::string&)>;
  const Open open_new_csv = [](const std::string& path) { return open_csv(path, false); };
  const Open continue_csv = [](const std::string& path) { return open_csv(path, true); };
  for (const Open& open : {open_new_csv, Open(open_json_lines)}) {
    const std::string path = folder.file("a.out");
    std::filesystem::remove(path);
    {
      const auto sink = open(path);
      sink->write(row_of(row("naive")));
      const std::string before = slurp(path);
      for (const Open& again : {open, continue_csv})
        CHECK(has(error_of([&] { again(path); }), "'" + path + "' is being written by another attnprof"));
      CHECK(has(error_of([&] { require_writable(path); }), "is being written by another attnprof"));
      CHECK(slurp(path) == before);
      sink->write(row_of(row("flash2")));
      CHECK(slurp(path).size() > before.size());
    }
    CHECK_NOTHROW(require_writable(path));
    CHECK_NOTHROW(open(path));  // free again
  }
}

TEST_CASE("a file opened afresh is emptied, once it is locked", "[output]") {
  const TempFolder folder;
  const std::string path = folder.file("a.csv");
  open_csv(path, false);
  const std::string header = slurp(path);
  open_csv(path, false)->write(row_of(row("naive")));
  CHECK(slurp(path).size() > header.size());
  open_csv(path, false);
  CHECK(slurp(path) == header);
}

TEST_CASE("whether a file can be written is found out without touching it", "[output]") {
  const TempFolder folder;
  const std::string present = folder.file("present.csv"), absent = folder.file("absent.csv");
  std::ofstream(present, std::ios::binary) << "not ours";
  CHECK_NOTHROW(require_writable(present));
  CHECK(slurp(present) == "not ours");
  CHECK_NOTHROW(require_writable(absent));
  CHECK_FALSE(std::filesystem::exists(absent));
  for (const char* other : {"-", "/dev/null", "just-a-name.csv"}) CHECK_NOTHROW(require_writable(other));
  CHECK_FALSE(std::filesystem::exists("just-a-name.csv"));
  const std::string pipe = folder.file("pipe");
  REQUIRE(::mkfifo(pipe.c_str(), 0600) == 0);
  CHECK_NOTHROW(require_writable(pipe));  // and does not wait for a reader
}

TEST_CASE("what cannot be written is refused in the words of opening it", "[output]") {
  const TempFolder folder;
  std::ofstream(folder.file("plain")) << "x";
  for (const std::string& path :
       {folder.path.string(), folder.file("no/such.csv"), folder.file("plain/below.csv"), std::string()}) {
    INFO(path);
    const std::string refused = error_of([&] { require_writable(path); });
    CHECK(has(refused, "cannot open '" + path + "': "));
    CHECK(refused == error_of([&] { open_csv(path, false); }));
  }
}

TEST_CASE("files and folders without permission are refused beforehand", "[output]") {
  if (::geteuid() == 0) {
    SUCCEED("root may write anything");
    return;
  }
  const TempFolder folder;
  const std::string file = folder.file("read-only.csv"), closed = folder.file("closed");
  std::ofstream(file) << "x";
  REQUIRE(::chmod(file.c_str(), 0444) == 0);
  REQUIRE(::mkdir(closed.c_str(), 0555) == 0);
  for (const std::string& path : {file, closed + "/new.csv"}) {
    const std::string refused = error_of([&] { require_writable(path); });
    CHECK(has(refused, "cannot open '" + path + "': Permission denied"));
    CHECK(refused == error_of([&] { open_csv(path, false); }));
  }
}

TEST_CASE("resume counts the rows that were verified but never timed", "[output]") {
  const TempFolder folder;
  Record untimed = row("naive"), failed = row("flash2"), timed = row("flash3");
  untimed.time.reset();
  failed.time.reset();
  failed.status = Status::failed;  // no time either, but it is no row of `verify` for that
  {
    const auto sink = open_csv(folder.file("a.csv"), false);
    for (const Record& r : {untimed, failed, timed}) sink->write(row_of(r));
  }
  const ResumeInfo info = read_resume(folder.file("a.csv"));
  CHECK(info.table.rows.size() == 3);
  CHECK(info.untimed == 1);
  CHECK(read_resume(folder.file("none.csv")).untimed == 0);
}
