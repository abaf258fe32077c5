// attnprof trace: the online softmax by hand.
#include "core/trace.hpp"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <memory>

#include "cli/commands.hpp"
#include "cli/typed.hpp"
#include "core/error.hpp"
#include "core/text.hpp"

namespace attnprof {
namespace {

struct TraceOptions {
  std::vector<std::string> scores{"2,1,3,0"};
  std::vector<std::string> values;
  int tile = 2;
};

std::vector<double> parse_numbers(const char* option, const std::vector<std::string>& items) {
  std::vector<double> numbers;
  for (const std::string& item : items) {
    for (const std::string_view part : split(item, ',')) {
      double x = 0;
      const auto [end, error] = std::from_chars(part.data(), part.data() + part.size(), x);
      if (error != std::errc() || end != part.data() + part.size()) {
        throw UsageError(fmt::format("{}: '{}' is not a number; e.g. {} 2,1,3,0", option, part, option));
      }
      numbers.push_back(x);
    }
  }
  return numbers;
}

int run_trace(const TraceOptions& o) {
  const std::vector<double> scores = parse_numbers("--scores", o.scores);
  std::vector<double> values = parse_numbers("--values", o.values);
  if (o.values.empty()) {
    for (size_t i = 0; i < scores.size(); ++i) values.push_back(10.0 * static_cast<double>(i + 1));
  }
  const std::vector<TraceStep> steps = trace_online_softmax(scores, values, o.tile);
  fmt::print("{:>9}  {:>10}  {:>10}  {:>12}  {:>14}  {:>14}\n", "keys", "rescale", "m (max)", "l (sum)",
             "u (weighted)", "output u/l");
  for (const TraceStep& s : steps) {
    fmt::print("{:>9}  {:>10.8g}  {:>10.8g}  {:>12.8g}  {:>14.8g}  {:>14.8g}\n",
               fmt::format("{}-{}", s.first_key, s.last_key), s.rescale, s.m, s.l, s.u, s.output);
  }
  const double tiled = steps.back().output;
  const double full = full_softmax_output(scores, values);
  fmt::print("\ntiled result      {:.12g}\nfull softmax      {:.12g}\ndifference        {:.3g}\n", tiled,
             full, tiled - full);
  fmt::print("score slots held  {} of {} at once\n",
             std::min<size_t>(static_cast<size_t>(o.tile), scores.size()), scores.size());
  return 0;
}

}  // namespace

void add_trace(CommandLine& line) {
  auto options = std::make_shared<TraceOptions>();
  Command& command = line.add("trace", "Show the online softmax of one row, tile by tile");
  command.option("--scores", options->scores, "Scores of one query row, already scaled").type_name("LIST");
  command.option("--values", options->values, "One value per key (default 10,20,30,...)").type_name("LIST");
  command.option("--tile", options->tile, "Keys per tile").shows_default();
  command.action([options] { return run_trace(*options); });
}

}  // namespace attnprof
