// The program where memory, time or patience runs out, and where rows were never run.
#include <string>

#include "catch.hpp"
#include "rows/csv.hpp"
#include "rows/rows.hpp"
#include "run_program.hpp"

using namespace attnprof;

TEST_CASE("model --csv writes what was modelled, in rows that nobody takes for measured", "[cli][model]") {
  const TempFolder folder;
  const std::string csv = folder.file("model.csv");
  const std::string axes =
      "--impl naive,fused --seqlen 1k --heads 2 --head-dim 64 --causal both --csv " + csv;
  REQUIRE(run_program("model --gpu H200 " + axes).exit_code == 0);
  const RowFile file = read_rows(csv, Duplicates::refuse);
  REQUIRE(file.rows.size() >= 4);
  for (const Row& row : file.rows) {
    INFO(row.label());
    CHECK(row.status() == Status::skipped);
    for (const char* column :
         {"model_flops", "executed_flops", "exp_count", "model_hbm_bytes", "model_hbm_read_bytes",
          "model_hbm_write_bytes", "min_hbm_bytes", "min_hbm_read_bytes", "min_hbm_write_bytes"}) {
      INFO(column);
      CHECK(row.number(column).value_or(0) > 0);
    }
    for (const char* column : {"time_us", "hbm_read_bytes", "rel_err", "bytes_source", "counters_status"})
      CHECK(row.text(column).empty());
  }
  // Nothing in it is a figure that could hold.
  CHECK(run_program("check --baseline " + csv + " " + csv + " --only time,bytes,flops").exit_code != 0);
  CHECK(run_program("compare " + csv).exit_code != 0);
}

TEST_CASE("a problem that makes no sense has no model either", "[cli][model]") {
  const Outcome o =
      run_program("model --seqlen 64 --heads 4 --kv-heads 2,3 --head-dim 64 --impl naive --csv -");
  CHECK(o.exit_code == 0);
  const CsvTable table = parse_csv(o.out, "model");
  REQUIRE(table.rows.size() == 2);
  CHECK_FALSE(table.rows[0][table.column("model_flops")].empty());
  CHECK(table.rows[1][table.column("model_flops")].empty());
}

TEST_CASE("sizes that 63 bits cannot hold are refused, not printed as negative", "[cli][model]") {
  const Outcome o =
      run_program("model --seqlen 379000000 --head-dim 4 --heads 1 --batch 1 --dtype fp32 --pass fwd+bwd");
  CHECK(o.exit_code == 2);
  CHECK(has(o.err, "problem too large: the bytes of the score matrices"));
}

TEST_CASE("resume does not take a row that was skipped for one that was measured", "[cli][resume]") {
  const TempFolder folder;
  const std::string csv = folder.file("rows.csv");
  const std::string sweep =
      "sweep --device cpu --threads 1 --impl fused --seqlen 64 --heads 2 --head-dim 32 --max-time 0.02 "
      "--no-ceilings --quiet --csv " +
      csv;
  REQUIRE(run_program(sweep).exit_code == 0);
  CsvTable table = read_csv_file(csv);
  table.rows[0][table.column("status")] = "skipped";
  table.rows[0][table.column("message")] = "model only, not run";
  const std::string text = csv_line(table.header) + csv_line(table.rows[0]);
  put(csv, text);
  const Outcome o = run_program(sweep + " --resume");
  CHECK(o.exit_code == 2);
  CHECK(has(o.err, "was not run"));
  CHECK(slurp(csv) == text);
}

TEST_CASE("a sweep in little memory ends with rows, whichever allocation fails", "[cli][oom]") {
  const TempFolder folder;
  for (const int kilobytes : {56000, 60000, 64000, 80000, 110000, 160000}) {
    INFO(kilobytes);
    const std::string csv = folder.file("rows.csv");
    const Outcome o = run_program(
        "sweep --device cpu --threads 2 --dtype fp32 --impl fused --seqlen 256,16384,512 --heads 1 "
        "--head-dim 16 "
        "--max-time 0.02 --no-ceilings --cache hot --overwrite --csv " +
            csv,
        "ulimit -v " + std::to_string(kilobytes) + ";");
    INFO(o.err);
    CHECK((o.exit_code == 0 || o.exit_code == 3));
    CHECK(lines(slurp(csv)) == 1 + 3);
    CHECK_FALSE(has(o.err, "bad_alloc"));
  }
}

TEST_CASE("memory that is missing for cold caches is not said of the case", "[cli][oom]") {
  const Outcome o = run_program(
      "sweep --device cpu --threads 1 --impl fused --seqlen 64 --heads 1 --head-dim 16 --max-time 0.02 "
      "--no-ceilings --csv -",
      "ulimit -v 56000;");
  if (o.exit_code == 0) {
    WARN("skipped: the caches are so small that the memory suffices");
    return;
  }
  CHECK(has(o.out, "oom"));
  CHECK(has(o.out, "cold cache: out of memory"));
  CHECK(has(o.out, "--cache hot needs no memory"));
}

TEST_CASE("tune leaves its file alone until it is done; what an interrupted one found lies beside it",
          "[tune]") {
  const TempFolder folder;
  const std::string tuned = folder.file("tuned.csv"), partial = tuned + ".partial";
  const std::string before =
      "impl,device,compute_capability,dtype,head_dim,causal,window,seqlen_kv,tile_m,tile_n,stages,warps\n"
      "fused,cpu,,,32,,,0,24,16,,\n";
  put(tuned, before);
  const Outcome o = run_program(
      "tune --device cpu --threads 1 --heads 1 --head-dim 16 --max-time 1 --tile 24x32 --tuned none --cache "
      "hot "
      "--seqlen 32,256:4k:+32 --budget 200 -o " +
          tuned,
      "timeout --preserve-status -s INT 6");
  INFO(o.err);
  CHECK(o.exit_code == 130);
  CHECK(slurp(tuned) == before);
  if (has(o.err, " 0 with a faster tile, 0 keep theirs")) {
    WARN("skipped: the machine is so busy that no tile was settled in time");
    return;
  }
  CHECK(has(o.err, "interrupted, so " + tuned + " is as it was: what was found is in " + partial));
  CHECK(lines(slurp(partial)) > lines(before));
}

TEST_CASE("tune that is done writes its file, and leaves nothing beside it", "[tune]") {
  const TempFolder folder;
  const std::string tuned = folder.file("tuned.csv");
  const Outcome o = run_program(
      "tune --device cpu --threads 1 --heads 1 --head-dim 16 --seqlen 64 --tile 24x32 --tuned none --cache "
      "hot "
      "--max-time 1 --budget 4 -o " +
      tuned);
  CHECK(o.exit_code == 0);
  CHECK_FALSE(std::filesystem::exists(tuned + ".partial"));
  CHECK(std::filesystem::exists(tuned) == !has(o.err, "1 not tuned"));
}

TEST_CASE("a sweep says whose tiles it takes when they come from the user's file", "[tuned]") {
  const TempFolder folder;
  const std::string tuned = folder.file("mine.csv");
  put(tuned,
      "impl,device,compute_capability,dtype,head_dim,causal,window,seqlen_kv,tile_m,tile_n,stages,warps\n"
      "fused,cpu,,,32,,,0,24,16,,\n");
  const std::string sweep =
      "sweep --device cpu --seqlen 64 --heads 2 --dry-run --impl naive,fused --head-dim 32 ";
  CHECK(run_program(sweep + "--tuned " + tuned).err ==
        "attnprof: tiles of 1 of 2 rows come from " + tuned + "; --tuned none leaves that file out\n");
  CHECK(run_program(sweep + "--tile 48x16 --tuned " + tuned).err.empty());
  CHECK(run_program(sweep + "--tuned none").err.empty());
}
