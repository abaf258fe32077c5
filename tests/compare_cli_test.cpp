// `attnprof compare` as its users meet it: exit codes, pipes, refusals.
#include <sys/wait.h>

#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>

#include "catch.hpp"
#include "compare_case.hpp"
#include "run_program.hpp"
#include "temp_folder.hpp"

using namespace attnprof;

namespace {

/// Runs a shell command in which ATTNPROF stands for the program.
Outcome shell(const std::string& command) {
  const TempFolder scratch;
  const std::string line = "ATTNPROF='" ATTNPROF_BINARY "'; { " + command + " ; } >" + scratch.file("out") +
                           " 2>" + scratch.file("err") + " </dev/null";
  const int status = std::system(line.c_str());
  return {WEXITSTATUS(status), slurp(scratch.file("out")), slurp(scratch.file("err"))};
}
const Cells kNaive{{"impl", "naive"}, {"time_us", "1000"}, {"time_lo_us", "998"}, {"time_hi_us", "1002"}};

}  // namespace

TEST_CASE("a sweep is compared through a pipe", "[cli][compare]") {
  const Outcome o = shell(
      "$ATTNPROF sweep --device cpu --seqlen 64,128 --heads 2 --head-dim 32 --impl naive,fused --max-time "
      "0.05 "
      "--min-samples 6 --quiet --csv - | $ATTNPROF compare -");
  INFO(o.err);
  CHECK(o.exit_code == 0);
  CHECK(has(o.out, "naive ->"));
  CHECK(has(o.out, "HBM bytes: counted"));
  CHECK(has(o.out, "fused against naive, bf16 b1 h2 s64 d32: "));
  CHECK(has(o.out, "fused against naive, geometric mean: "));
}

TEST_CASE("files that cannot be compared end with 2 and one line that says what is wrong", "[cli][compare]") {
  const TempFolder folder;
  const std::string good = csv_of({kNaive, {}});
  put(folder.file("good.csv"), good);
  const auto refused = [&](const std::string& text, const std::string& said) {
    put(folder.file("bad.csv"), text);
    for (const std::string& command :
         {"$ATTNPROF compare " + folder.file("bad.csv"), "$ATTNPROF compare - <" + folder.file("bad.csv"),
          "$ATTNPROF compare " + folder.file("good.csv") + " " + folder.file("bad.csv")}) {
      const Outcome o = shell(command);
      INFO(command << "\n" << o.err);
      CHECK(o.exit_code == 2);
      CHECK(lines(o.err) == 1);
      CHECK(has(o.err, said));
      CHECK(o.out.empty());
    }
  };
  refused("", "is empty");
  refused(csv_of({}), "no rows");
  refused(good + good, ":4: is a second header line");
  refused(csv_of({kNaive, {{"time_us", "-1"}}}), ":3: column 'time_us': '-1' is no time");
  refused(csv_of({kNaive, {{"time_us", "fast"}}}), ":3: column 'time_us': 'fast' is not a number");
  refused(csv_of({kNaive, {}, {}}), ":4: repeats line 3");
  refused(good.substr(good.find(',') + 1), "has ");
  refused("\x01\x02\xff garbage \"\n\"", ":1: ");
}

TEST_CASE("usage that makes no sense ends with 2 and one line", "[cli][compare]") {
  const TempFolder folder;
  put(folder.file("a.csv"), csv_of({kNaive, {}}));
  put(folder.file("one.csv"), csv_of({{}}));
  put(folder.file("other.csv"), csv_of({{{"seed", "7"}}}));
  const auto refused = [&](const std::string& arguments, const std::string& said) {
    const Outcome o = shell("cd " + folder.path.string() + "; $ATTNPROF compare " + arguments);
    INFO(arguments << "\n" << o.err);
    CHECK(o.exit_code == 2);
    CHECK(lines(o.err) == 1);
    CHECK(has(o.err, said));
    CHECK(o.out.empty());
  };
  refused("", "files");
  refused("nowhere.csv", "nowhere.csv");
  refused(".", "directory");
  refused("a.csv --reference nope", "'nope' is not in a.csv; there are: naive, flash3");
  refused("a.csv a.csv --reference naive", "--reference is for one file");
  refused("- -", "standard input can be read once only");
  refused("a.csv --format xml", "xml");
  refused("a.csv --copy-gbps 4000", "are for --why");
  refused("a.csv --why --copy-gbps 0", "0");
  refused("a.csv --allow-device-mismatch", "two files");
  refused("one.csv", "nothing to compare");
  refused("one.csv other.csv", "the most similar rows differ in seed 1 -> 7");
  refused("a.csv -o /nonexistent/x", "/nonexistent/x");
}

TEST_CASE("two files from different devices end with 3 unless that is allowed", "[cli][compare]") {
  const TempFolder folder;
  put(folder.file("a.csv"), csv_of({kNaive, {}}));
  put(folder.file("b.csv"), csv_of({{{"device_name", "NVIDIA H100"}, {"device_uuid", "GPU-2"}}}));
  put(folder.file("c.csv"),
      csv_of({{{"device", "cpu"}, {"device_name", "EPYC"}, {"impl", "fused"}, {"device_uuid", ""}}}));
  const std::string files = folder.file("a.csv") + " " + folder.file("b.csv");
  const Outcome refused = shell("$ATTNPROF compare " + files);
  CHECK(refused.exit_code == 3);
  CHECK(has(refused.err, "gpu NVIDIA H200 against gpu NVIDIA H100"));
  CHECK(has(refused.out, "no ratio (1 pair): other device"));
  const Outcome allowed = shell("$ATTNPROF compare --allow-device-mismatch " + files);
  CHECK(allowed.exit_code == 0);
  CHECK(has(allowed.err, "warning: the files are from different devices"));
  CHECK(shell("$ATTNPROF compare " + folder.file("a.csv") + " " + folder.file("c.csv")).exit_code == 3);
}

TEST_CASE("compare writes every format to stdout or a file", "[cli][compare]") {
  const TempFolder folder;
  put(folder.file("a.csv"), csv_of({kNaive, {}}));
  for (const char* format : {"table", "sentences", "markdown", "csv", "json"}) {
    INFO(format);
    const std::string arguments =
        std::string("$ATTNPROF compare --why --format ") + format + " " + folder.file("a.csv");
    const Outcome direct = shell(arguments);
    CHECK(direct.exit_code == 0);
    const Outcome to_file = shell(arguments + " -o " + folder.file("out"));
    CHECK(to_file.exit_code == 0);
    CHECK(to_file.out.empty());
    CHECK_FALSE(direct.out.empty());
    CHECK(slurp(folder.file("out")) == direct.out);
    CHECK(has(direct.out, "copy bandwidth"));  // --why reaches every format
  }
  const Outcome parsed =
      shell("$ATTNPROF compare --why --format json " + folder.file("a.csv") +
            " | python3 -c 'import json, sys; "
            "d = json.load(sys.stdin); print(d[\"rows\"][0][\"time_ratio\"], len(d[\"rows\"]))'");
  CHECK(parsed.out == "4 2\n");  // the pair, and the reference row with its attribution
}

TEST_CASE("repeats are refused unless their median is asked for", "[cli][compare]") {
  const TempFolder folder;
  const auto timed = [](const char* us) {
    return Cells{{"time_us", us}, {"time_lo_us", ""}, {"time_hi_us", ""}};
  };
  put(folder.file("a.csv"), csv_of({kNaive, timed("250"), timed("200"), timed("5")}));
  CHECK(shell("$ATTNPROF compare " + folder.file("a.csv")).exit_code == 2);
  const Outcome o = shell("$ATTNPROF compare --repeats median " + folder.file("a.csv"));
  CHECK(o.exit_code == 0);
  CHECK(has(o.out, "5.00x"));
  CHECK(has(o.err, "2 rows left out"));
}

TEST_CASE("compare --why explains a file with one implementation", "[cli][compare]") {
  const TempFolder folder;
  put(folder.file("a.csv"), csv_of({{}}));
  const Outcome o = shell("$ATTNPROF compare --why " + folder.file("a.csv"));
  CHECK(o.exit_code == 0);
  CHECK(has(o.out, "flash3 bf16 b4 h16 s4k d128: "));
}

TEST_CASE("compare --why of two files says from which each row is, and why rows have no partner",
          "[cli][compare]") {
  const TempFolder folder;
  put(folder.file("a.csv"), csv_of({kNaive, {}}));
  put(folder.file("b.csv"), csv_of({kNaive, {{"seed", "7"}}}));
  const std::string alone =
      "unmatched rows: 1 in a.csv, 1 in b.csv; the most similar rows differ in seed 1 -> 7";
  for (const char* format : {"table", "sentences", "markdown"}) {
    INFO(format);
    const Outcome o =
        shell("cd " + folder.path.string() + "; $ATTNPROF compare --why a.csv b.csv --format " + format);
    CHECK(o.exit_code == 0);
    CHECK(has(o.out, "a.csv: naive bf16 b4 h16 s4k d128"));
    CHECK(has(o.out, "b.csv: flash3 bf16 b4 h16 s4k d128"));
    CHECK(has(o.err, alone));
    CHECK(lines(o.err) == 1);
  }
  CHECK(
      has(shell("cd " + folder.path.string() + "; $ATTNPROF compare a.csv b.csv --format json").out, alone));
  CHECK_FALSE(has(shell("cd " + folder.path.string() + "; $ATTNPROF compare --why a.csv").out, "a.csv:"));
}

TEST_CASE("a given --copy-gbps means the same in compare and report: it comes before what was measured",
          "[cli][compare]") {
  const TempFolder folder;
  put(folder.file("a.csv"), csv_of({{{"ceiling_copy_gbps", "4200"}, {"ceiling_matrix_tflops", "800"}}}));
  const std::string go = "cd " + folder.path.string() + "; $ATTNPROF ";
  CHECK(has(shell(go + "compare --why a.csv").out, "copy 4200 GB/s (measured)"));
  const std::string given = shell(go + "compare --why a.csv --copy-gbps 4321").out;
  CHECK(has(given, "copy 4321 GB/s (given)"));
  CHECK(has(given, "matrix 800 TFLOP/s (measured)"));
  CHECK(has(shell(go + "report a.csv --copy-gbps 4321 -o -").out, "\"copy_gbps\":4321"));
  for (const char* command : {"compare", "report"}) {
    INFO(command);
    const std::string help = shell(go + command + " --help").out;
    CHECK(has(help, ": copy bandwidth in GB/s, in place of what the file says was measured"));
    CHECK(has(help, ": matrix rate in TFLOP/s, in place of what the file says was measured"));
    CHECK(shell(go + command + " a.csv -o x --copy-gbps 1e13" + (command[0] == 'c' ? " --why" : ""))
              .exit_code == 2);
  }
}
