#include "measure/plan.hpp"

#include "catch.hpp"
#include "core/axes.hpp"
#include "core/error.hpp"
#include "fake_device.hpp"

using namespace attnprof;

namespace {

const Implementation& find(std::string_view name, const DeviceInfo&, Pass) {
  static const Implementation untiled = [] {
    Implementation i = fake::right();
    i.name = "untiled";
    i.resolve = nullptr;
    return i;
  }();
  static const Implementation tiled = [] {
    Implementation i = fake::right();
    i.name = "tiled";
    i.takes = {"bf16", "gqa", "window"};
    i.resolve = [](const Problem&, const KernelConfig& c, const DeviceInfo&) {
      return c.tile_m == 0 ? KernelConfig{64, 64, 0, 0} : c;
    };
    i.limits = [](const Case& c, const DeviceInfo&) -> Unsupported {
      if (c.config.tile_m > 128) return "tile_m 256 is above 128";
      return std::nullopt;
    };
    return i;
  }();
  if (name == "untiled") return untiled;
  if (name == "tiled" || name == "fused") return tiled;
  throw UsageError("unknown");
}

Axes axes_with(const char* tiles, const std::vector<std::string>& impls) {
  Axes axes;
  axes.set("seqlen", "16");
  axes.set("head-dim", "8");
  axes.set("heads", "2");
  axes.set("tile", tiles);
  axes.impls = impls;
  return axes;
}

}  // namespace

TEST_CASE("a tile axis gives an untiled implementation one row", "[plan]") {
  const auto rows = plan(expand(axes_with("64x64,32x32,16x16", {"untiled", "tiled"})), DeviceInfo{}, find);
  REQUIRE(rows.size() == 4);
  int untiled = 0;
  for (const PlannedRow& row : rows) untiled += row.planned.impl == "untiled";
  CHECK(untiled == 1);
}

TEST_CASE("an alias beside its own name, and a default beside its own value, are one row", "[plan]") {
  const auto rows = plan(expand(axes_with("default,64x64", {"fused", "tiled"})), DeviceInfo{}, find);
  CHECK(rows.size() == 1);
}

TEST_CASE("what an implementation refuses is a row with the reason", "[plan]") {
  const auto rows = plan(expand(axes_with("256x64", {"tiled"})), DeviceInfo{}, find);
  REQUIRE(rows.size() == 1);
  CHECK(rows[0].status == Status::unsupported);
  CHECK(rows[0].reason == "tile_m 256 is above 128");
}

TEST_CASE("kv_heads that do not divide heads is a row with both numbers, beside the ones that do", "[plan]") {
  Axes axes = axes_with("default", {"tiled"});
  axes.set("heads", "6");
  axes.set("kv-heads", "2,4");
  const auto rows = plan(expand(axes), DeviceInfo{}, find);
  REQUIRE(rows.size() == 2);
  CHECK(rows[0].status == Status::ok);
  CHECK(rows[1].status == Status::skipped);
  CHECK(rows[1].reason.find('6') != std::string::npos);
  CHECK(rows[1].reason.find('4') != std::string::npos);
}

TEST_CASE("rows of one problem form one group", "[plan]") {
  Axes axes = axes_with("default,32x32", {"untiled", "tiled"});
  axes.set("seqlen", "16,32");
  const auto rows = plan(expand(axes), DeviceInfo{}, find);
  const auto groups = group_by_problem(rows);
  REQUIRE(groups.size() == 2);
  CHECK(groups[0] == std::pair<size_t, size_t>{0, 3});
  CHECK(groups[1] == std::pair<size_t, size_t>{3, 6});
}

TEST_CASE("the command of a row names every axis that differs from its default", "[plan]") {
  Axes axes = axes_with("32x16", {"tiled"});
  axes.set("window", "5");
  axes.set("fill", "zeros");
  const auto rows = plan(expand(axes), DeviceInfo{}, find);
  const std::string command = blank_record(rows.at(0), DeviceInfo{}, RunConditions{}).conditions.command;
  for (const char* part : {"--impl tiled", "--seqlen 16", "--head-dim 8", "--heads 2", "--tile 32x16",
                           "--window 5", "--fill zeros", "--device cpu"}) {
    CHECK(command.find(part) != std::string::npos);
  }
}

TEST_CASE("a feature that an implementation does not claim is refused in one sentence", "[plan]") {
  const auto refused = [](const char* option, const char* value, const char* impl) {
    Axes axes = axes_with("default", {impl});
    axes.set(option, value);
    return plan(expand(axes), DeviceInfo{}, find).at(0).reason;
  };
  CHECK(refused("causal", "1", "tiled") == "tiled does not support causal; it supports bf16, gqa, window");
  CHECK(refused("dtype", "fp16", "tiled") == "tiled does not support fp16; it supports bf16, gqa, window");
  CHECK(refused("window", "8", "tiled").empty());
  CHECK(refused("kv-heads", "1", "tiled").empty());
  CHECK(refused("pass", "bwd", "tiled") == "tiled computes fwd only, not bwd");
  for (const auto& [option, value] : {std::pair{"causal", "1"}, {"window", "8"}, {"dtype", "fp32"}})
    CHECK(refused(option, value, "untiled").empty());
}
