// What a file holds is lost only when the user says so.
#include <filesystem>
#include <string>

#include "catch.hpp"
#include "rows/csv.hpp"
#include "rows/existing_csv.hpp"
#include "run_program.hpp"

using namespace attnprof;

namespace {

constexpr const char* kSweep =
    "sweep --device cpu --threads 1 --impl fused --seqlen 16 --heads 1 --head-dim 8 --max-time 0.01 "
    "--no-ceilings --quiet ";

}  // namespace

TEST_CASE("a command that would write over what a file holds is refused, naming --overwrite",
          "[cli][files]") {
  const TempFolder folder;
  const std::string file = folder.file("kept"), rows = folder.file("rows.csv");
  REQUIRE(run_program(std::string(kSweep) + "--csv " + rows).exit_code == 0);
  const std::string model = "model --seqlen 64 --csv " + file;
  for (const std::string& text : {std::string("# A README\n"), slurp(rows), header_line() + "x"}) {
    for (const std::string& command :
         {kSweep + ("--csv " + file), kSweep + ("--pass bwd --csv " + file), kSweep + ("--json " + file),
          kSweep + ("--shard 2/2 --csv " + file),
          "verify --device cpu --seqlen 16 --heads 1 --head-dim 8 --quiet --csv " + file, model,
          "tune --device cpu --seqlen 64 --budget 0.1 -o " + folder.file("tuned.csv") + " --csv " + file,
          "merge " + rows + " -o " + file}) {
      INFO(command);
      put(file, text);
      const Outcome o = run_program(command);
      CHECK(o.exit_code == 2);
      CHECK(lines(o.err) == 1);
      CHECK(has(o.err, "'" + file + "' holds something, which would be lost; give "));
      CHECK(has(o.err, "--overwrite"));
      CHECK(slurp(file) == text);
    }
  }
  CHECK(has(run_program(kSweep + ("--csv " + file)).err, "--resume to continue it, or --overwrite"));
  const Outcome both = run_program(kSweep + ("--resume --overwrite --csv " + file));
  CHECK(both.exit_code == 2);
  CHECK(has(both.err, "--resume keeps the rows"));
  for (const std::string& command : {kSweep + ("--csv " + file), model, "merge " + rows + " -o " + file}) {
    INFO(command);
    put(file, "# A README\n");
    CHECK(run_program(command + " --overwrite").exit_code == 0);
    CHECK(slurp(file).rfind("schema,", 0) == 0);
  }
}

TEST_CASE("a file that holds nothing, or only our header, is written to", "[cli][files]") {
  const TempFolder folder;
  const std::string file = folder.file("rows.csv");
  for (const std::string& text : {std::string(), header_line(), header_line().substr(0, 40)}) {
    put(file, text);
    CHECK(run_program(kSweep + ("--csv " + file)).exit_code == 0);
    CHECK(lines(slurp(file)) == 2);
  }
}

TEST_CASE("a run that can measure nothing leaves what it was to write over", "[cli][files]") {
  const TempFolder folder;
  const std::string file = folder.file("rows.csv");
  put(file, "kept\n");
  for (const char* nothing : {"--pass bwd --csv ", "--shard 2/2 --csv ", "--pass bwd --json "}) {
    const Outcome o = run_program(kSweep + (nothing + file) + " --overwrite");
    CHECK(has(o.err, "'" + file + "' stays as it is"));
    CHECK(slurp(file) == "kept\n");
  }
}

TEST_CASE("a report is written again and again, but never over rows", "[cli][files]") {
  const TempFolder folder;
  const std::string rows = folder.file("rows.csv"), other = folder.file("other.csv"),
                    json = folder.file("rows.json"), page = folder.file("page.html");
  REQUIRE(run_program(kSweep + ("--csv " + rows + " --json " + json)).exit_code == 0);
  for (const char* command : {"report ", "compare "}) {
    std::filesystem::copy_file(rows, other, std::filesystem::copy_options::overwrite_existing);
    for (const std::string& out : {other, json}) {
      const std::string before = slurp(out);
      const Outcome o = run_program(command + rows + " -o " + out);
      CHECK(o.exit_code == 2);
      CHECK(has(o.err, "'" + out + "' holds rows, which would be lost"));
      CHECK(slurp(out) == before);
    }
  }
  CHECK(run_program("report " + rows + " -o " + page).exit_code == 0);
  CHECK(run_program("report " + rows + " -o " + page).exit_code == 0);
}
