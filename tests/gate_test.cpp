#include "gate/gate.hpp"

#include <cmath>
#include <functional>
#include <random>

#include "catch.hpp"
#include "compare_case.hpp"
#include "core/error.hpp"

using namespace attnprof;

namespace {

RowFile file_of(const std::vector<Cells>& rows, const char* name) {
  return rows_of(parse_csv(csv_with_kernels(rows), name));
}
GateReport gate(const std::vector<Cells>& before, const std::vector<Cells>& after,
                const GateOptions& options = {}) {
  return judge_rows({file_of(before, "ref.csv")}, {file_of(after, "new.csv")}, options);
}
int exit_of(const std::vector<Cells>& before, const std::vector<Cells>& after,
            const GateOptions& options = {}) {
  return static_cast<int>(exit_code(gate(before, after, options)));
}
/// The one finding about `quantity`.
Finding about(const GateReport& report, const std::string& quantity) {
  std::vector<Finding> found;
  for (const Finding& f : report.findings) {
    if (f.quantity == quantity) found.push_back(f);
  }
  REQUIRE(found.size() == 1);
  return found.front();
}
Outcome outcome(const Cells& before, const Cells& after, const std::string& quantity) {
  return about(gate({before}, {after}), quantity).outcome;
}
GateOptions only(std::vector<Subject> subjects) {
  GateOptions options;
  for (const Subject s : kSubjects) {
    if (std::find(subjects.begin(), subjects.end(), s) == subjects.end())
      options.thresholds.global.of(s) = Policy::ignore;
  }
  return options;
}
Cells time_cells(double time_us, double half_width = 0.002) {
  return {{"time_us", std::to_string(time_us)},
          {"time_lo_us", std::to_string(time_us * (1 - half_width))},
          {"time_hi_us", std::to_string(time_us * (1 + half_width))}};
}
const Cells kCounted{{"bytes_source", "counted"}, {"tensor_flops", ""}, {"driver", ""},  {"device", "cpu"},
                     {"device_name", "AMD EPYC"}, {"device_uuid", ""},  {"threads", "2"}};
Cells counted(Cells changes = {}) {
  changes.insert(kCounted.begin(), kCounted.end());
  return changes;
}
std::string error_of(const std::function<void()>& action, ExitCode code) {
  try {
    action();
  } catch (const Error& error) {
    CHECK(error.code() == code);
    return error.what();
  }
  return "nothing was thrown";
}

}  // namespace

TEST_CASE("the same file holds, and each measured file holds against itself", "[gate]") {
  CHECK(exit_of({{}}, {{}}) == 0);
  for (const char* name : {"h200.csv", "h200-fused.csv", "h200-ladder.csv", "cpu-2core.csv"}) {
    INFO(name);
    const RowFile file = read_rows(results_file(name));
    const GateReport report = judge_rows({file}, {file}, {});
    CHECK(exit_code(report) == ExitCode::ok);
    CHECK(report.cases == file.rows.size());
    CHECK(report.times == file.rows.size());
  }
}

TEST_CASE("a slower time fails, a faster one does not, and noise does nothing", "[gate]") {
  CHECK(exit_of({time_cells(100)}, {time_cells(104)}) == 1);
  CHECK(exit_of({time_cells(104)}, {time_cells(100)}) == 0);
  CHECK(exit_of({time_cells(100)}, {time_cells(101)}) == 0);
  CHECK(exit_of({time_cells(100)}, {time_cells(104, 0.05)}) == 0);
  const Finding f = about(gate({time_cells(100)}, {time_cells(104)}), "time_us");
  CHECK(f.before == "100 us");
  CHECK(f.after == "104 us");
  CHECK(f.change == "+4.0%");
  CHECK(f.file == "new.csv");
  CHECK(f.line == 2);
}

TEST_CASE("twenty repeats of the same build hold; ten percent on every row always fails", "[gate]") {
  // The rows of a real sweep, as if it had been run again: each time moved by what two sweeps there differ
  // by.
  const CsvTable real = read_csv_file(results_file("h200.csv"));
  const RowFile baseline = rows_of(real);
  std::mt19937_64 random(20);
  std::normal_distribution<double> normal;
  const auto rerun = [&](double factor) {
    CsvTable table = real;
    const double drift = 0.001 * normal(random);
    for (auto& row : table.rows) {
      const double shift = factor * std::exp(drift + 0.002 * normal(random));
      for (const char* column : {"time_us", "time_lo_us", "time_hi_us", "time_min_us", "time_max_us"}) {
        std::string& cell = row[table.column(column)];
        cell = std::to_string(*cell_number(cell) * shift);
      }
    }
    return rows_of(std::move(table));
  };
  GateOptions five;
  five.thresholds.global.time_pct = 5;
  for (int repeat = 0; repeat < 20; ++repeat) {
    CHECK(exit_code(judge_rows({baseline}, {rerun(1)}, {})) == ExitCode::ok);
    CHECK(exit_code(judge_rows({baseline}, {rerun(1.10)}, five)) == ExitCode::regression);
  }
}

TEST_CASE("two sweeps of one chip, one of them hot, differ only where the library does", "[gate]") {
  const GateReport report = judge_rows({read_rows(results_file("h200.csv"))},
                                       {read_rows(results_file("h200-fused.csv"))}, only({Subject::time}));
  size_t slower = 0;
  for (const Finding& f : report.findings) {
    if (!f.fails()) continue;
    ++slower;
    CHECK(f.label.rfind("cudnn", 0) == 0);  // 9.14 there, 9.19 here
    CHECK(f.reason.find("9.14") != std::string::npos);
  }
  CHECK(slower >= 3);  // by more than times of a throttled chip scatter
}

TEST_CASE("of a chip that throttles more is assumed, unless it rested between samples", "[gate]") {
  const auto seven_percent = [](const Cells& cells) {
    Cells after = cells;
    after.insert({{"time_us", "107"}, {"time_lo_us", "106.9"}, {"time_hi_us", "107.1"}});
    Cells before = cells;
    before.insert({{"time_us", "100"}, {"time_lo_us", "99.9"}, {"time_hi_us", "100.1"}});
    return outcome(before, after, "time_us");
  };
  CHECK(seven_percent({}) == Outcome::regression);
  CHECK(seven_percent({{"throttle", "sw_power_cap"}}) == Outcome::same);
  CHECK(seven_percent({{"throttle", "sw_power_cap"}, {"rest", "3"}}) == Outcome::regression);
  const GateReport hot =
      gate({{}, {{"seqlen_q", "77"}}}, {{}, {{"seqlen_q", "77"}, {"throttle", "sw_power_cap"}}});
  REQUIRE(hot.warnings.size() == 1);
  CHECK(hot.warnings[0].find("1 of 2 cases ran while") == 0);
  CHECK(hot.warnings[0].find("--rest 3") != std::string::npos);
  CHECK(gate({{}}, {{}}).warnings.empty());
}

TEST_CASE("counted bytes and FLOPs are exact: one more is seen", "[gate]") {
  CHECK(outcome(counted(), counted({{"hbm_read_bytes", "3000001"}}), "hbm_read_bytes") ==
        Outcome::regression);
  CHECK(outcome(counted(), counted({{"hbm_write_bytes", "999999"}}), "hbm_write_bytes") ==
        Outcome::improvement);
  CHECK(outcome({}, {{"executed_flops", "2100001"}}, "executed_flops") == Outcome::regression);
  CHECK(outcome({}, {{"workspace_bytes", "1"}}, "workspace_bytes") == Outcome::regression);
  CHECK(about(gate({counted()}, {counted({{"hbm_read_bytes", "3000001"}})}), "hbm_read_bytes").change ==
        "+1");
  CHECK(exit_of({counted()}, {counted({{"hbm_read_bytes", "3000001"}})}) == 1);
}

TEST_CASE("measured bytes and FLOPs have one percent, bytes also what the machine itself moves", "[gate]") {
  const Cells large{{"hbm_read_bytes", "1000000000"}};
  CHECK(outcome(large, {{"hbm_read_bytes", "1009000000"}}, "hbm_read_bytes") == Outcome::same);
  CHECK(outcome(large, {{"hbm_read_bytes", "1011000000"}}, "hbm_read_bytes") == Outcome::regression);
  CHECK(outcome({}, {{"hbm_read_bytes", "3200000"}}, "hbm_read_bytes") == Outcome::same);  // 200 kB
  CHECK(outcome({}, {{"hbm_read_bytes", "3400000"}}, "hbm_read_bytes") == Outcome::regression);
  CHECK(outcome({}, {{"tensor_flops", "2019000"}}, "tensor_flops") == Outcome::same);
  CHECK(outcome({}, {{"tensor_flops", "2021000"}}, "tensor_flops") == Outcome::regression);
}

TEST_CASE("a baseline of 0 divides nothing, and nothing prints as infinite", "[gate]") {
  CHECK(outcome({{"workspace_bytes", "0"}}, {{"workspace_bytes", "0"}}, "workspace_bytes") == Outcome::same);
  const GateReport more = gate({{{"workspace_bytes", "0"}}}, {{{"workspace_bytes", "5"}}});
  CHECK(about(more, "workspace_bytes").outcome == Outcome::regression);
  CHECK(about(more, "workspace_bytes").change == "+5");
  CHECK(outcome({{"workspace_bytes", "5"}}, {{"workspace_bytes", "0"}}, "workspace_bytes") ==
        Outcome::improvement);
  const GateReport measured = gate({{{"hbm_read_bytes", "0"}}}, {{{"hbm_read_bytes", "3000000"}}});
  CHECK(about(measured, "hbm_read_bytes").outcome == Outcome::regression);
  CHECK(about(measured, "hbm_read_bytes").change == "+3000000");
  CHECK_THROWS_AS(gate({{{"time_us", "0"}}}, {{}}), UsageError);  // an invalid baseline: exit code 2
  CHECK_THROWS_AS(gate({{}}, {{{"time_us", "0"}}}), UsageError);
}

TEST_CASE("a figure that one side lacks cannot be judged, and that is said", "[gate]") {
  CHECK(exit_of({{{"hbm_read_bytes", ""}}}, {{}}) == 3);
  CHECK(about(gate({{{"hbm_read_bytes", ""}}}, {{}}), "hbm_read_bytes").reason ==
        "no data in the baseline; renew it with --update");
  CHECK(exit_of({{{"hbm_read_bytes", ""}}}, {{{"hbm_read_bytes", ""}}}) == 0);
  // A column that the baseline's version did not write was not promised.
  std::vector<std::string> older = all_columns();
  older.erase(std::find(older.begin(), older.end(), "executed_flops"));
  const RowFile old = rows_of(parse_csv(csv_with_columns(older, {{}}), "old.csv"));
  CHECK(exit_code(judge_rows({old}, {file_of({{}}, "new.csv")}, {})) == ExitCode::ok);
  CHECK(exit_of({{}}, {{{"hbm_read_bytes", ""}, {"counters_status", "permission"}}}) == 3);
  CHECK(about(gate({{}}, {{{"hbm_read_bytes", ""}, {"counters_status", "permission"}}}), "hbm_read_bytes")
            .reason.find("permission") != std::string::npos);
  const Cells untimed{{"time_us", ""}, {"time_lo_us", ""}, {"time_hi_us", ""}};
  CHECK(exit_of({{}}, {untimed}) == 3);
  CHECK(exit_of({untimed}, {{}}) == 3);  // a baseline without times must not let every time pass
  CHECK(exit_of({{}}, {{{"time_lo_us", ""}, {"time_hi_us", ""}}}) == 3);
  const Cells unresolved{{"below_resolution", "1"}};
  CHECK(exit_of({unresolved}, {unresolved}) == 0);
  CHECK(exit_of({{}}, {unresolved}) == 3);  // one of them alone would let any time pass
  CHECK(exit_of({unresolved}, {{}}) == 3);
  CHECK(exit_of({{}}, {{{"bytes_source", "counted"}}}) == 3);  // never one held against the other
}

TEST_CASE("fewer bytes than any algorithm needs, and no arithmetic at all, are no improvement", "[gate]") {
  const Cells before{
      {"hbm_read_bytes", "3000000"}, {"hbm_write_bytes", "1000000"}, {"min_hbm_bytes", "2000000"}};
  const auto with = [&before](const char* read, const char* write) {
    Cells cells = before;
    cells["hbm_read_bytes"] = read, cells["hbm_write_bytes"] = write;
    return cells;
  };
  CHECK(exit_of({before}, {with("0", "0")}) == 3);
  CHECK(about(gate({before}, {with("0", "0")}), "hbm_read_bytes").reason.find("compulsory") !=
        std::string::npos);
  CHECK(exit_of({before}, {with("1500000", "600000")}) == 0);
  CHECK(exit_of({with("0", "0")}, {with("0", "0")}) == 0);  // served by a cache before, too
  CHECK(exit_of({{}}, {{{"executed_flops", "0"}}}) == 3);
}

TEST_CASE("a case that was ok and is not any more is a regression; a wrong result is worse", "[gate]") {
  const Cells empty{{"time_us", ""},         {"time_lo_us", ""},   {"time_hi_us", ""}, {"hbm_read_bytes", ""},
                    {"hbm_write_bytes", ""}, {"tensor_flops", ""}, {"rel_err", ""}};
  const auto with = [&empty](const char* status) {
    Cells cells = empty;
    cells["status"] = status;
    cells["message"] = "because";
    return cells;
  };
  for (const char* status : {"failed", "oom", "unsupported", "skipped", "no-samples"}) {
    INFO(status);
    CHECK(exit_of({{}}, {with(status)}) == 1);
    CHECK(exit_of({with(status)}, {with(status)}) == 0);
    CHECK(exit_of({with(status)}, {{}}) == 0);
    CHECK(about(gate({{}}, {with(status)}), "status").reason == "because");
  }
  CHECK(exit_of({{}}, {with("verify-failed")}) == 4);
  CHECK(exit_of({with("verify-failed")}, {with("verify-failed")}) == 4);
  CHECK(exit_of({{}}, {{{"rel_err", "0.5"}}}) == 4);  // ok, says the row; its own figures say otherwise
  CHECK(exit_of({{}}, {{{"rel_err", ""}}}) == 1);     // no longer verified
  CHECK(exit_of({{}}, {with("verify-failed")}, only({})) == 4);  // no policy hides a wrong result
  CHECK(exit_of({{}}, {{}, {{"impl", "flash9"}, {"rel_err", "0.5"}}}) == 4);
}

TEST_CASE("nothing is compared with a row that is not verified", "[gate]") {
  const GateReport report = gate({{{"rel_err", ""}}}, {time_cells(500)});
  CHECK(report.times == 0);
  CHECK(exit_code(report) == ExitCode::unavailable);
  CHECK(about(report, "status").reason == "the baseline is not verified: no rel_err; renew it with --update");
}

TEST_CASE("missing cases fail, new ones warn, each as its policy says", "[gate]") {
  const std::vector<Cells> one{{}}, two{{}, {{"impl", "naive"}}};
  CHECK(exit_of(two, one) == 1);
  CHECK(exit_of(one, two) == 0);
  CHECK(about(gate(two, one), "missing").file == "ref.csv");
  CHECK(about(gate(two, one), "missing").line == 3);
  GateOptions swapped;
  swapped.thresholds.global.of(Subject::missing) = Policy::ignore;
  swapped.thresholds.global.of(Subject::added) = Policy::fail;
  CHECK(exit_of(two, one, swapped) == 0);
  CHECK(exit_of(one, two, swapped) == 1);
}

TEST_CASE("every input axis is part of what a case is", "[gate]") {
  for (const Cells& other : {Cells{{"dtype", "fp16"}},
                             {{"window", "64"}},
                             {{"scale", "0.5"}},
                             {{"batch", "8"}},
                             {{"kv_heads", "4"}},
                             {{"fill", "zeros"}},
                             {{"tile_m", "64"}, {"tile_n", "64"}}}) {
    INFO(other.begin()->first);
    const GateReport report = gate({{}}, {other});
    CHECK(report.cases == 0);
    CHECK(exit_code(report) == ExitCode::regression);  // the baseline's case is missing
  }
  CHECK(about(gate({{}}, {{{"seed", "2"}}}), "missing").reason ==
        "the new file has it with seed 2 instead of 1");
}

TEST_CASE("two rows of one case are refused, and a renamed column is named", "[gate]") {
  CHECK_THROWS_AS(gate({{}}, {{}, time_cells(90)}), UsageError);
  std::string csv = csv_of({{}});
  csv.replace(csv.find("seqlen_q"), 8, "seqlen_x");
  const std::string error = error_of([&] { rows_of(parse_csv(csv, "f.csv")); }, ExitCode::usage);
  CHECK(error.find("seqlen_q") != std::string::npos);
}

TEST_CASE("another driver or board: times are not judged, the rest is", "[gate]") {
  for (const Cells& other : {Cells{{"driver", "575.1"}}, {{"device_uuid", "GPU-2"}}}) {
    Cells slow = time_cells(900);
    slow.insert(other.begin(), other.end());
    CHECK(exit_of({{}}, {slow}) == 3);
    CHECK(about(gate({{}}, {slow}), "hbm_read_bytes").outcome == Outcome::same);
    CHECK(exit_of({{}}, {slow}, only({Subject::bytes, Subject::flops})) == 0);
    slow["workspace_bytes"] = "7";
    CHECK(exit_of({{}}, {slow}) == 1);  // found all the same
    slow["workspace_bytes"] = "0";
    GateOptions allow;
    allow.allow_device_mismatch = true;
    CHECK(exit_of({{}}, {slow}, allow) == 1);
    CHECK(gate({{}}, {slow}, allow).warnings.size() == 1);
  }
}

TEST_CASE("another model of GPU: measured bytes are not judged either, counted and modelled ones are",
          "[gate]") {
  const Cells h100{{"device_name", "NVIDIA H100"}, {"device_uuid", "GPU-3"}, {"hbm_read_bytes", "9000000"}};
  const GateReport report = gate({{}}, {h100});
  CHECK(exit_code(report) == ExitCode::unavailable);
  CHECK(about(report, "hbm_read_bytes").outcome == Outcome::refused);
  CHECK(about(report, "executed_flops").outcome == Outcome::same);
  const Cells other_cpu = counted({{"device_name", "Intel Xeon"}, {"hbm_read_bytes", "3000001"}});
  CHECK(about(gate({counted()}, {other_cpu}), "hbm_read_bytes").outcome == Outcome::regression);
}

TEST_CASE("a GPU's rows against a CPU's are refused with a code of their own", "[gate]") {
  const std::string error = error_of([] { gate({{}}, {counted()}); }, ExitCode::unavailable);
  CHECK(error.find("NVIDIA H200") != std::string::npos);
  CHECK(error.find("AMD EPYC") != std::string::npos);
}

TEST_CASE("another number of threads or another tile is said, not just missing", "[gate]") {
  CHECK(about(gate({counted()}, {counted({{"threads", "4"}})}), "missing").reason ==
        "the new file has it with threads 4 instead of 2");
}

TEST_CASE("rows about single kernels of a launch are not cases of their own", "[gate]") {
  const Cells part{{"kernel", "softmax"}, {"time_lo_us", ""}, {"time_hi_us", ""}, {"hbm_read_bytes", "9"}};
  CHECK(exit_of({{}, part}, {{}, part}) == 0);
  CHECK(exit_of({{}, part}, {{}}) == 0);
  const GateReport report = gate({{}, part}, {{}, part});
  CHECK(report.cases == 1);
  CHECK(about(report, "hbm_read_bytes").before == "3000000");
}

TEST_CASE("repeats come as files of one build, of one machine", "[gate]") {
  const auto run = [](double us) { return file_of({time_cells(us)}, "run.csv"); };
  // 6% apart themselves: 5% more is no news. Without them it is.
  CHECK(exit_code(judge_rows({run(100), run(106), run(97)}, {run(106)}, {})) == ExitCode::ok);
  CHECK(exit_code(judge_rows({run(100)}, {run(106)}, {})) == ExitCode::regression);
  const RowFile other = file_of({{{"device_name", "NVIDIA H100"}}}, "other.csv");
  const std::string error = error_of([&] { judge_rows({run(100), other}, {run(100)}, {}); }, ExitCode::usage);
  CHECK(error.find("other.csv:2") != std::string::npos);
}

TEST_CASE("the codes' order: wrong, then worse, then not judged", "[gate]") {
  const Cells slow = time_cells(300);
  const Cells unjudged{{"impl", "flash2"}, {"time_us", ""}, {"time_lo_us", ""}, {"time_hi_us", ""}};
  const Cells wrong{{"impl", "naive"}, {"rel_err", "0.5"}};
  const std::vector<Cells> before{{}, {{"impl", "flash2"}}, {{"impl", "naive"}}};
  CHECK(exit_of(before, {{}, unjudged, {{"impl", "naive"}}}) == 3);
  CHECK(exit_of(before, {slow, unjudged, {{"impl", "naive"}}}) == 1);
  CHECK(exit_of(before, {slow, unjudged, wrong}) == 4);
}

TEST_CASE("a file of several devices: each is held against itself, and one without a counterpart is named",
          "[gate]") {
  const auto a100 = [](Cells cells) {
    cells.insert({{"device_name", "NVIDIA A100"}, {"device_uuid", "GPU-9"}});
    return cells;
  };
  const Cells naive{{"impl", "naive"}};
  // The same keys, and one that only the A100 has: the new file was measured on one of the machines.
  const std::vector<Cells> both{{}, a100(time_cells(400)), a100(naive)};
  const GateReport one = gate(both, {{}});
  CHECK(exit_code(one) == ExitCode::ok);
  CHECK(one.cases == 1);
  REQUIRE(one.warnings.size() == 1);
  CHECK(one.warnings[0] ==
        "ref.csv: 2 rows of NVIDIA A100 have no counterpart: the new file holds none of that device");
  const GateReport reversed = gate({{}}, both);
  CHECK(exit_code(reversed) == ExitCode::ok);
  REQUIRE(reversed.warnings.size() == 1);
  CHECK(reversed.warnings[0] ==
        "new.csv: 2 rows of NVIDIA A100 have no counterpart: the baseline holds none of that device");
  CHECK(exit_of({{}}, {{}, a100({{"rel_err", "0.5"}})}) == 4);  // wrong is wrong on any device
  // Whichever of them comes first, and each is judged.
  const GateReport slower = gate(both, {a100(time_cells(500)), a100(naive), {}});
  CHECK(slower.cases == 3);
  CHECK(slower.warnings.empty());
  size_t fails = 0;
  for (const Finding& f : slower.findings) {
    if (!f.fails()) continue;
    ++fails;
    CHECK(f.before == "400 us");
    CHECK(f.after == "500 us");
  }
  CHECK(fails == 1);
  CHECK(exit_of(both, {{}, a100(time_cells(400))}) == 1);  // the new file has the device, not the case
}

TEST_CASE(
    "boards of one model: each against itself, a board that is gone is named, a lone one judged as before",
    "[gate]") {
  const Cells second{{"device_uuid", "GPU-2"}};
  const GateReport gone = gate({{}, second}, {{}});
  REQUIRE(gone.warnings.size() == 1);
  CHECK(gone.warnings[0] ==
        "ref.csv: 1 row of NVIDIA H200 GPU-2 has no counterpart: the new file holds none of that device");
  // A whole backend that is gone is missing, as ever.
  CHECK(exit_of({{}, counted()}, {{}}) == 1);
  CHECK(gate({{}, counted()}, {{}}).warnings.empty());
  // Another board, and a case that was not measured there: that is no matter of the device.
  CHECK(exit_of({{}, {{"impl", "naive"}}}, {second}) == 1);
  const RowFile one = file_of({{}, second}, "one.csv"), two = file_of({second, {}}, "two.csv");
  CHECK(judge_rows({one, two}, {one}, {}).cases == 2);  // repeats of both
}
