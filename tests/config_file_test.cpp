// --config: what a TOML file may hold, and what is refused, with its place.
#include "cli/config_file.hpp"

#include <fmt/format.h>

#include "catch.hpp"
#include "cli/sweep_options.hpp"
#include "error_of.hpp"
#include "refusals.hpp"
#include "text.hpp"

using namespace attnprof;

namespace {

using Words = std::vector<std::string>;

/// The options of `attnprof sweep TYPED...` with a configuration file.
SweepOptions configured(const std::string& toml, Words typed = {}) {
  CommandLine line("", "", "");
  line.add("verify", "");
  Command& command = line.add("sweep", "");
  SweepOptions options;
  setup(command, options);
  typed.insert(typed.begin(), {"attnprof", "sweep"});
  std::vector<char*> argv;
  for (std::string& word : typed) argv.push_back(word.data());
  line.parse(static_cast<int>(argv.size()), argv.data());
  apply_config(command, toml, "f.toml");
  return options;
}

std::string refusal(const std::string& toml, const Words& typed = {}) {
  return error_of([&] { configured(toml, typed); });
}

}  // namespace

TEST_CASE("values of a configuration file arrive as they are written", "[config]") {
  const SweepOptions o = configured(
      "scale = 0.125\nseqlen = [1024, 2048]\nhead-dim = 64\ndtype = [\"fp16\", \"bf16\"]\n"
      "max-time = 0.1\nprecision = 1e-5\nmin-samples = 12\nshard = \"1/4\"\nquiet = true\nresume = false\n");
  CHECK(o.axes.axes.at("scale") == Words{"0.125"});
  CHECK(o.axes.axes.at("seqlen") == Words{"1024", "2048"});
  CHECK(o.axes.axes.at("head-dim") == Words{"64"});
  CHECK(o.axes.axes.at("dtype") == Words{"fp16", "bf16"});
  CHECK(o.run.stopping.budget_s == 0.1);
  CHECK(o.run.stopping.target_half_width == 1e-5);
  CHECK(o.run.stopping.min_samples == 12);
  CHECK(o.shard == "1/4");
  CHECK(o.quiet);
  CHECK_FALSE(o.resume);
  for (const double scale : {0.08838834764831843, 1e-300}) {
    const SweepOptions exact = configured(fmt::format("scale = {}", scale));
    CHECK(planned_cases(exact.axes, DeviceKind::host).at(0).planned.problem.scale == scale);
  }
  CHECK(configured("max-samples = 1_000").run.stopping.max_samples == 1000);
}

TEST_CASE("a list may stand on several lines, with comments inside", "[config]") {
  CHECK(configured("seqlen = [\n  512,  # short\n  # long\n  \"1k:4k:x2\",\n]\n").axes.axes.at("seqlen") ==
        Words{"512", "1k:4k:x2"});
  CHECK(configured("\xEF\xBB\xBFseqlen = 64\r\nheads = 2\r\n").axes.axes.at("heads") == Words{"2"});
}

TEST_CASE("the command line wins, then the command's own table, then the top level", "[config]") {
  const std::string toml =
      "seqlen = 64\nheads = 2\nquiet = true\n[verify]\nno-such = 1\n[sweep]\nseqlen = 128\nquiet = false\n";
  const SweepOptions o = configured(toml);
  CHECK(o.axes.axes.at("seqlen") == Words{"128"});
  CHECK(o.axes.axes.at("heads") == Words{"2"});
  CHECK_FALSE(o.quiet);
  CHECK(configured(toml, {"--seqlen", "256"}).axes.axes.at("seqlen") == Words{"256"});
  CHECK(configured(toml, {"--quiet"}).quiet);
}

TEST_CASE("what is wrong in a configuration file is refused with file, line and column", "[config]") {
  check_refusals(
      {
          {"seqlen = [1024, 2048", "f.toml:1:21: ", "array"},
          {"heads = 2\nscale = [0.125", "f.toml:2:15: ", "array"},
          {"seqlen = 64\nseqlen = 128", "f.toml:2:", "'seqlen'"},
          {"[sweep]\nseqlen = 64\n[sweep]\nheads = 2", "f.toml:3:", "'sweep'"},
          {"csv = \"a.csv", "f.toml:1:13: ", "string"},
          {"csv = \"a.csv\nquiet = true", "f.toml:1:13: ", "string"},
          {"quiet = 5", "f.toml:1:1: key 'quiet'", "true or false"},
          {"quiet = \"true\"", "f.toml:1:1: key 'quiet'", "true or false"},
          {"\nseqlem = 64", "f.toml:2:1: key 'seqlem'", "'seqlen'"},
          {"[sweep]\n  seqlem = 64", "f.toml:2:3: key 'seqlem'", "'seqlen'"},
          {"config = \"other.toml\"", "f.toml:1:1: key 'config'", "unknown"},
          {"help = true", "f.toml:1:1: key 'help'", "unknown"},
          {"causal = true", "f.toml:1:1: key 'causal'", "string or a number"},
          {"seqlen = [64, [128]]", "f.toml:1:15: key 'seqlen'", "string or a number"},
          {"seqlen = []", "f.toml:1:1: key 'seqlen'", "empty list"},
          {"seqlen = 2024-05-17", "f.toml:1:1: key 'seqlen'", "string or a number"},
          {"scale = inf", "f.toml:1:1: key 'scale'", "finite"},
          {"max-time = \"wide\"", "f.toml:1:1: key 'max-time'", "wide"},
          {"threads = [1, 2]", "f.toml:1:1: key 'threads'", "not a list"},
          {"threads = 9999", "f.toml:1:1: key 'threads'", "4096"},
          {"cache = \"warm\"", "f.toml:1:1: key 'cache'", "cold"},
          {"csv = \"\"", "f.toml:1:1: key 'csv'", "names no file"},
          {"[swep]\nseqlen = 64", "f.toml:1:2: key 'swep'", "[sweep]"},
          {"[sweep.deep]\nseqlen = 64", "key 'deep'", "unknown"},
          {"[[sweep]]\nseqlen = 64", "f.toml:1:3: key 'sweep'", "[sweep]"},
      },
      [](const std::string& toml) { return refusal(toml); });
  CHECK(has(refusal("threads = true", {"--threads", "1"}), "key 'threads'"));
}
