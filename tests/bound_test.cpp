#include "core/bound.hpp"

#include "catch.hpp"
#include "core/axes.hpp"
#include "core/error.hpp"

using namespace attnprof;

TEST_CASE("GPU models are found without regard to case, and an unknown name lists the known ones",
          "[bound]") {
  CHECK(find_gpu_model("h200").name == "H200");
  CHECK(find_gpu_model("a100-80gb").name == "A100-80GB");
  CHECK_THROWS_WITH(find_gpu_model("H900"), containing("H900") && containing("RTX4090"));
}

TEST_CASE("a device is matched by the name that its driver gives it", "[bound]") {
  DeviceInfo device;
  device.kind = DeviceKind::gpu;
  const auto name_of = [&](const char* name) {
    device.name = name;
    const auto gpu = match_gpu_model(device);
    return gpu ? gpu->name : std::string_view("none");
  };
  CHECK(name_of("NVIDIA H200") == "H200");
  CHECK(name_of("NVIDIA A100-SXM4-80GB") == "A100-80GB");
  CHECK(name_of("NVIDIA A100-SXM4-40GB") == "A100-40GB");
  CHECK(name_of("NVIDIA H100 80GB HBM3") == "H100");
  CHECK(name_of("NVIDIA GeForce RTX 4090") == "RTX4090");
  CHECK(name_of("Quadro Something") == "none");
  CHECK(name_of("NVIDIA GH200 480GB") == "none");
  CHECK(name_of("NVIDIA GB200") == "none");
  CHECK(name_of("NVIDIA H100 NVL") == "none");
  CHECK(name_of("NVIDIA GeForce RTX 4090 Laptop GPU") == "none");
  device.kind = DeviceKind::host;
  CHECK(name_of("NVIDIA H200") == "none");
}

TEST_CASE("the bound is the largest of the three times", "[bound]") {
  Problem p;
  const GpuModel& gpu = find_gpu_model("H200");
  const Prediction memory = predict(p, {{4'800'000'000'000, 0}, 1000, 1000}, gpu);
  CHECK(memory.bound == "memory");
  CHECK(memory.total_us == Approx(1e6));
  const Prediction matrix = predict(p, {{1000, 0}, 989'000'000'000'000, 1000}, gpu);
  CHECK(matrix.bound == "matrix");
  CHECK(matrix.total_us == Approx(1e6));
  const Prediction exponentials = predict(p, {{1000, 0}, 1000, 16 * 132 * int64_t{1'980'000'000}}, gpu);
  CHECK(exponentials.bound == "exp");
  CHECK(exponentials.total_us == Approx(1e6));
  p.dtype = DType::fp32;
  CHECK(predict(p, {{0, 0}, 66'900'000'000'000, 0}, gpu).matrix_us == Approx(1e6));
}

TEST_CASE("the clock of every model is the one its fp32 rate assumes", "[bound]") {
  for (const GpuModel& gpu : gpu_models()) {
    INFO(gpu.name);
    const double lanes = gpu.compute_capability == 80 ? 64 : 128;  // fp32 multiply-adds per clock and SM
    CHECK(gpu.fp32_tflops == Approx(2e-3 * lanes * gpu.multiprocessors * gpu.boost_ghz).epsilon(0.01));
    CHECK(gpu.smem_per_block_bytes < gpu.onchip_bytes);
  }
}

TEST_CASE("a device made from a datasheet says so and carries its limits", "[bound]") {
  const DeviceInfo info = device_info(find_gpu_model("H200"));
  CHECK(info.name == "H200 (datasheet)");
  CHECK(info.kind == DeviceKind::gpu);
  CHECK(info.compute_capability == 90);
  CHECK(info.smem_per_block_bytes == 227 * 1024);
  CHECK(match_gpu_model(info)->name == "H200");
}

TEST_CASE("presets are well-formed problems and are found by name", "[presets]") {
  for (const Preset& preset : presets()) {
    INFO(preset.name);
    Problem p;
    p.batch = preset.batch;
    p.heads = preset.heads;
    p.kv_heads = preset.kv_heads;
    p.seqlen_q = p.seqlen_kv = preset.seqlen;
    p.head_dim = preset.head_dim;
    CHECK_NOTHROW(validate(p));
    CHECK(&find_preset(preset.name) == &preset);
  }
  CHECK_THROWS_WITH(find_preset("gpt9"), containing("gpt9") && containing("llama3-8b"));
}
