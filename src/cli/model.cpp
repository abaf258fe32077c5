// attnprof model: what theory says, with no run and for any named GPU.
#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "cli/axis_options.hpp"
#include "cli/commands.hpp"
#include "cli/config_file.hpp"
#include "cli/typed.hpp"
#include "core/bound.hpp"
#include "core/error.hpp"
#include "core/paper_model.hpp"
#include "core/theory.hpp"
#include "implementations.hpp"
#include "measure/plan.hpp"
#include "rows/columns.hpp"
#include "rows/csv.hpp"
#include "rows/table.hpp"
#include "state/tuned_files.hpp"

namespace attnprof {
namespace {

struct ModelOptions {
  AxisOptions axes;
  std::string gpu = "H200";
  std::string csv;
  bool overwrite = false;
};

/// "68.7 GB (64 GiB)": the decimal unit of rates, and the binary one that memory sizes are quoted in.
std::string bytes_text(int64_t bytes) {
  constexpr double kGib = 1024.0 * 1024.0 * 1024.0;
  const double gib = static_cast<double>(bytes) / kGib;
  const std::string binary =
      gib >= 0.1 ? fmt::format("{:.4g} GiB", gib) : fmt::format("{:.4g} MiB", gib * 1024.0);
  return fmt::format("{} ({})", human_bytes(static_cast<double>(bytes)), binary);
}

void print_problem(const Problem& p) {
  const int64_t heads = p.batch * p.heads;
  fmt::print("{}\n", describe(p));
  const auto line = [](const char* name, const std::string& value) {
    fmt::print("  {:<28} {}\n", name, value);
  };
  line("visible pairs, one head", fmt::format("{}", visible_pairs(p)));
  line("score slots, one head", fmt::format("{}", score_slots(p)));
  line("FLOPs of the products",
       fmt::format("{:.4g} GFLOP ({} exactly)", static_cast<double>(algorithmic_flops(p)) / 1e9,
                   algorithmic_flops(p)));
  line("compulsory bytes", bytes_text(compulsory_traffic(p).total()));
  line("score matrix, all heads", bytes_text(score_matrix_bytes(p)));
  line("score matrix, one head", bytes_text(score_matrix_bytes(p) / heads));
  line("row statistics (LSE)", bytes_text(lse_bytes(p)));
}

void print_row(const PlannedRow& row, const GpuModel& gpu) {
  const KernelConfig& c = row.planned.config;
  const std::string name =
      c.tile_m == 0 ? row.planned.impl : fmt::format("{} {}x{}", row.planned.impl, c.tile_m, c.tile_n);
  if (row.status != Status::ok) {
    fmt::print("  {:<16} {}: {}\n", name, to_string(row.status), row.reason);
    return;
  }
  const Prediction time = predict(row.planned.problem, row.model, gpu);
  std::string slots;  // scores held at once, where the schedule says
  if (c.tile_m != 0) slots = fmt::format("{} score slots; ", int64_t{c.tile_m} * c.tile_n);
  if (row.impl->materializes) slots = fmt::format("{} score slots; ", score_slots(row.planned.problem));
  fmt::print("  {:<16} {:>9} read, {:>9} written; workspace {:>9}; {} executed; {}at least {} ({})\n", name,
             human_bytes(static_cast<double>(row.model.hbm.read_bytes)),
             human_bytes(static_cast<double>(row.model.hbm.write_bytes)),
             human_bytes(static_cast<double>(row.workspace_bytes)),
             fmt::format("{:.4g} GFLOP", static_cast<double>(row.model.executed_flops) / 1e9), slots,
             human_time_us(time.total_us), time.bound);
}

/// The papers' counts for the pass: what the forward-only implementations cannot show.
void print_papers(const Problem& p, const GpuModel& gpu) {
  const auto total = [](const Traffic& t) { return human_bytes(static_cast<double>(t.total())); };
  fmt::print(
      "  in the FlashAttention paper's counting, {}: standard {}; with mask and dropout as separate steps "
      "{}; FlashAttention {}\n",
      to_string(p.pass), total(standard_traffic(p)), total(unfused_traffic(p)),
      total(flash_traffic(p, gpu.onchip_bytes)));
}

int run_model(const ModelOptions& o) {
  const GpuModel& gpu = find_gpu_model(o.gpu);
  const DeviceInfo device = device_info(gpu);
  const std::vector<PlannedRow> rows =
      plan(planned_cases(o.axes, device.kind), device, find_implementation, load_tuned(o.axes.tuned));
  if (!o.csv.empty()) {
    if (!o.overwrite) refuse_losing("--csv", o.csv, "another file, or --overwrite");
    RunConditions conditions;
    conditions.tool_version = ATTNPROF_VERSION;
    const std::unique_ptr<Sink> sink = open_csv(o.csv, false);
    for (const PlannedRow& row : rows) {
      Record record = blank_record(row, device, conditions);
      if (record.status == Status::ok) {
        record.status = Status::skipped;
        record.message = "model only, not run";
      }
      sink->write(row_of(record));
    }
    if (o.csv == "-") return 0;
  }
  fmt::print("{}: {:.0f} GB/s, {:.0f} TFLOP/s (bf16, dense); datasheet values, so times are lower bounds\n",
             gpu.name, gpu.hbm_gbps, gpu.bf16_tflops);
  for (const auto& [begin, end] : group_by_problem(rows)) {
    fmt::print("\n");
    const Problem& p = rows[begin].planned.problem;
    if (rows[begin].status == Status::skipped) {
      fmt::print("{}\n  {}\n", describe(p), rows[begin].reason);
      continue;
    }
    print_problem(p);
    for (size_t i = begin; i < end; ++i) print_row(rows[i], gpu);
    print_papers(p, gpu);
  }
  return 0;
}

}  // namespace

void add_model(CommandLine& line) {
  auto options = std::make_shared<ModelOptions>();
  Command& command =
      line.add("model", "Predict FLOPs, bytes, memory and a lower bound of the time; nothing is run");
  command.option("--gpu", options->gpu, "GPU to model: A100-80GB, H100, H200, ...").shows_default();
  command.option("--csv", options->csv, "Write the modelled rows to FILE; - for stdout").type_name("FILE");
  command.flag("--overwrite", options->overwrite, "Write FILE anew, also when it holds something");
  setup_axis_options(command, options->axes);
  command.action([&command, options] {
    apply_config_file(command, options->axes.config_file);
    return run_model(*options);
  });
}

}  // namespace attnprof
