// What is typed is what is measured, or it is said.
#include <string>

#include "catch.hpp"
#include "core/axes.hpp"
#include "error_of.hpp"
#include "host/system.hpp"
#include "run_program.hpp"

using namespace attnprof;

TEST_CASE("a value that would silently stand for the default is refused", "[axis]") {
  for (const char* zero : {"0", "-0", "0.0", "1e-400", "0.125,0"}) {
    INFO(zero);
    CHECK(error_of([&] { parse_axis("scale", zero); }) != "nothing was thrown");
  }
  CHECK(has(error_of([] { parse_axis("scale", "0"); }), "leave --scale out for 1/sqrt(d)"));
  CHECK(parse_axis("scale", "0.125").size() == 1);
  CHECK(parse_axis("seed", "0").size() == 1);  // 0 is a seed
  const std::string sweep = "sweep --device cpu --seqlen 16 --head-dim 8 --dry-run ";
  for (const char* zero :
       {"--threads 0", "--tile 0x0", "--window 0", "--tokens 0", "--hidden 0", "--scale 0"}) {
    INFO(zero);
    CHECK(run_program(sweep + zero).exit_code == 2);
  }
}

TEST_CASE("sizes that do not come out are said, once for each option", "[cli]") {
  const std::string dry = "sweep --device cpu --dry-run --tuned none ";
  const Outcome hidden = run_program(dry + "--seqlen 64 --hidden 100 --head-dim 64");
  CHECK(hidden.exit_code == 0);
  CHECK(hidden.err == "attnprof: --hidden 100: not a multiple of head-dim 64; 1 x 64 = 64 is measured\n");
  const Outcome tokens = run_program(dry + "--tokens 1000 --seqlen 2k,4k --head-dim 64");
  CHECK(tokens.err ==
        "attnprof: --tokens 1000: not a multiple of seqlen 2048; 1 x 2048 = 2048 are measured\n");
  CHECK(has(run_program(dry + "--seqlen 64 --hidden 128 --heads 3").err, "--hidden 128 is not used"));
  CHECK(run_program(dry + "--seqlen 64,128 --tokens 256 --hidden 128 --head-dim 64").err.empty());
  CHECK(run_program("model --seqlen 1000 --head-dim 96").err.empty());  // the defaults were not typed
  const std::string more = std::to_string(usable_threads() + 1);
  CHECK(has(run_program(dry + "--seqlen 64 --threads " + more).err,
            "--threads " + more + ": this process may use"));
}
