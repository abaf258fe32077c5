// The example workflow in docs/ci: the program takes every command line in it. (That it is YAML:
// scripts_test.py.)
#include <sys/wait.h>

#include <fstream>
#include <sstream>
#include <vector>

#include "catch.hpp"
#include "compare_case.hpp"
#include "gate/thresholds.hpp"
#include "temp_folder.hpp"

using namespace attnprof;

namespace {

/// Every command that begins with "attnprof", continued lines joined.
std::vector<std::string> commands(const std::string& path) {
  std::ifstream in(path);
  REQUIRE(in);
  std::vector<std::string> found;
  bool open = false;
  for (std::string line; std::getline(in, line);) {
    line.erase(0, line.find_first_not_of(' '));
    const bool begins = line.rfind("attnprof ", 0) == 0;
    if (!open && !begins) continue;
    if (!open) found.emplace_back();
    open = !line.empty() && line.back() == '\\';
    if (open) line.back() = ' ';
    found.back() += line;
  }
  return found;
}

std::string in_docs(const char* name) {
  return std::string(ATTNPROF_SOURCE_DIR "/docs/ci/") + name;
}

}  // namespace

TEST_CASE("every command of the example workflow is one that the program takes", "[check][ci]") {
  TempFolder folder;
  REQUIRE(std::system(("mkdir " + folder.file("bench") + " && cp " + in_docs("thresholds.toml") + " " +
                       folder.file("bench/thresholds.toml"))
                          .c_str()) == 0);
  for (const char* name : {"bench/counted.csv", "bench/gpu-1.csv", "bench/gpu-2.csv", "bench/gpu-3.csv",
                           "new.csv", "new-1.csv", "new-2.csv", "new-3.csv"})
    std::ofstream(folder.file(name)) << csv_of({{}});
  size_t sweeps = 0, checks = 0, updates = 0;
  for (const char* document : {"attnprof-gate.yml", "README.md"}) {
    for (const std::string& command : commands(in_docs(document))) {
      INFO(command);
      const bool sweep = command.rfind("attnprof sweep", 0) == 0,
                 update = command.find("--update") != command.npos;
      const std::string line = "cd " + folder.path.string() +
                               " && attnprof() { '" ATTNPROF_BINARY
                               "' \"$@\"; }; export GITHUB_STEP_SUMMARY=summary.md i=1; " +
                               command + (sweep ? " --dry-run" : "") + " >out 2>&1";
      const int status = std::system(line.c_str());
      const int code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
      // 3: a GPU is asked for, and there is none here; 2 would be a command line that nobody can run
      CHECK((code == 0 || (sweep && code == 3 && command.find("--device gpu") != command.npos)));
      sweeps += sweep;
      updates += update;
      checks += !sweep && !update;
    }
  }
  CHECK(sweeps == 2);
  CHECK(checks == 2);
  CHECK(updates == 2);
  CHECK(std::ifstream(folder.file("summary.md")).good());
  CHECK(std::ifstream(folder.file("check.xml")).good());
}

TEST_CASE("the counted job's sweep and gate hold on this machine", "[check][ci]") {
  TempFolder folder;
  for (const std::string& command : commands(in_docs("attnprof-gate.yml"))) {
    if (command.find("gpu") != command.npos) continue;
    INFO(command);
    const bool sweep = command.rfind("attnprof sweep", 0) == 0;
    const std::string prepare = sweep ? "" : "mkdir bench && cp new.csv bench/counted.csv && ";
    const std::string line = "cd " + folder.path.string() +
                             " && attnprof() { '" ATTNPROF_BINARY
                             "' \"$@\"; }; export GITHUB_STEP_SUMMARY=summary.md; " +
                             prepare + command + " >out 2>&1";
    CHECK(std::system(line.c_str()) == 0);
  }
  std::ifstream summary(folder.file("summary.md"));
  std::string first;
  std::getline(summary, first);
  CHECK(first == "## attnprof check: PASS");
}

TEST_CASE("the example's thresholds are read, and mean what their comments say", "[check][ci]") {
  const Thresholds thresholds = read_thresholds(in_docs("thresholds.toml"));
  const auto at = [&](Cells cells) {
    return thresholds.of(rows_of(parse_csv(csv_of({cells}), "f")).rows.front());
  };
  CHECK(at({{"impl", "flash3"}, {"seqlen_q", "512"}}).time_pct == 4);
  CHECK(at({{"impl", "flash3"}, {"seqlen_q", "2048"}}).time_pct == 2);
  CHECK(at({{"impl", "cudnn"}}).of(Subject::time) == Policy::warn);
}
