// Splitting a sweep and joining it again, as users do it: by commands and files.
#include <set>
#include <string>

#include "catch.hpp"
#include "rows/csv.hpp"
#include "run_program.hpp"

using namespace attnprof;

namespace {

constexpr const char* kTiny =
    "sweep --device cpu --seqlen 64,128 --heads 2 --head-dim 32 --max-time 0.05 --min-samples 6";

}  // namespace

TEST_CASE("shards of a sweep, one of them resumed, merge into the rows of one run", "[cli]") {
  TempFolder scratch;
  const auto file = [&](const std::string& name) { return (scratch.path / name).string(); };
  const std::string sweep = std::string(kTiny) + " --causal both --threads 1 --quiet ";
  REQUIRE(run_program(sweep + "--csv " + file("one.csv")).exit_code == 0);
  for (const char* i : {"1", "2", "3"}) {
    const std::string options = sweep + "--shard " + i + "/3 --csv " + file(std::string(i) + ".csv");
    REQUIRE(run_program(options).exit_code == 0);
    if (std::string(i) != "2") continue;
    const std::string whole = slurp(file("2.csv"));
    std::ofstream(file("2.csv"), std::ios::binary)
        << whole.substr(0, whole.rfind('\n', whole.size() - 2) + 30);
    const Outcome torn = run_program("merge " + file("1.csv") + " " + file("2.csv") + " -o -");
    CHECK(torn.err.find("2.csv: its last row is torn") != std::string::npos);
    const Outcome resumed = run_program(options + " --resume");
    CHECK(resumed.exit_code == 0);
    CHECK(lines(slurp(file("2.csv"))) == lines(whole));
  }
  const std::string two = "merge " + file("3.csv") + " " + file("1.csv");
  const Outcome partial = run_program(two + " -o " + file("partial.csv"));
  CHECK(partial.exit_code == 0);
  CHECK(partial.err.find("no row is of shard 2/3") != std::string::npos);
  const Outcome refused = run_program(two + " --require-complete -o " + file("none.csv"));
  CHECK(refused.exit_code == 2);
  CHECK(lines(refused.err) == 1);
  CHECK_FALSE(std::filesystem::exists(file("none.csv")));

  const Outcome merged =
      run_program(two + " " + file("2.csv") + " --require-complete -o " + file("merged.csv"));
  INFO(merged.err);
  CHECK(merged.exit_code == 0);
  const CsvTable one = read_csv_file(file("one.csv")), all = read_csv_file(file("merged.csv"));
  REQUIRE(one.rows.size() == 8);
  REQUIRE(all.rows.size() == 8);
  CHECK(one.header == all.header);
  std::set<std::string> shards;
  for (size_t i = 0; i < 8; ++i) {
    CHECK(row_key(one, i) == row_key(all, i));
    for (const char* name :
         {"hbm_read_bytes", "hbm_write_bytes", "model_flops", "rel_err", "plan", "plan_row"}) {
      CHECK(one.rows[i][one.column(name)] == all.rows[i][all.column(name)]);
    }
    shards.insert(all.rows[i][all.column("shard")]);
  }
  CHECK(shards == std::set<std::string>{"1 of 3", "2 of 3", "3 of 3"});

  const Outcome conflict =
      run_program("merge " + file("one.csv") + " " + file("1.csv") + " -o " + file("none.csv"));
  CHECK(conflict.exit_code == 2);
  CHECK(conflict.err.find("one.csv:") != std::string::npos);
  CHECK(conflict.err.find("1.csv:2 ") != std::string::npos);
}

TEST_CASE("the dry run of a shard names it and lists its rows only", "[cli]") {
  const Outcome o = run_program(std::string(kTiny) + " --causal both --shard 2/4 --dry-run");
  CHECK(o.exit_code == 0);
  CHECK(o.out.find("2 planned rows (shard 2 of 4, of 8 rows)") == 0);
  CHECK(o.out.find("rest") == std::string::npos);
  CHECK(run_program(std::string(kTiny) + " --rest 3 --dry-run").out.find("a rest of 3 times its own time") !=
        std::string::npos);
  const Outcome none = run_program(std::string(kTiny) + " --shard 4/4 --dry-run");
  CHECK(none.exit_code == 0);
  CHECK(none.err.find("shard 4 of 4 has no rows: the plan has 2 problems") != std::string::npos);
}

TEST_CASE("merge reads one of its files from standard input", "[cli][merge]") {
  const TempFolder folder;
  const std::string sweep =
      "sweep --device cpu --seqlen 64,96 --heads 2 --head-dim 32 --impl fused --max-time 0.02 --quiet --csv ";
  const std::string first = folder.file("1.csv"), second = folder.file("2.csv"), out = folder.file("all.csv");
  REQUIRE(run_program(sweep + first + " --shard 1/2").exit_code == 0);
  REQUIRE(run_program(sweep + second + " --shard 2/2").exit_code == 0);
  const std::string program = "'" ATTNPROF_BINARY "' ";
  const auto shell = [](const std::string& command) { return WEXITSTATUS(std::system(command.c_str())); };
  CHECK(shell("cat " + second + " | " + program + "merge " + first + " - --require-complete -o " + out +
              " 2>/dev/null") == 0);
  CHECK(run_program("merge " + first + " " + second + " -o -").out == slurp(out));
  CHECK(shell("cat " + first + " | " + program + "merge - -o - 2>/dev/null >" + out) == 0);
  CHECK(lines(slurp(out)) == 2);
  const Outcome twice = run_program("merge - - -o " + out);
  CHECK(twice.exit_code == 2);
  CHECK(twice.err == "attnprof: standard input (-) can be read once only; give files\n");
  CHECK(shell("echo schema,impl | " + program + "merge - -o /dev/null 2>" + folder.file("err")) == 2);
  CHECK(slurp(folder.file("err")).rfind("attnprof: (stdin): ", 0) == 0);
}

TEST_CASE("a shard of which no row fits into memory is no job that failed", "[cli]") {
  const std::string sweep =
      "sweep --device cpu --head-dim 32 --impl naive --heads 64 --batch 64 --seqlen 1024k,2048k --quiet "
      "--csv -";
  CHECK(run_program(sweep).exit_code == 3);
  const Outcome shard = run_program(sweep + " --shard 1/2");
  CHECK(shard.exit_code == 0);
  CHECK(shard.out.find("oom") != std::string::npos);
  CHECK(shard.err.find("nothing was measured") != std::string::npos);
}
