// What a GPU is asked to run, as plain data: an implementation of our own returns a list of these and needs
// no CUDA header, no class and no device.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "core/problem.hpp"

namespace attnprof {

/// One device kernel to compile at run time: a file of the tree plus its macro definitions.
struct KernelSpec {
  std::string source;                                        ///< "kernels/flash2/flash2.cu"
  std::string entry;                                         ///< extern "C" name of the __global__ function
  std::vector<std::pair<std::string, std::string>> defines;  ///< {"ATTNPROF_TILE_M", "128"}
  bool operator==(const KernelSpec&) const = default;
};

struct LaunchShape {
  unsigned grid_x = 1, grid_y = 1, grid_z = 1;
  unsigned block_x = 1;
  unsigned dynamic_smem_bytes = 0;  ///< above 48 KiB is opted into when launched
  unsigned cluster_x = 1;
};

/// A kernel argument that the copy engine (TMA) reads: a tensor seen as (columns, rows, heads), contiguous,
/// copied in boxes of `box_columns` x `box_rows` with the 128-byte swizzle. What lies beyond the tensor
/// arrives as zeros. The device turns it into a CUtensorMap.
struct TensorMap {
  const void* address = nullptr;
  DType dtype = DType::bf16;
  int64_t columns = 0, rows = 0, heads = 0;
  int box_columns = 64, box_rows = 64;
};

/// A kernel argument passed by value.
using ArgumentBytes = std::vector<std::byte>;
using Argument = std::variant<ArgumentBytes, TensorMap>;

/// `value` as an argument; a plain struct or number.
template <class T>
Argument by_value(const T& value) {
  static_assert(std::is_trivially_copyable_v<T>);
  ArgumentBytes bytes(sizeof value);
  std::memcpy(bytes.data(), &value, sizeof value);
  return bytes;
}

struct KernelLaunch {
  KernelSpec kernel;
  LaunchShape shape;
  std::vector<Argument> arguments;
};

/// C = alpha A op(B) for each of `batch` matrices, all row-major: A [m, k], C [m, n], B [k, n] or,
/// transposed, [n, k]. A pitch is the distance between rows in elements; matrices of a batch follow each
/// other at rows * pitch. fp32 accumulation, on the tensor cores through cuBLASLt.
struct ProductShape {
  DType dtype = DType::bf16;  ///< of all three
  bool tf32 = false;          ///< fp32 operands are rounded to TF32; else products of fp32 are true fp32
  int64_t batch = 1;
  int64_t m = 0, n = 0, k = 0;
  int64_t a_pitch = 0, b_pitch = 0, c_pitch = 0;
  bool b_transposed = false;
  float alpha = 1.0f;
};

/// A matrix product. The device chooses the algorithm when the launch is bound: each that cuBLASLt proposes
/// is timed on these operands, after the launches before it have run.
struct ProductLaunch {
  std::string name;  ///< for messages: "Q K^T"
  ProductShape shape;
  const void* a = nullptr;
  const void* b = nullptr;
  void* c = nullptr;
  void* scratch = nullptr;
  int64_t scratch_bytes = 0;
};

/// One of the launches that together are a case, in order.
using Launch = std::variant<KernelLaunch, ProductLaunch>;

/// The kernels among them, to be compiled before anything is measured.
inline std::vector<KernelSpec> kernels_of(const std::vector<Launch>& launches) {
  std::vector<KernelSpec> kernels;
  for (const Launch& launch : launches) {
    if (const auto* kernel = std::get_if<KernelLaunch>(&launch)) kernels.push_back(kernel->kernel);
  }
  return kernels;
}

}  // namespace attnprof
