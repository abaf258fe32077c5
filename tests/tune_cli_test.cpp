// `attnprof tune` as its users meet it, on the CPU.
#include <fstream>
#include <string>

#include "catch.hpp"
#include "rows/csv.hpp"
#include "run_program.hpp"
#include "state/tuned_files.hpp"

using namespace attnprof;

namespace {

const std::string kShape = " --device cpu --heads 2 --head-dim 32 --dtype fp32 --max-time 0.05 --budget 2";

}  // namespace

TEST_CASE("tune writes a row that sweep takes its tile from, and every candidate as a verified row",
          "[tune]") {
  TempFolder folder;
  const std::string tuned = folder.file("tuned.csv"), rows = folder.file("rows.csv");
  const Outcome o = run_program("tune" + kShape + " --seqlen 64 --tile 24x32,48x64 -o " + tuned + " --csv " +
                                rows + " --tuned none");
  INFO(o.err);
  CHECK(o.exit_code == 0);
  const std::vector<TunedEntry> table = read_tuned_file(tuned);
  REQUIRE(table.size() == 1);
  CHECK(table[0].key.impl == "fused");
  CHECK(table[0].key.axes.at("dtype") == Cell("fp32"));
  CHECK(table[0].key.axes.at("head_dim") == Cell(int64_t{32}));
  CHECK(table[0].key.axes.at("seqlen_kv") == Cell(int64_t{64}));
  CHECK_FALSE(table[0].key.device_name.empty());
  CHECK(table[0].time_us);
  const CsvTable candidates = read_csv_file(rows);
  CHECK(candidates.rows.size() == 3);  // the default and the two that were named
  for (const auto& row : candidates.rows) {
    CHECK(row[candidates.column("status")] == "ok");
    CHECK_FALSE(row[candidates.column("time_us")].empty());
    CHECK_FALSE(row[candidates.column("hbm_read_bytes")].empty());
    CHECK_FALSE(row[candidates.column("rel_err")].empty());
  }
  const std::string tile =
      " " + std::to_string(table[0].config.tile_m) + "x" + std::to_string(table[0].config.tile_n) + " ";
  const std::string dry =
      "sweep --device cpu --heads 2 --head-dim 32 --dtype fp32 --seqlen 64 --impl fused --dry-run";
  CHECK(run_program(dry + " --tuned " + tuned).out.find(tile) != std::string::npos);
  const Outcome show = run_program("tune --device cpu --show --tuned " + tuned);
  CHECK(show.exit_code == 0);
  CHECK(show.out.find(tuned.substr(0, 10)) != std::string::npos);
}

TEST_CASE("tune keeps the rows of other shapes in its file and replaces those of its own", "[tune]") {
  TempFolder folder;
  const std::string tuned = folder.file("tuned.csv");
  std::ofstream(tuned) << "impl,device,compute_capability,device_name,dtype,head_dim,causal,window,seqlen_kv,"
                          "tile_m,tile_n,stages,"
                          "warps,message\nflash2,gpu,8.0,,,128,,,0,64,64,1,,mine\nfused,cpu,,other,fp32,32,0,"
                          "0,64,24,16,,,mine\n";
  for (int run = 0; run < 2; ++run) {
    const Outcome o = run_program("tune" + kShape + " --seqlen 64 --tile 24x32 --tuned none -o " + tuned);
    INFO(o.err);
    CHECK(o.exit_code == 0);
    CHECK(read_tuned_file(tuned).size() == 3);
  }
  int mine = 0;
  for (const TunedEntry& e : read_tuned_file(tuned)) mine += e.message == "mine";
  CHECK(mine == 2);
}

TEST_CASE("tune refuses what it cannot do before it measures, with exit code 2 and one line", "[tune]") {
  TempFolder folder;
  std::ofstream(folder.file("bad.csv")) << "no,tuned,file\n1,2,3\n";
  const std::string out = " -o " + folder.file("tuned.csv");
  struct Bad {
    std::string arguments, quoted;
  };
  for (const Bad& bad :
       {Bad{"--seqlen 64 --impl naive" + out, "naive"}, Bad{"--seqlen 64 --impl nosuch" + out, "nosuch"},
        Bad{"--seqlen 64 --batch 1,2" + out, "batch"},
        Bad{"--seqlen 64 -o " + folder.file("bad.csv"), "bad.csv"},
        Bad{"--seqlen 64 -o /nonexistent/tuned.csv", "/nonexistent/tuned.csv"},
        Bad{"--seqlen 64 --budget 0" + out, "budget"},
        Bad{"--seqlen 64 --min-speedup 0.5" + out, "min-speedup"}}) {
    INFO(bad.arguments);
    const Outcome o = run_program("tune --device cpu --heads 2 --head-dim 32 " + bad.arguments);
    CHECK(o.exit_code == 2);
    CHECK(o.err.find(bad.quoted) != std::string::npos);
    CHECK(lines(o.err) == 1);
  }
  CHECK_FALSE(std::filesystem::exists(folder.file("tuned.csv")));
}
