// attnprof check as its users meet it: exit codes, what is printed, files written and replaced.
#include <sys/stat.h>
#include <sys/wait.h>
#include <regex>

#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>

#include "catch.hpp"
#include "compare_case.hpp"
#include "run_program.hpp"
#include "temp_folder.hpp"

using namespace attnprof;

namespace {

namespace fs = std::filesystem;

/// A folder with ref.csv and new.csv, in which the program runs.
class Workplace {
 public:
  void write(const char* name, const std::string& text) const { std::ofstream(folder_.path / name) << text; }
  void rows(const char* name, const std::vector<Cells>& rows) const { write(name, csv_of(rows)); }
  std::string read(const char* name) const { return slurp(folder_.path / name); }
  fs::path path(const char* name) const { return folder_.path / name; }
  Outcome check(const std::string& arguments, const std::string& prefix = "") const {
    const std::string command = "cd " + folder_.path.string() + "; " + prefix +
                                " GITHUB_ACTIONS= '" ATTNPROF_BINARY "' check " + arguments + " >out 2>err";
    const int status = std::system(command.c_str());
    return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, read("out"), read("err")};
  }

 private:
  TempFolder folder_;
};

size_t count(const std::string& text, const std::string& piece) {
  size_t found = 0;
  for (size_t at = text.find(piece); at != text.npos; at = text.find(piece, at + 1)) ++found;
  return found;
}

const Cells kSlow{{"time_us", "300"}, {"time_lo_us", "299.5"}, {"time_hi_us", "300.5"}};
const Cells kWrong{{"status", "verify-failed"}, {"message", "row 3: 7 against 5"}, {"rel_err", "0.4"}};

}  // namespace

TEST_CASE("check is quiet when all is well: one line, exit code 0", "[check][cli]") {
  const Workplace w;
  w.rows("ref.csv", {{}});
  w.rows("new.csv", {{}});
  const Outcome o = w.check("--baseline ref.csv new.csv");
  CHECK(o.exit_code == 0);
  CHECK(count(o.out, "\n") == 1);
  CHECK(has(o.out, "PASS: 1 case, "));
  CHECK(o.err.empty());
  CHECK(count(w.check("--baseline ref.csv new.csv --all").out, "same ") == 7);  // each quantity
  CHECK(w.check("--baseline ref.csv - < new.csv").exit_code == 0);
}

TEST_CASE("each exit code of check is the documented one", "[check][cli]") {
  const Workplace w;
  w.rows("ref.csv", {{}});
  w.rows("slow.csv", {kSlow});
  w.rows("wrong.csv", {kWrong});
  w.rows("driver.csv", {{{"driver", "999"}}});
  w.rows("cpu.csv", {{{"device", "cpu"}, {"threads", "2"}}});
  w.write("bad.csv", "impl,time_us\nnaive,1\n");
  const auto code = [&w](const std::string& arguments) {
    return w.check("--baseline ref.csv " + arguments).exit_code;
  };
  CHECK(code("slow.csv") == 1);
  CHECK(code("wrong.csv") == 4);
  CHECK(code("driver.csv") == 3);
  CHECK(code("driver.csv --allow-device-mismatch") == 0);
  CHECK(code("driver.csv --only bytes,flops,workspace,status") == 0);
  CHECK(code("cpu.csv") == 3);
  CHECK(code("slow.csv --time-pct 25") == 0);
  CHECK(code("slow.csv --warn time") == 0);
  CHECK(code("slow.csv --ignore time") == 0);
  CHECK(code("slow.csv --only bytes") == 0);
  CHECK(code("wrong.csv --ignore status") == 4);
  for (const char* arguments :
       {"bad.csv", "nosuch.csv", "", "slow.csv --time-pct -1", "slow.csv --only tim",
        "slow.csv --only missing", "slow.csv --only family", "slow.csv --warn time --fail time",
        "slow.csv --thresholds nosuch.toml", "slow.csv --markdown /nosuch/x", "- --baseline -",
        "slow.csv --update --baseline slow.csv", "slow.csv slow.csv --update"}) {
    INFO(arguments);
    const Outcome o = w.check(std::string("--baseline ref.csv ") + arguments);
    CHECK(o.exit_code == 2);
    CHECK(count(o.err, "\n") == 1);
    CHECK(o.out.empty());
  }
}

TEST_CASE("failures come first, and many of one kind are one line", "[check][cli]") {
  const Workplace w;
  std::vector<Cells> before{{}}, after{kSlow};
  for (int i = 1; i <= 9; ++i) {
    before.push_back({{"impl", "naive"}, {"seed", std::to_string(i)}});
    after.push_back({{"impl", "other"}, {"seed", std::to_string(i)}});
  }
  w.rows("ref.csv", before);
  w.rows("new.csv", after);
  const Outcome o = w.check("--baseline ref.csv new.csv");
  CHECK(o.exit_code == 1);
  CHECK(o.out.rfind("FAIL ", 0) == 0);
  CHECK(has(o.out, "250 us -> 300 us"));
  CHECK(has(o.out, "+20.0%"));
  CHECK(has(o.out, "and 8 more"));
  CHECK(count(o.out, "\n") == 4);  // the time, the missing, the new, the totals
  CHECK(has(o.out, "10 worse"));
}

TEST_CASE("thresholds come from a TOML file, the command line replaces its global ones", "[check][cli]") {
  const Workplace w;
  w.rows("ref.csv", {{}});
  w.rows("slow.csv", {kSlow});
  w.write("t.toml", "time_pct = 30\n");
  CHECK(w.check("--baseline ref.csv slow.csv --thresholds t.toml").exit_code == 0);
  CHECK(w.check("--baseline ref.csv slow.csv --thresholds t.toml --time-pct 5").exit_code == 1);
  w.write("t.toml", "\n[[override]]\nimpl = \"flash3\"\ntimepct = 30\n");
  const Outcome o = w.check("--baseline ref.csv slow.csv --thresholds t.toml");
  CHECK(o.exit_code == 2);
  CHECK(has(o.err, "t.toml:4:1: key 'timepct'"));
  CHECK(has(o.err, "'time_pct'"));
}

TEST_CASE("how small a slow-down would have been seen is said so that the median is not taken for all",
          "[check][cli]") {
  const Workplace w;
  const Cells noisy{{"impl", "naive"}, {"time_lo_us", "150"}, {"time_hi_us", "350"}};
  w.rows("one.csv", {{}});
  w.rows("alike.csv", {{}, {{"impl", "flash2"}}});
  w.rows("noisy.csv", {{}, {{"impl", "flash2"}}, noisy});
  const auto check = [&w](const std::string& file) {
    return w.check("--baseline " + file + " " + file + " --markdown s.md");
  };
  const std::string one = check("one.csv").out;
  CHECK(has(one, "; detects slow-downs above 2.00% (assuming 0."));
  CHECK(has(check("alike.csv").out, "; detects slow-downs above 2.00% (assuming 0."));
  const std::string noise = check("noisy.csv").out;
  CHECK(has(noise, "; detects slow-downs above 2.00% in half of the cases, above "));
  CHECK(has(noise, "% in the noisiest (assuming 0."));
  CHECK_FALSE(
      std::regex_search(noise, std::regex("[0-9] times")));  // a share above 100% is a percentage, too
  CHECK(has(w.read("s.md"), "% in the noisiest (assuming 0."));
}

TEST_CASE("an [[override]] that matches no row is a warning that names its place and what no row has",
          "[check][cli]") {
  const Workplace w;
  w.rows("ref.csv", {{}, {{"impl", "naive"}, {"causal", "1"}}});
  w.write("t.toml",
          "[[override]]\nimpl = \"flash3\"\ntime_pct = 3\n\n[[override]]\nimpl = [\"flahs3\"]\nseqlen_q = "
          "\"4k\"\ntime_pct = 30\n[[override]]\nimpl = \"flash3\"\ncausal = true\ntime_pct = 30\n");
  const Outcome o = w.check("--baseline ref.csv ref.csv --thresholds t.toml --markdown s.md");
  CHECK(o.exit_code == 0);
  CHECK(count(o.err, "\n") == 2);
  CHECK(has(o.err, "warning: t.toml:5:1: this [[override]] matches no row: none has impl = "));
  CHECK(has(o.err, "flahs3"));
  CHECK(has(o.err, "warning: t.toml:9:1: this [[override]] matches no row: no row has all of its axes"));
  CHECK(has(w.read("s.md"), "t.toml:5"));
}

TEST_CASE("markdown and JUnit hold every verdict, whatever the cells hold", "[check][cli]") {
  const Workplace w;
  const std::string nasty = "a<b>&\"\"c|d_*\x01\xff";
  w.rows("ref.csv", {{{"impl", "\"" + nasty + "\""}}, {{"impl", "gone"}}, {{"impl", "good"}}});
  Cells slow = kSlow;
  slow["impl"] = "\"" + nasty + "\"";
  w.rows("new.csv", {slow, {{"impl", "good"}, {"hbm_read_bytes", ""}}});
  const Outcome o = w.check("--baseline ref.csv new.csv --markdown s.md --junit j.xml");
  CHECK(o.exit_code == 1);
  const std::string markdown = w.read("s.md"), junit = w.read("j.xml");
  CHECK(has(markdown, "## attnprof check: FAIL"));
  CHECK(has(markdown, "a\\<b>&\"c\\|d\\_\\*"));
  CHECK(has(markdown, "### Could not be judged"));
  CHECK(has(markdown, "| `time_us` | 250 us | 300 us | +20.0% |"));
  CHECK(has(junit, "a&lt;b&gt;&amp;&quot;c|d_* ?"));
  CHECK(has(junit, "failures=\"2\" errors=\"1\""));
  CHECK(count(junit, "<failure ") == 2);
  CHECK(count(junit, "<error ") == 1);
  // A parser's word that it is XML, and that the counts are those of its elements.
  const std::string program =
      "import sys, xml.etree.ElementTree as t; r = t.parse(sys.argv[1]).getroot(); s = r[0]; c = "
      "s.findall('testcase'); "
      "assert r.tag == 'testsuites' and len(c) == int(r.get('tests')) == int(s.get('tests')) > 10; "
      "assert all(x.get('name') and x.get('classname') for x in c); "
      "assert len(s.findall('*/failure')) == int(s.get('failures')); assert len(s.findall('*/error')) == "
      "int(s.get('errors'))";
  if (std::system("python3 -c '' 2>/dev/null") == 0)
    CHECK(std::system(("python3 -c \"" + program + "\" " + w.path("j.xml").string()).c_str()) == 0);
}

TEST_CASE("GitHub annotations name file and line, escaped, on request or on GitHub", "[check][cli]") {
  const Workplace w;
  w.rows("ref.csv", {{}, {{"impl", "naive"}}});
  w.rows("a,b.csv", {{{"impl", "naive"}}, kSlow});
  const Outcome o = w.check("--baseline ref.csv a,b.csv --annotations");
  CHECK(has(o.out, "::error file=a%2Cb.csv,line=3,title=attnprof check::flash3 "));
  CHECK(has(o.out, "(+20.0%25)"));
  CHECK_FALSE(has(w.check("--baseline ref.csv a,b.csv").out, "::error"));
  const std::string command = "cd " + w.path("").string() +
                              " && GITHUB_ACTIONS=true '" ATTNPROF_BINARY
                              "' check --baseline ref.csv a,b.csv >out2 2>&1";
  CHECK(WEXITSTATUS(std::system(command.c_str())) == 1);
  CHECK(has(w.read("out2"), "::error"));
  std::vector<Cells> many, slower;
  for (int i = 0; i < 30; ++i) {
    many.push_back({{"seed", std::to_string(i)}});
    slower.push_back(kSlow);
    slower.back()["seed"] = std::to_string(i);
  }
  w.rows("ref.csv", many);
  w.rows("new.csv", slower);
  const Outcome all = w.check("--baseline ref.csv new.csv --annotations");
  CHECK(count(all.out, "::error") == 10);
  CHECK(has(all.out, "and 20 more"));
}

TEST_CASE("check --update replaces the baseline whole, keeps its permissions, and says so",
          "[check][cli][update]") {
  const Workplace w;
  w.rows("ref.csv", {{}});
  w.rows("slow.csv", {kSlow});
  REQUIRE(::chmod(w.path("ref.csv").c_str(), 0640) == 0);
  const std::string before = w.read("ref.csv"), wanted = w.read("slow.csv");
  const Outcome o = w.check("--baseline ref.csv slow.csv --update");
  CHECK(o.exit_code == 0);
  CHECK(has(o.out, "FAIL"));  // what changed is said
  CHECK(has(o.err, "ref.csv now holds the 1 row of slow.csv"));
  CHECK(w.read("ref.csv") == wanted);
  struct stat status {};
  REQUIRE(::stat(w.path("ref.csv").c_str(), &status) == 0);
  CHECK((status.st_mode & 0777) == 0640);
  size_t files = 0;
  for ([[maybe_unused]] const auto& entry : fs::directory_iterator(w.path(""))) ++files;
  CHECK(files == 4);  // ref, slow, out, err: no temporary is left
  CHECK(w.check("--baseline first.csv slow.csv --update").exit_code == 0);  // there was none yet
  CHECK(w.read("first.csv") == wanted);
}

TEST_CASE("each exit code of check --update is the documented one", "[check][cli][update]") {
  const Workplace w;
  const std::string help = w.check("--help").out;
  CHECK(
      has(help,
          "With --update: 0 the baseline was replaced, whatever changed, also its machine; 4 a result is not "
          "verified, and nothing was replaced; 2 for bad input; with --anchor also 1 slower than the anchor, "
          "3 its "
          "times cannot be compared, and nothing was replaced."));
  w.rows("slow.csv", {kSlow});
  w.rows("again.csv", {kSlow});
  w.rows("missing.csv", {{{"impl", "naive"}}});
  w.rows("driver.csv", {{{"driver", "999"}}});
  w.rows("cpu.csv", {{{"device", "cpu"}, {"device_name", "AMD EPYC"}, {"threads", "2"}}});
  w.rows("oom.csv", {{{"status", "oom"}, {"time_us", ""}, {"time_lo_us", ""}, {"time_hi_us", ""}}});
  w.rows("wrong.csv", {kWrong});
  w.rows("failed.csv", {{}, {{"impl", "naive"}, {"status", "failed"}}});
  w.rows("unverified.csv", {{{"rel_err", ""}}});
  w.write("bad.csv", "impl,time_us\nnaive,1\n");
  const auto update = [&w](const std::string& file) {
    w.rows("ref.csv", {{}});
    const int code = w.check("--baseline ref.csv " + file + " --update").exit_code;
    return std::make_pair(code, w.read("ref.csv") == w.read(file.c_str()));
  };
  for (const char* file : {"slow.csv", "missing.csv", "driver.csv", "cpu.csv"}) {
    INFO(file);
    CHECK(update(file) == std::make_pair(0, true));
  }
  for (const char* file : {"wrong.csv", "failed.csv", "unverified.csv", "oom.csv"}) {
    INFO(file);
    CHECK(update(file) == std::make_pair(4, false));
  }
  CHECK(update("bad.csv") == std::make_pair(2, false));
  CHECK(w.check("--baseline ref.csv --baseline second.csv slow.csv again.csv --update").exit_code == 0);
  CHECK(w.read("second.csv") == w.read("again.csv"));  // one of several was not there yet
}

TEST_CASE("a family that moved is a warning, and fails where that is asked for", "[check][cli]") {
  const Workplace w;
  std::vector<Cells> before, after;
  for (const char* impl : {"flash3", "naive"}) {
    for (int i = 1; i <= 12; ++i) {
      const double factor = impl[0] == 'f' ? 1.017 : 1;
      before.push_back({{"impl", impl}, {"seqlen_q", std::to_string(i)}});
      after.push_back(before.back());
      for (const auto& [column, us] :
           std::map<std::string, double>{{"time_us", 250}, {"time_lo_us", 249.5}, {"time_hi_us", 250.5}})
        after.back()[column] = std::to_string(us * factor);
    }
  }
  w.rows("ref.csv", before);
  w.rows("new.csv", after);
  const Outcome warned = w.check("--baseline ref.csv new.csv --markdown s.md --junit j.xml");
  CHECK(warned.exit_code == 0);
  CHECK(has(warned.out, "warning  all 12 cases with impl flash3  family"));
  CHECK(has(warned.out, "+1.7%"));
  CHECK(has(w.read("s.md"), "### Warnings"));
  CHECK(has(w.read("j.xml"), "all 12 cases with impl flash3"));
  CHECK(w.check("--baseline ref.csv new.csv --fail family").exit_code == 1);
  CHECK_FALSE(has(w.check("--baseline ref.csv new.csv --ignore family").out, "warning"));
  w.write("t.toml", "family = \"fail\"\n");
  CHECK(w.check("--baseline ref.csv new.csv --thresholds t.toml").exit_code == 1);
  w.write("t.toml", "[[override]]\nimpl = \"flash3\"\nfamily = \"fail\"\n");
  const Outcome misplaced = w.check("--baseline ref.csv new.csv --thresholds t.toml");
  CHECK(misplaced.exit_code == 2);
  CHECK(has(misplaced.err, "t.toml:3:1: key 'family': holds for all cases together"));
}

TEST_CASE("check --update makes the folder of a baseline that is not there yet", "[check][cli][update]") {
  const Workplace w;
  w.rows("new.csv", {{}});
  const Outcome o = w.check("--baseline bench/gpu/ref.csv new.csv --update");
  CHECK(o.exit_code == 0);
  CHECK(has(o.err, "made the folder 'bench/gpu'"));
  CHECK(w.read("bench/gpu/ref.csv") == w.read("new.csv"));
  w.write("file", "");
  const Outcome blocked = w.check("--baseline file/ref.csv new.csv --update");
  CHECK(blocked.exit_code == 2);
  CHECK(count(blocked.err, "\n") == 1);
}

TEST_CASE("five updates, each 1.5% slower, are stopped by the anchor before they add up to 7%",
          "[check][cli][update]") {
  const Workplace w;
  double us = 100;
  const auto measure = [&](const char* name) {
    const auto cell = [&](double factor) { return std::to_string(us * factor); };
    w.rows(name, {{{"time_us", cell(1)}, {"time_lo_us", cell(0.998)}, {"time_hi_us", cell(1.002)}}});
  };
  measure("ref.csv");
  measure("plain.csv");
  int refused = 0;
  for (int step = 0; step < 5; ++step) {
    us *= 1.015;
    measure("new.csv");
    const Outcome plain = w.check("--baseline plain.csv new.csv --update");
    CHECK(plain.exit_code == 0);
    CHECK(has(plain.err, "times against the replaced baseline: 1 case, median +1.5%, worst +1.5%"));
    const std::string before = w.read("ref.csv");
    const Outcome o = w.check("--baseline ref.csv new.csv --update --anchor start.csv");
    INFO(o.err);
    if (step == 0) CHECK(has(o.err, "the anchor 'start.csv' is now the rows of ref.csv"));
    CHECK(has(o.err, "times against the anchor 'start.csv': 1 case, median +"));
    if (o.exit_code == 0) continue;
    ++refused;
    CHECK(o.exit_code == 1);
    CHECK(has(o.err,
              "--update: not done: slower than the anchor; to accept that, copy new.csv over 'start.csv'"));
    CHECK(w.read("ref.csv") == before);
  }
  CHECK(refused >= 3);
  fs::copy_file(w.path("new.csv"), w.path("start.csv"), fs::copy_options::overwrite_existing);
  CHECK(w.check("--baseline ref.csv new.csv --update --anchor start.csv").exit_code == 0);
  CHECK(w.check("--baseline ref.csv new.csv --anchor start.csv").exit_code == 2);
  CHECK(w.check("--baseline ref.csv new.csv --update --anchor ref.csv").exit_code == 2);
}

TEST_CASE("check --update does not write what is not a number into a baseline", "[check][cli][update]") {
  const Workplace w;
  w.rows("ref.csv", {{}});
  w.rows("new.csv", {{{"l2_bytes", "inf"}}});
  const std::string before = w.read("ref.csv");
  const Outcome o = w.check("--baseline ref.csv new.csv --update");
  CHECK(o.exit_code == 2);
  CHECK(has(o.err, "new.csv:2: column 'l2_bytes': 'inf' is not a number"));
  CHECK(w.read("ref.csv") == before);
}

TEST_CASE("check --update does not drop the rows of a machine that the new file lacks",
          "[check][cli][update]") {
  const Workplace w;
  const Cells other{{"device_name", "NVIDIA A100"}, {"device_uuid", "GPU-2"}};
  w.rows("both.csv", {{}, other});
  w.rows("one.csv", {kSlow});
  const std::string before = w.read("both.csv");
  const Outcome refused = w.check("--baseline both.csv one.csv --update");
  CHECK(refused.exit_code == 2);
  CHECK(has(refused.err, "'both.csv' also holds rows of gpu NVIDIA A100, which 'one.csv' lacks"));
  CHECK(w.read("both.csv") == before);
}

TEST_CASE("check refuses one file as its own repeat, and files that share no case", "[check][cli]") {
  const Workplace w;
  w.rows("a.csv", {{}});
  w.rows("b.csv", {{{"seqlen_q", "333"}}});
  const Outcome twice = w.check("--baseline a.csv --baseline ./a.csv b.csv");
  CHECK(twice.exit_code == 2);
  CHECK(has(twice.err, "is given twice: repeats are runs of their own"));
  const Outcome apart = w.check("--baseline a.csv b.csv --warn missing");
  CHECK(apart.exit_code == 2);
  CHECK(has(apart.err, "nothing was judged: the files have no case in common"));
  CHECK_FALSE(has(apart.out, "PASS"));
  CHECK(w.check("--baseline a.csv b.csv").exit_code == 1);  // missing fails
}

TEST_CASE("check --update refuses wrong results and torn files, and leaves the baseline alone",
          "[check][cli][update]") {
  const Workplace w;
  w.rows("ref.csv", {{}});
  w.rows("wrong.csv", {{}, {{"impl", "naive"}, {"status", "verify-failed"}}});
  const std::string before = w.read("ref.csv");
  const Outcome wrong = w.check("--baseline ref.csv wrong.csv --update");
  CHECK(wrong.exit_code == 4);
  CHECK(has(wrong.err, "not done"));
  CHECK(w.read("ref.csv") == before);
  w.write("torn.csv", csv_of({{}}) + "1,gpu,,fla");
  CHECK(w.check("--baseline ref.csv torn.csv --update").exit_code == 2);
  CHECK(w.read("ref.csv") == before);
}

TEST_CASE("a baseline that a spreadsheet saved gates as the clean one does", "[check][cli]") {
  const Workplace w;
  std::string crlf = "\xEF\xBB\xBF";
  for (const char c : csv_of({{}})) crlf += c == '\n' ? std::string("\r\n") : std::string(1, c);
  w.write("ref.csv", crlf);
  w.rows("new.csv", {{}});
  w.rows("slow.csv", {kSlow});
  CHECK(w.check("--baseline ref.csv new.csv").exit_code == 0);
  CHECK(w.check("--baseline ref.csv slow.csv").exit_code == 1);
  CHECK(w.check("--baseline ref.csv slow.csv", "export LC_ALL=de_DE.UTF-8;").exit_code == 1);
}

TEST_CASE("a CPU sweep run twice counts the same bytes", "[check][cli]") {
  const Workplace w;
  for (const char* name : {"ref.csv", "new.csv"}) {
    const std::string sweep =
        "cd " + w.path("").string() +
        " && '" ATTNPROF_BINARY
        "' sweep --device cpu --threads 2 --impl naive,fused --seqlen 128,256 --heads 2 "
        "--head-dim 32 --tile 64x64 --max-time 0.02 --quiet --csv " +
        name;
    REQUIRE(std::system(sweep.c_str()) == 0);
  }
  const Outcome o = w.check("--baseline ref.csv new.csv --only bytes,flops,workspace,status");
  INFO(o.out << o.err);
  CHECK(o.exit_code == 0);
  CHECK(has(o.out, "PASS: 4 cases, "));
}
