#include "measure/shard.hpp"

#include <algorithm>
#include <numeric>
#include <set>

#include "catch.hpp"
#include "core/error.hpp"

using namespace attnprof;

namespace {

/// One problem per entry, of that many rows, told apart by its length.
std::vector<PlannedRow> rows_of(const std::vector<int>& sizes) {
  std::vector<PlannedRow> rows;
  for (size_t problem = 0; problem < sizes.size(); ++problem) {
    for (int i = 0; i < sizes[problem]; ++i) {
      PlannedRow& row = rows.emplace_back();
      row.planned.problem.seqlen_q = static_cast<int64_t>(problem) + 1;
      row.planned.impl = "impl" + std::to_string(i);
      row.plan_row = static_cast<int64_t>(rows.size());
    }
  }
  return rows;
}

/// As the length squared.
double quadratic(const PlannedRow& row) {
  const auto n = static_cast<double>(row.planned.problem.seqlen_q);
  return n * n;
}

}  // namespace

TEST_CASE("a shard is two whole numbers, the first not above the second", "[shard]") {
  CHECK(parse_shard("1/1").count == 1);
  CHECK(parse_shard("3/12").index == 3);
  CHECK(parse_shard("3/12").count == 12);
  for (const char* bad : {"0/4", "5/4", "x", "", "/", "1/", "/4", "1/0", "-1/4", "1/-4", "1.5/4", " 1/4",
                          "1/4 ", "1/4/4", "+1/4", "1/10001", "1/99999999999999999999"}) {
    INFO(bad);
    try {
      parse_shard(bad);
      FAIL("was taken");
    } catch (const UsageError& error) {
      CHECK(std::string(error.what()).find("--shard '" + std::string(bad) + "'") == 0);
    }
  }
}

TEST_CASE("every row is in exactly one shard, in order, beside the rows of its problem", "[shard]") {
  const auto rows = rows_of({3, 1, 4, 1, 5, 2, 6});
  for (const int count : {1, 2, 3, 7, 9}) {
    std::multiset<int64_t> dealt;
    std::set<int64_t> problems;
    for (int index = 1; index <= count; ++index) {
      const auto shard = rows_of_shard(rows, {index, count}, quadratic);
      std::set<int64_t> own;
      for (size_t i = 0; i < shard.size(); ++i) {
        if (i > 0) CHECK(shard[i].plan_row > shard[i - 1].plan_row);
        dealt.insert(shard[i].plan_row);
        own.insert(shard[i].planned.problem.seqlen_q);
      }
      for (const int64_t problem : own) CHECK(problems.insert(problem).second);
    }
    std::multiset<int64_t> all;
    for (const PlannedRow& row : rows) all.insert(row.plan_row);
    CHECK(dealt == all);
  }
  CHECK(rows_of_shard(rows, {8, 8}, quadratic).empty());
}

TEST_CASE("shards take about the same time by prediction, also when it grows along the plan", "[shard]") {
  const auto rows = rows_of(std::vector<int>(24, 2));
  for (const int count : {2, 3, 4, 5}) {
    std::vector<double> load;
    for (int index = 1; index <= count; ++index) {
      double sum = 0;
      for (const PlannedRow& row : rows_of_shard(rows, {index, count}, quadratic)) sum += quadratic(row);
      load.push_back(sum);
    }
    const double mean = std::accumulate(load.begin(), load.end(), 0.0) / count;
    INFO(count);
    CHECK(*std::max_element(load.begin(), load.end()) < 1.05 * mean);
  }
}

TEST_CASE("problems that take equally long are dealt the same way every time", "[shard]") {
  const auto rows = rows_of({1, 1, 1, 1, 1});
  const auto first = rows_of_shard(rows, {1, 2}, [](const PlannedRow&) { return 1.0; });
  REQUIRE(first.size() == 3);
  CHECK(first[0].plan_row == 1);
  CHECK(first[1].plan_row == 3);
  CHECK(first[2].plan_row == 5);
}

TEST_CASE(
    "a row's predicted time grows with its work, up to the sampling budget, and is nothing when it cannot "
    "run",
    "[shard]") {
  DeviceInfo gpu;
  gpu.kind = DeviceKind::gpu;
  gpu.memory_bytes = 1000;
  const stats::StoppingRule rule;
  PlannedRow row;
  row.model.executed_flops = 1'000'000'000'000;
  const double one = predicted_seconds(row, gpu, rule);
  row.model.executed_flops *= 100;
  const double hundred = predicted_seconds(row, gpu, rule);
  CHECK(hundred > one + 3);
  row.model.executed_flops *= 4;
  CHECK(predicted_seconds(row, gpu, rule) < one + 3 * rule.budget_s);
  row.memory_bytes = 1001;
  CHECK(predicted_seconds(row, gpu, rule) < 0.01 * one);
  row.memory_bytes = 1000;
  CHECK(predicted_seconds(row, gpu, rule) > one);
  row.status = Status::unsupported;
  CHECK(predicted_seconds(row, gpu, rule) < 0.01 * one);
}

TEST_CASE("a plan's name follows its keys and their order, and is no number", "[shard]") {
  const std::string name = plan_name({"a", "b"});
  CHECK(name == plan_name({"a", "b"}));
  std::set<std::string> names{name, plan_name({"b", "a"}), plan_name({"ab"}), plan_name({"a"}),
                              plan_name({})};
  CHECK(names.size() == 5);
  CHECK(name.size() == 17);
  CHECK(name[0] == 'p');
}
