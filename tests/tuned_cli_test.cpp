// Tuned files as users meet them.
#include <filesystem>
#include <fstream>
#include <string>

#include "catch.hpp"
#include "rows/csv.hpp"
#include "run_program.hpp"

namespace fs = std::filesystem;
using attnprof::CsvTable;
using attnprof::read_csv_file;
using attnprof::row_key;

namespace {

constexpr const char* kHead =
    "impl,device,compute_capability,dtype,head_dim,causal,window,seqlen_kv,tile_m,tile_n,stages,warps\n";

void write_tile(const std::string& path, int tile_m) {
  std::ofstream(path) << kHead << "fused,cpu,,,32,,,0," << tile_m << ",16,,\n";
}

}  // namespace

TEST_CASE("tuned tiles come from --tuned, else ATTNPROF_TUNED, else the user's folder; none turns them off",
          "[tuned]") {
  TempFolder folder;
  const std::string config = folder.file("config");
  fs::create_directories(config + "/attnprof");
  write_tile(config + "/attnprof/tuned.csv", 24);
  write_tile(folder.file("variable.csv"), 48);
  write_tile(folder.file("option.csv"), 72);
  const std::string sweep =
      "sweep --device cpu --seqlen 64,128 --heads 2 --head-dim 32 --impl fused --dry-run";
  const std::string home = "XDG_CONFIG_HOME=" + config;
  const std::string variable = home + " ATTNPROF_TUNED=" + folder.file("variable.csv");
  const std::string option = " --tuned " + folder.file("option.csv");
  CHECK(run_program(sweep, home).out.find(" 24x16 ") != std::string::npos);
  CHECK(run_program(sweep, variable).out.find(" 48x16 ") != std::string::npos);
  CHECK(run_program(sweep + option, variable).out.find(" 72x16 ") != std::string::npos);
  CHECK(run_program(sweep + " --tile 96x16", variable).out.find(" 96x16 ") != std::string::npos);
  for (const Outcome& off :
       {run_program(sweep, home + " ATTNPROF_TUNED=none"), run_program(sweep + " --tuned none", variable)}) {
    CHECK(off.exit_code == 0);
    CHECK(off.out.find("x128 ") != std::string::npos);
    CHECK(off.out.find("x16 ") == std::string::npos);
  }
}

TEST_CASE("a tuned file that is missing or broken ends with exit code 2 and one line", "[tuned]") {
  TempFolder folder;
  const std::string sweep = "sweep --device cpu --seqlen 64 --head-dim 32 --impl fused --dry-run --tuned ";
  const Outcome absent = run_program(sweep + "/nonexistent/tuned.csv");
  CHECK(absent.exit_code == 2);
  CHECK(absent.err.find("/nonexistent/tuned.csv") != std::string::npos);
  write_tile(folder.file("bad.csv"), 24);
  std::ofstream(folder.file("bad.csv"), std::ios::app) << "fused,cpu,,,32,,,64,many,16,,\n";
  const Outcome bad = run_program(sweep + folder.file("bad.csv"));
  CHECK(bad.exit_code == 2);
  CHECK(bad.err.find("bad.csv:3: column 'tile_m': 'many' is not a whole number") != std::string::npos);
  CHECK(lines(bad.err) == 1);
}

TEST_CASE("the command of a row names its tile, so that it repeats the row under any tuned file", "[tuned]") {
  TempFolder folder;
  write_tile(folder.file("tuned.csv"), 24);
  const auto row = [&](const std::string& arguments, const char* name) {
    run_program(arguments + " --max-time 0.02 --min-samples 6 --csv " + folder.file(name));
    return read_csv_file(folder.file(name));
  };
  const CsvTable first = row("sweep --device cpu --seqlen 64 --heads 2 --head-dim 32 --impl fused --tuned " +
                                 folder.file("tuned.csv"),
                             "a.csv");
  REQUIRE(first.rows.size() == 1);
  const std::string command = first.rows[0][first.column("command")];
  CHECK(command.find(" --tile 24x16 ") != std::string::npos);
  const CsvTable again = row(command.substr(command.find(' ') + 1), "b.csv");
  REQUIRE(again.rows.size() == 1);
  CHECK(row_key(again, 0) == row_key(first, 0));
}
