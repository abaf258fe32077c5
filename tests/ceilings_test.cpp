// Ceilings: measured, kept, read back, and never believed when they are of something else.
#include <fstream>
#include <iterator>
#include <limits>
#include <map>

#include "catch.hpp"
#include "core/error.hpp"
#include "core/utc.hpp"
#include "fake_device.hpp"
#include "host/host_device.hpp"
#include "host/peak.hpp"
#include "kept_ceilings.hpp"
#include "rows/csv.hpp"
#include "run_program.hpp"
#include "state/device_ceilings.hpp"
#include "temp_folder.hpp"
#include "text.hpp"

using namespace attnprof;

namespace {

CeilingReport a_report() {
  CeilingReport r;
  r.identity = {.kind = DeviceKind::gpu,
                .device_name = "NVIDIA \"H200\", 141 GB",
                .device_uuid = "GPU-1",
                .driver = "580.1",
                .cuda = "13.0",
                .power_limit_w = 700,
                .hostname = "",
                .tool_version = "0.1.0"};
  r.measured_at = "2026-11-29T18:04:05Z";
  r.list.scope = CeilingScope::full;
  r.list.values = {{"copy", std::nullopt, 4281.25, "GB/s", "1024 MiB; read plus written"},
                   {"matrix_bf16", std::nullopt, 804.5, "TFLOP/s", "a"},
                   {"matrix_fp16", std::nullopt, 773.5, "TFLOP/s", "a"},
                   {"fp32_fma", std::nullopt, 60.5, "TFLOP/s", "b"},
                   {"exp", std::nullopt, 4100, "Gexp/s", "c"},
                   {"launch_interval", std::nullopt, 1.25, "us", "d"},
                   {"copy_by_size", int64_t{1} << 20, 9000, "GB/s", "e"}};
  return r;
}

/// A device whose identity can be changed, and a measurement that counts how often it is asked.
struct Fixture {
  TempFolder folder;
  fake::FakeDevice device;
  CeilingRequest request;
  int measured = 0;
  std::string announced;
  double launch_us = 0;  ///< 0: not measured
  std::string message;   ///< what the measurement could not do

  Fixture() {
    request.folder = folder.path;
    request.hostname = "here";
    request.tool_version = "1";
  }
  CeilingReport get(CeilingScope scope = CeilingScope::full) {
    request.scope = scope;
    announced.clear();
    return device_ceilings(
        device, request, [this](const std::string& why) { announced = why; },
        [this](Device&, CeilingScope asked) {
          ++measured;
          CeilingList list;
          list.scope = asked;
          list.message = message;
          list.add({"copy", std::nullopt, 100.0 + measured, "GB/s", "fake"});
          if (launch_us > 0) list.add({"launch_interval", std::nullopt, launch_us, "us", "fake"});
          return list;
        });
  }
  std::filesystem::path file() const {
    return ceilings_file(folder.path, ceiling_identity(device.info(), "here", "1"));
  }
};

std::string error_of(const std::string& text) {
  try {
    parse_ceilings_csv(text, "c.csv");
  } catch (const UsageError& error) {
    return error.what();
  }
  return "";
}
std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const size_t at = text.find(from);
  REQUIRE(at != std::string::npos);
  return text.replace(at, from.size(), to);
}

}  // namespace

TEST_CASE("ceilings come back from CSV as they were", "[ceilings]") {
  const CeilingReport r = a_report();
  const CeilingReport back = parse_ceilings_csv(ceilings_csv(r), "c.csv");
  CHECK(back.identity == r.identity);
  CHECK(back.measured_at == r.measured_at);
  CHECK(back.list.scope == CeilingScope::full);
  CHECK(back.list.values == r.list.values);
}

TEST_CASE("a file of ceilings that cannot be right is refused with line and column", "[ceilings]") {
  const std::string good = ceilings_csv(a_report());
  CHECK(error_of(good).empty());
  CHECK(error_of(replaced(good, "4281.25", "-1"))
            .find("c.csv:2: column 'value': '-1' is not a positive number") != std::string::npos);
  CHECK(error_of(replaced(good, "4281.25", "nan")).find("column 'value'") != std::string::npos);
  CHECK(error_of(replaced(good, "4281.25", "")).find("column 'value'") != std::string::npos);
  CHECK(error_of(replaced(good, "gpu", "tpu")).find("neither cpu nor gpu") != std::string::npos);
  CHECK(error_of(replaced(good, "2026-11-29", "yesterday")).find("measured_at") != std::string::npos);
  CHECK(error_of(replaced(good, "matrix_bf16,,804.5,TFLOP/s,a,full", "matrix_bf16,,804.5,TFLOP/s,a,rows"))
            .find("c.csv:3") != std::string::npos);
  CHECK(error_of(replaced(good, ",unit", ",units")).find("no column 'unit'") != std::string::npos);
  CHECK(error_of(good.substr(0, good.rfind("copy_by_size") + 20)).find("no line end") != std::string::npos);
  CHECK(error_of(good.substr(0, good.find('\n') + 1)).find("holds no ceilings") != std::string::npos);
}

TEST_CASE("JSON and table say every value, the device, and whether it is cached", "[ceilings]") {
  CeilingReport r = a_report();
  const std::string json = ceilings_json(r);
  CHECK(json.find("\"device_name\":\"NVIDIA \\\"H200\\\", 141 GB\"") != std::string::npos);
  CHECK(json.find("{\"name\":\"copy\",\"bytes\":null,\"value\":4281.25,") != std::string::npos);
  CHECK(json.find("{\"name\":\"copy_by_size\",\"bytes\":1048576,\"value\":9000,") != std::string::npos);
  CHECK(json.find("\"cached\":0") != std::string::npos);
  CHECK(ceilings_table(r).find("measured now") != std::string::npos);
  r.age_s = 3 * 3600;
  const std::string table = ceilings_table(r);
  CHECK(table.find("cached, measured 3 h ago (2026-11-29T18:04:05Z)") != std::string::npos);
  CHECK(table.find("driver 580.1, CUDA 13.0, power limit 700 W") != std::string::npos);
  CHECK(table.find("4281 GB/s") != std::string::npos);
  CHECK(table.find("1 MiB     9000.0") != std::string::npos);
  CHECK(ceilings_json(r).find("\"cached\":1") != std::string::npos);
}

TEST_CASE("rows are held against the rate of their dtype, on the host always that of the fp32 units",
          "[ceilings]") {
  const CeilingList list = a_report().list;
  const DeviceCeilings gpu = rates_of(list, DeviceKind::gpu);
  CHECK(gpu.copy_gbps == 4281.25);
  CHECK(gpu.matrix_tflops(DType::bf16) == 804.5);
  CHECK(gpu.matrix_tflops(DType::fp16) == 773.5);
  CHECK(gpu.matrix_tflops(DType::fp32) == 60.5);
  CHECK(gpu.exp_gops == 4100);
  CHECK(gpu.launch_us == 1.25);
  const DeviceCeilings host = rates_of(list, DeviceKind::host);
  CHECK(host.matrix_tflops(DType::bf16) == 60.5);
  CHECK(host.matrix_tflops(DType::fp16) == 60.5);
}

TEST_CASE("of two lists the better value counts: the higher rate, the shorter time", "[ceilings]") {
  const CeilingList known = a_report().list;
  CeilingList again;
  again.add({"copy", std::nullopt, 4000, "GB/s", "again"});
  again.add({"exp", std::nullopt, 5000, "Gexp/s", "again"});
  again.add({"launch_interval", std::nullopt, 1.0, "us", "again"});
  again.add({"new", std::nullopt, 1, "GB/s", "again"});
  const CeilingList best = best_of(known, again);
  CHECK(best.scope == CeilingScope::full);
  CHECK(best.values.size() == known.values.size() + 1);
  CHECK(best.find("copy") == 4281.25);
  CHECK(best.find("exp") == 5000);
  CHECK(best.find("launch_interval") == 1.0);
  CHECK(best.find("new") == 1);
  CHECK(best_of(known, {}).values == known.values);
}

TEST_CASE("a sweep whose rows beat the cached ceilings measures those again, and keeps the better ones",
          "[ceilings][cli]") {
  const TempFolder folder;
  const std::string cache = "XDG_CACHE_HOME=" + folder.path.string();
  const std::filesystem::path file = keep_ceilings(folder.path, 1e-6);  // as if something had had the cores
  const std::string sweep =
      "sweep --device cpu --threads 1 --impl naive --seqlen 64,96 --heads 1 --max-time 0.01 --csv -";
  const Outcome kept = run_program(sweep + " --no-ceilings", cache);
  CHECK(kept.err.find("measuring again") == std::string::npos);
  CHECK(kept.out.find("faster than the measured") != std::string::npos);

  const Outcome mended = run_program(sweep, cache);
  CHECK(mended.exit_code == 0);
  const size_t said = mended.err.find("measuring again");
  CHECK(said != std::string::npos);
  CHECK(mended.err.find("measuring again", said + 1) == std::string::npos);  // once in a sweep
  CHECK(mended.out.find("faster than the measured") == std::string::npos);
  const CeilingReport now = parse_ceilings_csv(*read_checked_file(file).text, "c.csv");
  CHECK(*now.list.find("fp32_fma") > 1e-5);
  CHECK(now.list.scope == CeilingScope::full);
}

TEST_CASE("what is no positive number is no ceiling", "[ceilings]") {
  CeilingList list;
  for (const double bad :
       {0.0, -1.0, std::numeric_limits<double>::infinity(), std::numeric_limits<double>::quiet_NaN()}) {
    list.add({"copy", std::nullopt, bad, "GB/s", ""});
  }
  CHECK(list.values.empty());
  CHECK(list.message.find("copy") != std::string::npos);
  CHECK_FALSE(list.find("copy"));
}

TEST_CASE("ceilings are measured once, then cached with their age, until a refresh", "[ceilings]") {
  Fixture f;
  const CeilingReport first = f.get();
  CHECK(f.measured == 1);
  CHECK_FALSE(first.age_s);
  CHECK(f.announced == "none are cached for this device");
  const CeilingReport second = f.get();
  CHECK(f.measured == 1);
  REQUIRE(second.age_s);
  CHECK(*second.age_s >= 0);
  CHECK(*second.age_s < 60);
  CHECK(second.list.find("copy") == 101.0);
  CHECK(f.announced.empty());
  f.request.refresh = true;
  CHECK(f.get().list.find("copy") == 102.0);
  f.request.refresh = false;
  CHECK(f.get().list.find("copy") == 102.0);
}

TEST_CASE("a damaged cache file is measured again, wherever it is damaged", "[ceilings]") {
  Fixture f;
  f.get();
  const std::string good = slurp(f.file());
  REQUIRE(good.size() > 50);
  int expected = 1;
  for (const std::string& bad :
       {std::string(), std::string("x"), good.substr(0, good.size() / 2), good.substr(0, good.size() - 1),
        good + "more", replaced(good, "101", "901"), std::string("\0\0\n\0", 4)}) {
    put(f.file(), bad);
    CHECK_FALSE(f.get().age_s);
    CHECK(f.measured == ++expected);
    CHECK(f.get().age_s);  // and is whole again
  }
  // Written as it should be, but not by this version.
  write_checked_file(f.file(), "name,value\ncopy,1\n");
  CHECK_FALSE(f.get().age_s);
}

TEST_CASE("ceilings of another driver, power limit or version are not used", "[ceilings]") {
  const CeilingIdentity then = a_report().identity;
  const auto changed = [&](auto change) {
    CeilingIdentity now = then;
    change(now);
    return difference(then, now);
  };
  CHECK(difference(then, then).empty());
  CHECK(changed([](CeilingIdentity& id) { id.driver = "590.2"; }) == "driver 580.1 then, 590.2 now");
  CHECK(changed([](CeilingIdentity& id) { id.cuda = "13.1"; }) == "CUDA 13.0 then, 13.1 now");
  CHECK(changed([](CeilingIdentity& id) { id.power_limit_w = 500; }) == "power limit 700 W then, 500 W now");
  CHECK(changed([](CeilingIdentity& id) { id.power_limit_w.reset(); }) ==
        "power limit 700 W then, unknown now");
  CHECK_FALSE(changed([](CeilingIdentity& id) { id.device_uuid = "GPU-2"; }).empty());
  CHECK_FALSE(changed([](CeilingIdentity& id) { id.device_name = "H100"; }).empty());
  CHECK_FALSE(changed([](CeilingIdentity& id) { id.threads = 2; }).empty());
  CHECK_FALSE(changed([](CeilingIdentity& id) { id.hostname = "there"; }).empty());
  CHECK_FALSE(changed([](CeilingIdentity& id) { id.kind = DeviceKind::host; }).empty());
  Fixture f;
  f.get();
  f.request.tool_version = "2";
  CHECK_FALSE(f.get().age_s);
  CHECK(f.measured == 2);
  CHECK(f.announced.find("attnprof 1 then, 2 now") != std::string::npos);
}

TEST_CASE("a short list does not stand for the full one, a full one serves a sweep", "[ceilings]") {
  Fixture f;
  f.get(CeilingScope::rows);
  CHECK(f.get(CeilingScope::rows).age_s);
  CHECK_FALSE(f.get(CeilingScope::full).age_s);
  CHECK(f.get(CeilingScope::rows).age_s);
  CHECK(f.measured == 2);
}

TEST_CASE("figures that no quiet machine gives are said and not kept", "[ceilings]") {
  const auto of_sizes = [](std::initializer_list<double> rates) {
    CeilingList list;
    int64_t bytes = 1 << 20;
    for (const double rate : rates) list.add({"copy_by_size", bytes *= 2, rate, "GB/s", ""});
    return implausible(list, 2);
  };
  CHECK(of_sizes({40, 38, 20, 9, 9}).empty());  // from cache to cache
  CHECK(of_sizes({10, 30, 35, 12}).empty());    // too small to fill the device, then too large for a cache
  CHECK(of_sizes({20, 41, 20}).find("copy_by_size of 4 MiB: 41, its neighbours 20 and 20 GB/s") == 0);
  CHECK_FALSE(of_sizes({20, 9, 20}).empty());
  CeilingList list;
  list.add({"fp32_fma", std::nullopt, 0.10, "TFLOP/s", ""});
  list.add({"fp32_fma_one_thread", std::nullopt, 0.15, "TFLOP/s", ""});
  list.add({"launch_interval", std::nullopt, 0.07, "us", ""});
  CHECK(implausible(list, 2) == "2 threads computed 0.1 TFLOP/s, one computed 0.15");
  CHECK(implausible(list, 1).empty());
  list.values.back().value = 105;
  CHECK(has(implausible(list, 1), "a launch took 105 us"));

  Fixture f;
  f.launch_us = 105;
  CHECK(
      has(f.get().list.message, "the machine was busy, so these are not kept for other runs: a launch took"));
  CHECK_FALSE(f.get().age_s);
  CHECK(f.measured == 2);
  f.launch_us = 0.1;
  CHECK(f.get().list.message.empty());
  CHECK(f.get().age_s);
}

TEST_CASE("a list with a hole is used but not kept", "[ceilings]") {
  Fixture f;
  f.message = "matrix product: libcublasLt.so.13 is missing";
  CHECK(f.get().list.find("copy") == 101.0);
  CHECK_FALSE(f.get().age_s);
  CHECK(f.measured == 2);
}

TEST_CASE("asked for the cache only, nothing is measured", "[ceilings]") {
  Fixture f;
  f.request.cached_only = true;
  CHECK(f.get().list.values.empty());
  CHECK(f.measured == 0);
  f.request.cached_only = false;
  f.get();
  f.request.cached_only = true;
  CHECK(f.get().list.find("copy") == 101.0);
  CHECK(f.measured == 1);
}

TEST_CASE("a cache folder that cannot be written or does not exist costs time only", "[ceilings]") {
  Fixture f;
  for (const char* folder : {"/proc/attnprof-cannot-be-here", ""}) {
    f.request.folder = folder;
    CHECK(f.get().list.find("copy"));
    CHECK_FALSE(f.get().age_s);
  }
  CHECK(f.measured == 4);
}

TEST_CASE("the host's ceilings are measured and plausible", "[ceilings][host]") {
  const auto host = open_host();
  const CeilingList list = measure_host_ceilings(*host, CeilingScope::full);
  INFO(list.message);
  CHECK(list.message.empty());
  const double one = *list.find("fp32_fma_one_thread"), all = *list.find("fp32_fma");
  CHECK(one > 1e-3);
  CHECK(one < 1);
  // All threads together are no slower than most of one; no more than perfect scaling with a margin for clock
  // changes.
  CHECK(all > 0.3 * one);
  CHECK(all < 4.0 * host->info().multiprocessors * one);
  // An exponential takes more than one multiply-add (of two FLOPs), and less than a hundred.
  CHECK(*list.find("exp") * 1e-3 < all / 2);
  CHECK(*list.find("exp") * 1e-3 > all / 200);
  for (const char* name : {"copy", "read", "write"}) {
    INFO(name);
    CHECK(*list.find(name) > 0.1);
    CHECK(*list.find(name) < 1e4);
  }
  int sizes = 0;
  std::map<std::string, double> at_largest;  // the sizes rise
  for (const CeilingValue& v : list.values) {
    sizes += v.name == "copy_by_size";
    if (v.bytes) at_largest[v.name] = v.value;
  }
  for (const char* name : {"copy", "read", "write"})
    CHECK(at_largest.at(std::string(name) + "_by_size") == *list.find(name));
  CHECK(sizes >= 7);
  CHECK(measure_host_ceilings(*host, CeilingScope::rows).values.size() == 4);
}

TEST_CASE("times as text come back, ages have one unit", "[ceilings]") {
  CHECK(utc_seconds("1970-01-01T00:00:10Z") == 10);
  CHECK(utc_seconds("2026-11-29T18:04:05Z") == 1795975445);
  CHECK(utc_seconds(utc_now()));
  for (const char* bad : {"", "2026-11-29", "2026-11-29T18:04:05", "2026-13-29T18:04:05Z",
                          "2026-02-30T00:00:00Z", "2026-1-29T18:04:05Z", "2026-11-29T18:04:05Zx"}) {
    INFO(bad);
    CHECK_FALSE(utc_seconds(bad));
  }
  CHECK(age_text(-5) == "0 s");
  CHECK(age_text(59) == "59 s");
  CHECK(age_text(600) == "10 min");
  CHECK(age_text(3 * 3600) == "3 h");
  CHECK(age_text(3 * 86400) == "3 days");
}
