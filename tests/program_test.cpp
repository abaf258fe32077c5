// The program called in this process.
#include "cli/program.hpp"

#include <unistd.h>

#include <cstdio>

#include "catch.hpp"
#include "run_program.hpp"

namespace {

/// Sends a stream to a file until it goes out of scope.
class Redirected {
 public:
  Redirected(std::FILE* stream, const std::string& path) : stream_(stream), before_(dup(fileno(stream))) {
    std::fflush(stream_);
    std::FILE* file = std::fopen(path.c_str(), "w");
    dup2(fileno(file), fileno(stream_));
    std::fclose(file);
  }
  ~Redirected() {
    std::fflush(stream_);
    dup2(before_, fileno(stream_));
    close(before_);
  }
  Redirected(const Redirected&) = delete;
  Redirected& operator=(const Redirected&) = delete;

 private:
  std::FILE* stream_;
  int before_;
};

Outcome run(std::vector<std::string> words) {
  const TempFolder scratch;
  const std::string out = scratch.file("out"), err = scratch.file("err");
  words.insert(words.begin(), "attnprof");
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  Outcome outcome;
  {
    const Redirected to_out(stdout, out), to_err(stderr, err);
    outcome.exit_code = attnprof::run_attnprof(static_cast<int>(argv.size()), argv.data());
  }
  outcome.out = slurp(out);
  outcome.err = slurp(err);
  return outcome;
}

}  // namespace

TEST_CASE("the program runs in the process that calls it, more than once", "[cli]") {
  const Outcome help = run({"merge", "--help"});
  CHECK(help.exit_code == 0);
  CHECK(has(help.out, "--require-complete"));
  CHECK(has(help.out, "Rows come in the planned order"));
  const Outcome version = run({"--version"});
  CHECK(version.exit_code == 0);
  CHECK(version.out.find("attnprof ") == 0);
  const Outcome list = run({"list", "presets"});
  CHECK(list.exit_code == 0);
  CHECK(has(list.out, "gpt2-medium"));
}

TEST_CASE("what cannot be parsed ends with 2 and names the help to read", "[cli]") {
  struct Bad {
    std::vector<std::string> words;
    const char* piece;
  };
  for (const Bad& bad : {
           Bad{{"nosuch"}, "'nosuch' is no command; commands: sweep, verify, tune"},
           Bad{{"--frobnicate"}, "see `attnprof --help`"},
           Bad{{"trace", "--frobnicate"}, "see `attnprof trace --help`"},
           Bad{{"trace", "--tile", "x"}, "Could not convert"},
           Bad{{"sweep", "--rest", "nan"}, "--rest: 'nan' is not a number from 0 to 100"},
           Bad{{"sweep", "--seqlen", "{}"}, "--seqlen: '{}' is no value"},
           Bad{{"list", "nothing"}, "nothing not in {all,implementations"},
       }) {
    const Outcome o = run(bad.words);
    INFO(o.err);
    CHECK(o.exit_code == 2);
    CHECK(lines(o.err) == 1);
    CHECK(has(o.err, bad.piece));
    CHECK(o.out.empty());
  }
}

TEST_CASE("With --verbose, the program says where an error was raised", "[cli]") {
  const Outcome o = run({"--verbose", "trace", "--tile", "0"});
  CHECK(o.exit_code == 2);
  CHECK(has(o.err, "raised at "));
  CHECK(has(o.err, "trace.cpp:"));
}
