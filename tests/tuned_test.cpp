// The tuned table: which row a problem gets, files that cannot be right, and the rows that ship.
#include "core/tuned.hpp"

#include "catch.hpp"
#include "core/embedded_file.hpp"
#include "core/error.hpp"
#include "fake_device.hpp"
#include "implementations.hpp"
#include "measure/plan.hpp"
#include "state/tuned_csv.hpp"
#include "state/tuned_files.hpp"

using namespace attnprof;

namespace {

DeviceInfo hopper() {
  DeviceInfo d;
  d.kind = DeviceKind::gpu;
  d.name = "NVIDIA H200";
  d.compute_capability = 90;
  d.multiprocessors = 132;
  d.smem_per_block_bytes = 232448;
  d.last_level_cache_bytes = 60 << 20;
  return d;
}

Problem shape(int64_t head_dim, int64_t seqlen, bool causal = false, int64_t window = 0) {
  Problem p;
  p.head_dim = head_dim;
  p.seqlen_q = p.seqlen_kv = seqlen;
  p.causal = causal;
  p.window = window;
  return p;
}

TunedEntry entry(int64_t head_dim, int64_t seqlen_kv, int tile_m) {
  TunedEntry e;
  e.key.impl = "flash3";
  e.key.compute_capability = 90;
  e.key.axes["head_dim"] = head_dim;
  e.key.axes["seqlen_kv"] = seqlen_kv;
  e.config = {.tile_m = tile_m, .tile_n = 64};
  return e;
}

int chosen(const std::vector<TunedEntry>& table, const Problem& p) {
  const TunedEntry* found = find_tuned(table, "flash3", p, hopper());
  return found == nullptr ? 0 : found->config.tile_m;
}

bool anything(std::string_view, DeviceKind) {
  return true;
}

constexpr const char* kHead =
    "impl,device,compute_capability,dtype,head_dim,causal,window,seqlen_kv,tile_m,tile_n,stages,warps\n";

std::string complaint(const std::string& rows) {
  try {
    parse_tuned(kHead + rows, "my.csv", [](std::string_view impl, DeviceKind) { return impl == "flash3"; });
    return "";
  } catch (const UsageError& e) {
    return e.what();
  }
}

}  // namespace

TEST_CASE("the nearest row holds: smallest head_dim that covers, longest sequence that was reached",
          "[tuned]") {
  const std::vector<TunedEntry> table = {entry(128, 0, 1), entry(128, 2048, 2), entry(96, 1024, 3)};
  CHECK(chosen(table, shape(128, 512)) == 1);
  CHECK(chosen(table, shape(128, 2047)) == 1);
  CHECK(chosen(table, shape(128, 2048)) == 2);
  CHECK(chosen(table, shape(128, 1 << 20)) == 2);
  CHECK(chosen(table, shape(96, 4096)) == 3);
  CHECK(chosen(table, shape(96, 512)) == 1);  // the row of 96 begins at 1024
  CHECK(chosen(table, shape(136, 4096)) == 0);
}

TEST_CASE("a row reaches down to half its head_dim, not to widths that fill registers differently",
          "[tuned]") {
  CHECK(chosen({entry(128, 0, 1)}, shape(65, 512)) == 1);
  CHECK(chosen({entry(128, 0, 1)}, shape(64, 512)) == 0);
}

TEST_CASE("masks: empty is any, window 0 is none, window W holds from W keys on", "[tuned]") {
  std::vector<TunedEntry> table = {entry(64, 0, 1), entry(64, 0, 2), entry(64, 0, 3), entry(64, 0, 4)};
  table[1].key.axes["causal"] = int64_t{1};
  table[2].key.axes["window"] = int64_t{0};
  table[2].key.axes["causal"] = int64_t{1};
  table[3].key.axes["window"] = int64_t{256};
  CHECK(chosen(table, shape(64, 512)) == 1);
  CHECK(chosen(table, shape(64, 512, true)) == 3);
  CHECK(chosen(table, shape(64, 512, true, 100)) == 2);
  CHECK(chosen(table, shape(64, 512, false, 256)) == 4);
  CHECK(chosen(table, shape(64, 512, false, 255)) == 1);
}

TEST_CASE("a row is for one implementation, kind and capability of device, and name or dtype if it has one",
          "[tuned]") {
  const Problem p = shape(64, 512);
  TunedEntry e = entry(64, 0, 1);
  CHECK(fits(e.key, "flash3", p, hopper()));
  CHECK_FALSE(fits(e.key, "flash2", p, hopper()));
  DeviceInfo other = hopper();
  other.compute_capability = 100;
  CHECK_FALSE(fits(e.key, "flash3", p, other));
  other.compute_capability = 90;
  other.kind = DeviceKind::host;
  CHECK_FALSE(fits(e.key, "flash3", p, other));
  e.key.device_name = "NVIDIA H100";
  CHECK_FALSE(fits(e.key, "flash3", p, hopper()));
  e.key.device_name = "NVIDIA H200";
  CHECK(fits(e.key, "flash3", p, hopper()));
  e.key.axes["dtype"] = "fp16";
  CHECK_FALSE(fits(e.key, "flash3", p, hopper()));
}

TEST_CASE("the user's row goes before a shipped one of the same lengths, not before a nearer one",
          "[tuned]") {
  std::vector<TunedEntry> table = {entry(128, 0, 1), entry(128, 2048, 2)};
  table[0].key.axes["causal"] = int64_t{0};  // says more, and is still not the user's
  table.push_back(entry(128, 0, 3));
  table.back().users = true;
  CHECK(chosen(table, shape(128, 512)) == 3);
  CHECK(chosen(table, shape(128, 4096)) == 2);
}

TEST_CASE("what was asked for stays; stages and warps come only with the entry's own tile", "[tuned]") {
  TunedEntry e = entry(64, 0, 128);
  e.config = {.tile_m = 128, .tile_n = 96, .stages = 3, .warps = 12};
  CHECK(with_tuned({}, e) == e.config);
  CHECK(with_tuned({.stages = 2}, e) == KernelConfig{128, 96, 2, 12});
  CHECK(with_tuned({.tile_m = 64, .tile_n = 96}, e) == KernelConfig{64, 96, 0, 0});
  CHECK(with_tuned({.tile_m = 128, .tile_n = 96}, e) == e.config);
}

TEST_CASE("a planned row takes the tuned tile, and the implementation's own where that is refused",
          "[tuned]") {
  const DeviceInfo device = hopper();
  const Implementation& flash3 = find_implementation("flash3", device);
  const Problem p = shape(128, 4096);
  std::vector<TunedEntry> table = {entry(128, 0, 64)};
  CHECK(choose_config(flash3, p, {}, device, table).tile_m == 64);
  CHECK(choose_config(find_implementation("flash3-tma", device), p, {}, device, table).tile_m == 64);
  CHECK(choose_config(flash3, p, {.tile_m = 128, .tile_n = 128}, device, table).tile_m == 128);
  table[0].config.tile_m = 80;  // not a multiple of a warpgroup's rows
  CHECK(choose_config(flash3, p, {}, device, table) == choose_config(flash3, p, {}, device, {}));
}

TEST_CASE("a tuned file that cannot be right is refused with file, line, column and what would be right",
          "[tuned]") {
  const std::string good = "flash3,gpu,9.0,,128,,,0,128,128,2,\n";
  CHECK(complaint(good) == "");
  struct Bad {
    const char* row;
    const char* says;
  };
  for (const Bad& bad :
       {Bad{"flash9,gpu,9.0,,128,,,0,128,128,2,", "column 'impl': 'flash9' is not an implementation"},
        Bad{"flash3,tpu,9.0,,128,,,0,128,128,2,", "column 'device': 'tpu' is not cpu or gpu"},
        Bad{"flash3,gpu,9,,128,,,0,128,128,2,", "column 'compute_capability': '9' is not of the form 9.0"},
        Bad{"flash3,gpu,,,128,,,0,128,128,2,", "column 'compute_capability'"},
        Bad{"flash3,cpu,9.0,,128,,,0,128,128,2,", "column 'compute_capability'"},
        Bad{"flash3,gpu,9.0,int8,128,,,0,128,128,2,", "column 'dtype': 'int8'"},
        Bad{"flash3,gpu,9.0,,0,,,0,128,128,2,", "column 'head_dim': '0' is not a whole number in 1.."},
        Bad{"flash3,gpu,9.0,,,,,0,128,128,2,", "column 'head_dim': ''"},
        Bad{"flash3,gpu,9.0,,128,yes,,0,128,128,2,", "column 'causal': 'yes' is not 0, 1, or empty"},
        Bad{"flash3,gpu,9.0,,128,,-1,0,128,128,2,", "column 'window': '-1'"},
        Bad{"flash3,gpu,9.0,,128,,,1e3,128,128,2,", "column 'seqlen_kv': '1e3'"},
        Bad{"flash3,gpu,9.0,,128,,,0,0,128,2,", "column 'tile_m': '0'"},
        Bad{"flash3,gpu,9.0,,128,,,0,128,99999999999,2,", "column 'tile_n'"},
        Bad{"flash3,gpu,9.0,,128,,,0,128,128,two,", "column 'stages': 'two'"},
        Bad{"flash3,gpu,9.0,,128,,,0,128,64,1,", "the same case as line 2"},
        Bad{"flash3,gpu,9.0,,128", "has 5 cells"}}) {
    INFO(bad.row);
    const std::string said = complaint(good + bad.row + "\n");
    CHECK(said.find("my.csv:3: ") == 0);
    CHECK(said.find(bad.says) != std::string::npos);
  }
  CHECK(complaint(good + "flash3,gpu,9.0").find("no line end, so it may be cut") != std::string::npos);
  CHECK_THROWS_AS(parse_tuned("impl,device\n", "my.csv", anything), UsageError);
  CHECK_THROWS_AS(parse_tuned("", "my.csv", anything), UsageError);
}

TEST_CASE("a tuned table survives being written and read", "[tuned]") {
  TunedEntry e = entry(128, 2048, 192);
  e.key.axes["causal"] = int64_t{1};
  e.key.axes["window"] = int64_t{0};
  e.key.axes["dtype"] = "bf16";
  e.key.device_name = "A, \"B\"";
  e.config = {.tile_m = 192, .tile_n = 80, .stages = 3, .warps = 16};
  e.time_us = 100.25;
  e.default_time_us = 103.5;
  e.speedup = 1.03;
  e.speedup_lo = 1.02;
  e.message = "was 128x128, 2 stages";
  const std::string text = tuned_csv({e, entry(64, 0, 64)});
  const std::vector<TunedEntry> back = parse_tuned(text, "f.csv", anything);
  REQUIRE(back.size() == 2);
  CHECK(back[1].key == e.key);
  CHECK(back[1].config == e.config);
  CHECK(back[1].time_us == e.time_us);
  CHECK(back[1].speedup_lo == e.speedup_lo);
  CHECK_FALSE(back[1].speedup_hi);
  CHECK(back[1].message == e.message);
  CHECK(tuned_csv(back) == text);
}

TEST_CASE("putting a row replaces the one of the same key and leaves the others", "[tuned]") {
  std::vector<TunedEntry> table = {entry(64, 0, 1), entry(128, 0, 2)};
  put_tuned(table, entry(128, 0, 3));
  put_tuned(table, entry(128, 1024, 4));
  REQUIRE(table.size() == 3);
  CHECK(table[0].config.tile_m == 1);
  CHECK(table[1].config.tile_m == 3);
  CHECK(table[2].config.tile_m == 4);
}

TEST_CASE("every shipped row is a tile that its implementation accepts, and the choice at its own place",
          "[tuned]") {
  const DeviceInfo device = hopper();
  std::vector<TunedEntry> shipped = load_tuned("");
  std::erase_if(shipped, [](const TunedEntry& e) { return e.users; });
  CHECK_FALSE(shipped.empty());
  for (const TunedEntry& e : shipped) {
    const auto named = [&e](const char* axis, int64_t otherwise) {
      const auto at = e.key.axes.find(axis);
      return at == e.key.axes.end() ? otherwise : std::get<int64_t>(at->second);
    };
    INFO(e.key.impl << " head_dim " << named("head_dim", 0) << " from " << named("seqlen_kv", 0) << ": "
                    << e.config.tile_m << "x" << e.config.tile_n);
    // Measured rows are without a window: what is left to a row for any window are problems with one.
    Problem p = shape(named("head_dim", 0), std::max<int64_t>(named("seqlen_kv", 0), 16),
                      named("causal", 0) != 0, named("window", 100));
    CHECK(e.key.axes.count("dtype") == 0);
    CHECK(find_tuned(shipped, e.key.impl, p, device) == &e);
    const Implementation& impl = find_implementation(e.key.impl, device);
    const KernelConfig config = choose_config(impl, p, {}, device, {e});
    CHECK(config.tile_m == e.config.tile_m);
    CHECK(config.tile_n == e.config.tile_n);
    CHECK_FALSE(refusal(impl, {p, e.key.impl, config}, device));
  }
}

TEST_CASE("with none, every implementation follows its own rule", "[tuned]") {
  CHECK(load_tuned("none").empty());
}

TEST_CASE("every tunable implementation offers candidates that it accepts itself, none twice", "[tuned]") {
  DeviceInfo host;
  host.multiprocessors = 2;
  host.smem_per_block_bytes = 1 << 20;
  int tunable = 0;
  for (const Implementation& impl : registry()) {
    if (impl.candidates == nullptr) continue;
    ++tunable;
    const DeviceInfo device = impl.device == DeviceKind::gpu ? hopper() : host;
    for (const int64_t head_dim : {40, 64, 128, 256}) {
      for (const bool causal : {false, true}) {
        const Problem p = shape(head_dim, 4096, causal);
        const std::vector<KernelConfig> all = impl.candidates(p, device);
        INFO(impl.name << " head_dim " << head_dim << ": " << all.size() << " candidates");
        CHECK(all.size() >= 5);
        CHECK(all.size() <= 40);  // each is compiled
        for (const KernelConfig& k : all) {
          CHECK_FALSE(refusal(impl, {p, impl.name, k}, device));
          CHECK(impl.resolve(p, k, device) == k);
          CHECK(std::count(all.begin(), all.end(), k) == 1);
        }
      }
    }
  }
  CHECK(tunable == 3);  // fused on the CPU, flash2, flash3
}
