// What commands refuse before they do anything: numbers that are none, outputs that are inputs.
#include "catch.hpp"
#include "run_program.hpp"

namespace {

const std::string kRows = ATTNPROF_SOURCE_DIR "/docs/results/cpu-2core.csv";

bool says(const Outcome& o, const char* words) {
  return o.err.find(words) != std::string::npos;
}

}  // namespace

TEST_CASE("a limit that is not a number is refused, not a gate without limits", "[cli][check]") {
  for (const char* option : {"--time-pct", "--noise-pct", "--alpha", "--bytes-pct"}) {
    const Outcome o = run_program("check --baseline " + kRows + " " + kRows + " " + option + " nan");
    CHECK(o.exit_code == 2);
    CHECK(says(o, option));
    CHECK(says(o, "'nan' is not a number from"));
  }
  CHECK(run_program("compare --why " + kRows + " --copy-gbps nan").exit_code == 2);
  CHECK(run_program("report " + kRows + " --copy-gbps nan -o -").exit_code == 2);
}

TEST_CASE("a gate that has nothing to judge does not hold", "[cli][check]") {
  const Outcome o = run_program("check --baseline " + kRows + " " + kRows + " --only time --ignore time");
  CHECK(o.exit_code == 2);
  CHECK(says(o, "nothing was left to judge"));
}

TEST_CASE("no command writes over what it reads", "[cli]") {
  const TempFolder folder;
  const std::string copy = folder.file("rows.csv");
  std::filesystem::copy_file(kRows, copy);
  const std::string before = slurp(copy);
  for (const std::string& arguments : {"compare " + copy + " -o " + copy, "report " + copy + " -o " + copy,
                                       "check --baseline " + copy + " " + kRows + " --markdown " + copy,
                                       "check --baseline " + kRows + " " + copy + " --junit " + copy}) {
    const Outcome o = run_program(arguments);
    INFO(arguments << ": " << o.err);
    CHECK(o.exit_code == 2);
    CHECK(says(o, "would be lost"));
    CHECK(slurp(copy) == before);
  }
}

TEST_CASE("hardware counters that a CPU has not are not taken for counted bytes", "[cli]") {
  const Outcome o =
      run_program("sweep --device cpu --seqlen 16 --heads 1 --batch 1 --impl naive --require-counters");
  CHECK(o.exit_code == 3);
  CHECK(says(o, "--require-counters"));
}

TEST_CASE("merge notices a run that did not finish when all of it is asked for", "[cli][merge]") {
  const TempFolder folder;
  const std::string whole = folder.file("whole.csv"), half = folder.file("half.csv");
  REQUIRE(
      run_program(
          "sweep --device cpu --seqlen 16,32 --heads 1 --batch 1 --impl naive --max-time 0.01 --no-ceilings "
          "--csv " +
          whole)
          .exit_code == 0);
  const std::string text = slurp(whole);
  std::ofstream(half) << text.substr(0, text.find('\n', text.find('\n') + 1) + 1);
  CHECK(run_program("merge " + whole + " --require-complete -o " + folder.file("a.csv")).exit_code == 0);
  const Outcome o = run_program("merge " + half + " --require-complete -o " + folder.file("b.csv"));
  CHECK(o.exit_code == 2);
  CHECK(says(o, "the run did not finish"));
}
