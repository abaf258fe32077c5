#include "measure/plan.hpp"

#include "catch.hpp"
#include "core/axes.hpp"
#include "core/error.hpp"
#include "fake_device.hpp"

using namespace attnprof;

namespace {

const Implementation& find(std::string_view name, const DeviceInfo&) {
  static const Implementation untiled = [] {
    Implementation i = fake::right();
    i.name = "untiled";
    i.resolve = [](const Problem&, const KernelConfig&, const DeviceInfo&) { return KernelConfig{}; };
    return i;
  }();
  static const Implementation tiled = [] {
    Implementation i = fake::right();
    i.name = "tiled";
    i.resolve = [](const Problem&, const KernelConfig& c, const DeviceInfo&) {
      return c.tile_m == 0 ? KernelConfig{64, 64, 0, 0} : c;
    };
    i.supports = [](const Case& c, const DeviceInfo&) -> Unsupported {
      if (c.config.tile_m > 128) return "tile_m 256 is above 128";
      return std::nullopt;
    };
    return i;
  }();
  if (name == "untiled") return untiled;
  if (name == "tiled" || name == "fused") return tiled;
  throw UsageError("unknown");
}

Axes axes_with(const std::vector<std::pair<int, int>>& tiles, const std::vector<std::string>& impls) {
  Axes axes;
  axes.seqlens = {16};
  axes.head_dims = {8};
  axes.heads = {2};
  axes.tiles = tiles;
  axes.impls = impls;
  return axes;
}

}  // namespace

TEST_CASE("a tile axis gives an untiled implementation one row", "[plan]") {
  const auto rows =
      plan(expand(axes_with({{64, 64}, {32, 32}, {16, 16}}, {"untiled", "tiled"})), DeviceInfo{}, find);
  REQUIRE(rows.size() == 4);
  int untiled = 0;
  for (const PlannedRow& row : rows) untiled += row.planned.impl == "untiled";
  CHECK(untiled == 1);
}

TEST_CASE("an alias beside its own name, and a default beside its own value, are one row", "[plan]") {
  const auto rows = plan(expand(axes_with({{0, 0}, {64, 64}}, {"fused", "tiled"})), DeviceInfo{}, find);
  CHECK(rows.size() == 1);
}

TEST_CASE("what an implementation refuses is a row with the reason", "[plan]") {
  const auto rows = plan(expand(axes_with({{256, 64}}, {"tiled"})), DeviceInfo{}, find);
  REQUIRE(rows.size() == 1);
  CHECK(rows[0].status == Status::unsupported);
  CHECK(rows[0].reason == "tile_m 256 is above 128");
}

TEST_CASE("kv_heads that do not divide heads is a row with both numbers, beside the ones that do", "[plan]") {
  Axes axes = axes_with({{0, 0}}, {"tiled"});
  axes.heads = {6};
  axes.kv_heads = {2, 4};
  const auto rows = plan(expand(axes), DeviceInfo{}, find);
  REQUIRE(rows.size() == 2);
  CHECK(rows[0].status == Status::ok);
  CHECK(rows[1].status == Status::skipped);
  CHECK(rows[1].reason.find('6') != std::string::npos);
  CHECK(rows[1].reason.find('4') != std::string::npos);
}

TEST_CASE("rows of one problem form one group", "[plan]") {
  Axes axes = axes_with({{0, 0}, {32, 32}}, {"untiled", "tiled"});
  axes.seqlens = {16, 32};
  const auto rows = plan(expand(axes), DeviceInfo{}, find);
  const auto groups = group_by_problem(rows);
  REQUIRE(groups.size() == 2);
  CHECK(groups[0] == std::pair<size_t, size_t>{0, 3});
  CHECK(groups[1] == std::pair<size_t, size_t>{3, 6});
}

TEST_CASE("the command of a row names every axis that differs from its default", "[plan]") {
  Axes axes = axes_with({{32, 16}}, {"tiled"});
  axes.windows = {5};
  axes.fill = Fill::zeros;
  const auto rows = plan(expand(axes), DeviceInfo{}, find);
  const std::string command = blank_record(rows.at(0), DeviceInfo{}, RunConditions{}).conditions.command;
  for (const char* part : {"--impl tiled", "--seqlen 16", "--head-dim 8", "--heads 2", "--tile 32x16",
                           "--window 5", "--fill zeros", "--device cpu"}) {
    CHECK(command.find(part) != std::string::npos);
  }
}
