// The program as its users meet it: exit codes, one-line errors, files that survive.
#include <sys/wait.h>

#include <array>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include "catch.hpp"
#include "kept_ceilings.hpp"
#include "run_program.hpp"
#include "temp_folder.hpp"

namespace {

namespace fs = std::filesystem;

constexpr const char* kTiny =
    "sweep --device cpu --seqlen 64,128 --heads 2 --head-dim 32 --max-time 0.05 --min-samples 6";

}  // namespace

TEST_CASE("bad input ends with exit code 2 and one line that quotes it", "[cli]") {
  struct Bad {
    const char* arguments;
    const char* quoted;
  };
  for (const Bad& bad : {
           Bad{"sweep --device cpu --seqlen 1e30", "1e30"},
           Bad{"sweep --device cpu --seqlen 0", "0"},
           Bad{"sweep --device cpu --seqlen=-4", "-4"},
           Bad{"sweep --device cpu --seqlen 99999999999999999999", "99999999999999999999"},
           Bad{"sweep --device cpu --seqlen 4k:1k:x2", "4k:1k:x2"},
           Bad{"sweep --device cpu --seqlen 1k:4k:x1", "x1"},
           Bad{"sweep --device cpu --seqlen ''", "seqlen"},
           Bad{"sweep --device cpu --seqlen 64,,128", "64,,128"},
           Bad{"sweep --device cpu --impl nosuch", "nosuch"},
           Bad{"sweep --device cpu --dtype int8", "int8"},
           Bad{"sweep --device cpu --causal maybe", "maybe"},
           Bad{"sweep --device cpu --tile 64", "64"},
           Bad{"sweep --device cpu --tile 0x64", "0x64"},
           Bad{"sweep --device cpu --preset gpt9", "gpt9"},
           Bad{"sweep --device cpu --heads 33 --kv-heads 2 --seqlen 64", "33"},
           Bad{"sweep --device cpu --heads 6 --kv-heads 0 --seqlen 64", "0"},
           Bad{"sweep --device toaster", "toaster"},
           Bad{"sweep --device cpu --csv /", "/"},
           Bad{"sweep --device cpu --csv /nonexistent/x.csv", "/nonexistent/x.csv"},
           Bad{"sweep --device cpu --config /nonexistent.toml", "/nonexistent.toml"},
           Bad{"sweep --device cpu --tokens 16k --batch 2", "tokens"},
           Bad{"sweep --device cpu --resume", "--csv"},
           Bad{"sweep --device cpu --seqlen 64 --shard 0/4", "0/4"},
           Bad{"sweep --device cpu --seqlen 64 --shard 5/4", "5/4"},
           Bad{"sweep --device cpu --seqlen 64 --shard x", "'x'"},
           Bad{"sweep --device cpu --seqlen 64 --shard ''", "shard"},
           Bad{"merge", "files"},
           Bad{"merge /nonexistent.csv -o x.csv", "/nonexistent.csv"},
           Bad{"merge /dev/null -o x.csv", "nothing to merge"},
           Bad{"merge x.csv -o x.csv", "x.csv"},
           Bad{"sweep --device cpu --csv - --json -", "stdout"},
           Bad{"sweep --device cpu --frobnicate 3", "frobnicate"},
           Bad{"trace --scores 1,2 --values 1", "1"},
           Bad{"trace --scores 1,zwei", "zwei"},
           Bad{"trace --tile 0", "0"},
           Bad{"model --gpu H900", "H900"},
           Bad{"nosuchcommand", "nosuchcommand"},
           Bad{"", "subcommand"},
       }) {
    INFO(bad.arguments);
    const Outcome o = run_program(bad.arguments);
    CHECK(o.exit_code == 2);
    INFO(o.err);
    CHECK(lines(o.err) == 1);
    CHECK(o.err.find(bad.quoted) != std::string::npos);
    CHECK(o.out.empty());
  }
}

TEST_CASE("a full disk is named, and the exit code is 2", "[cli]") {
  const Outcome o = run_program(std::string(kTiny) + " --csv /dev/full --quiet");
  CHECK(o.exit_code == 2);
  CHECK(o.err.find("/dev/full") != std::string::npos);
  CHECK(lines(o.err) == 1);
}

TEST_CASE("an asked-for GPU that is not there ends with 3, never with a silent fallback", "[cli]") {
  const Outcome o = run_program("sweep --device 99 --seqlen 64");
  CHECK(o.exit_code == 3);
  CHECK(lines(o.err) == 1);
  CHECK(o.out.empty());
}

TEST_CASE("a sweep writes one row per planned case, all verified", "[cli]") {
  TempFolder scratch;
  const fs::path csv = scratch.path / "rows.csv";
  const Outcome o = run_program(std::string(kTiny) + " --impl naive,fused --csv " + csv.string());
  INFO(o.err);
  CHECK(o.exit_code == 0);
  CHECK(lines(slurp(csv)) == 1 + 4);
  CHECK(o.out.find("naive") != std::string::npos);
  CHECK(o.out.find("fused") != std::string::npos);
}

TEST_CASE("rows to stdout leave nothing else there", "[cli]") {
  const Outcome csv = run_program(std::string(kTiny) + " --impl fused --csv -");
  CHECK(csv.exit_code == 0);
  CHECK(lines(csv.out) == 3);
  const Outcome json = run_program(std::string(kTiny) + " --impl fused --json -");
  CHECK(json.exit_code == 0);
  CHECK(lines(json.out) == 2);
  CHECK(json.out.front() == '{');
}

TEST_CASE("a sweep measures the ceilings once and keeps them; a damaged cache is said and survived",
          "[cli][ceilings]") {
  TempFolder scratch;
  const std::string cache = "XDG_CACHE_HOME=" + scratch.path.string();
  const std::string call = std::string(kTiny) + " --threads 1 --impl fused --csv -";
  const Outcome skipped = run_program(call + " --no-ceilings", cache);
  CHECK(skipped.exit_code == 0);
  CHECK(skipped.err.find("ceilings") == std::string::npos);
  CHECK_FALSE(fs::exists(scratch.path / "attnprof"));
  const Outcome first = run_program(call, cache);
  CHECK(first.exit_code == 0);
  CHECK(first.err.find("ceilings: measuring first") != std::string::npos);
  CHECK(first.err.find("--no-ceilings") != std::string::npos);
  CHECK(first.out.size() > skipped.out.size() + 4 * 5);  // five ceilings in each of two rows
  CHECK(run_program(call, cache).err.find("ceilings") == std::string::npos);
  fs::path file;
  for (const auto& entry : fs::directory_iterator(scratch.path / "attnprof")) {
    if (entry.path().extension() == ".csv") file = entry.path();
  }
  REQUIRE(!file.empty());
  fs::resize_file(file, fs::file_size(file) / 2);
  const Outcome damaged = run_program(call, cache);
  CHECK(damaged.exit_code == 0);
  CHECK(damaged.err.find(file.string()) != std::string::npos);
  CHECK(damaged.err.find("damaged") != std::string::npos);
  CHECK(run_program(call, cache).err.find("ceilings") == std::string::npos);
}

TEST_CASE("ceilings come as a table, as CSV and as JSON, and say when they are cached", "[cli][ceilings]") {
  TempFolder scratch;
  const std::string cache = "XDG_CACHE_HOME=" + scratch.path.string();
  const Outcome table = run_program("ceilings --device cpu --threads 1", cache);
  INFO(table.err);
  CHECK(table.exit_code == 0);
  CHECK(table.out.find("measured now") != std::string::npos);
  CHECK(table.out.find("fp32_fma") != std::string::npos);
  CHECK(table.out.find("64 MiB") != std::string::npos);
  keep_ceilings(scratch.path, 0.1);  // a busy machine's own would not have been kept
  const Outcome again = run_program("ceilings --device cpu --threads 1", cache);
  CHECK(again.out.find("cached, measured ") != std::string::npos);
  const Outcome csv = run_program("ceilings --device cpu --threads 1 --format csv", cache);
  CHECK(csv.out.find("name,bytes,value,unit,how,") == 0);
  CHECK(csv.err.find("cached") != std::string::npos);
  CHECK(lines(csv.err) == 1);
  const Outcome json = run_program("ceilings --device cpu --threads 1 --format json", cache);
  CHECK(json.out.front() == '{');
  CHECK(json.out.find("\"threads\":1,") != std::string::npos);
  CHECK(run_program("ceilings --device cpu --format xml", cache).exit_code == 2);
  CHECK(run_program("ceilings --device 99", cache).exit_code == 3);
}

TEST_CASE("Ctrl-C finishes the row in hand, keeps the file whole and exits with 130", "[cli]") {
  TempFolder scratch;
  const fs::path csv = scratch.path / "rows.csv";
  const Outcome o = run_program(
      "sweep --device cpu --impl fused --seqlen 64:2k:+64 --heads 4 --head-dim 64 --min-samples 6 "
      "--max-time 0.2 --precision 0.000001 --no-ceilings --csv " +
          csv.string(),
      "timeout --preserve-status -s INT 2");
  INFO(o.err);
  CHECK(o.exit_code == 130);
  const std::string text = slurp(csv);
  CHECK(lines(text) >= 2);
  CHECK(lines(text) < 33);
  CHECK(text.back() == '\n');
}

TEST_CASE("options come from a TOML file, the command line wins, unknown keys are named", "[cli][config]") {
  TempFolder scratch;
  const fs::path file = scratch.path / "sweep.toml";
  std::ofstream(file)
      << "device = \"cpu\"\nseqlen = [\"64\", \"128\"]\nimpl = \"fused\"\nheads = 2\nhead-dim = 32\n"
         "max-time = 0.05\nquiet = true\n";
  const Outcome both = run_program("sweep --config " + file.string() + " --csv -");
  INFO(both.err);
  CHECK(both.exit_code == 0);
  CHECK(lines(both.out) == 3);
  const Outcome one = run_program("sweep --seqlen 64 --config " + file.string() + " --csv -");
  CHECK(lines(one.out) == 2);
  std::ofstream(file) << "seqlem = 64\n";
  const Outcome typo = run_program("sweep --config " + file.string());
  CHECK(typo.exit_code == 2);
  CHECK(typo.err.find("seqlem") != std::string::npos);
}

TEST_CASE("trace reproduces the worked examples", "[cli][trace]") {
  const Outcome four = run_program("trace --scores 2,1,3,0 --values 10,20,30,40 --tile 2");
  CHECK(four.exit_code == 0);
  CHECK(four.out.find("1.367879") != std::string::npos);
  CHECK(four.out.find("17.357589") != std::string::npos);
  const Outcome eight = run_program("trace --scores 2,1,0.5,3,-1,2.5,0,4 --tile 4");
  CHECK(eight.out.find("30.813132") != std::string::npos);
  CHECK(eight.out.find("61.689444") != std::string::npos);
}

TEST_CASE("attnprof --help and --version answer at once on stdout", "[cli]") {
  CHECK(run_program("--version").out.find("attnprof ") == 0);
  const Outcome help = run_program("sweep --help");
  CHECK(help.exit_code == 0);
  CHECK(help.out.find("--seqlen") != std::string::npos);
}

TEST_CASE("a comma locale changes no byte of a file's numbers", "[cli][locale]") {
  const std::string call = "model --gpu H200 --seqlen 1000 --head-dim 72 --csv -";
  CHECK(run_program(call, "LC_ALL=de_DE.UTF-8").out == run_program(call, "LC_ALL=C").out);
}

TEST_CASE(
    "a sweep of which not one row could be measured ends with 3 and says so, and its rows have the reason",
    "[cli]") {
  TempFolder scratch;
  const std::string csv = scratch.file("rows.csv"),
                    tiny = "sweep --device cpu --head-dim 32 --max-time 0.02 ";
  const std::string unsupported = tiny + "--pass bwd --seqlen 64 --heads 2",
                    oom = tiny + "--impl naive --heads 64 --batch 64 --seqlen 1024k";
  struct Nothing {
    std::string call;
    const char* status;
  };
  for (const Nothing& n : {Nothing{unsupported, "unsupported"}, {oom, "oom"}}) {
    INFO(n.call);
    const Outcome o = run_program(n.call + " --quiet --csv -");
    INFO(o.err);
    CHECK(o.exit_code == 3);
    CHECK(o.out.find(n.status) != std::string::npos);
    CHECK(o.err.find(std::string("nothing was measured: no row is ok, the first is ") + n.status + ": ") !=
          std::string::npos);
    CHECK(run_program(n.call + " --dry-run").exit_code == 0);
  }
  // One row of the plan is enough; nothing left to do is done.
  CHECK(run_program(tiny + "--impl naive --heads 64 --batch 64 --seqlen 1,1024k --csv " + csv).exit_code ==
        0);
  CHECK(run_program(tiny + "--impl naive --heads 64 --batch 64 --seqlen 1,1024k --resume --csv " + csv)
            .exit_code == 0);
  CHECK(run_program(oom + " --seed 2 --resume --csv " + csv).exit_code == 3);
  CHECK(run_program(oom + " --seed 2 --resume --csv " + csv).exit_code == 3);  // the second time, too
  CHECK(run_program("sweep --help").out.find("3 not one row is ok") != std::string::npos);
}
