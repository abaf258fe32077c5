// cuDNN's backend API, found in libcudnn at run time. Declared here by hand, because toolkits come without
// cudnn.h and its package is large; names and numbers are the stable ABI of cuDNN 9 (tests compare them with
// the header where there is one).
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

struct CUstream_st;  // cuda.h

namespace attnprof::cudnn {

using Handle = void*;
using DescriptorAddress = void*;
/// 0 is success.
using Status = int;

/// What a descriptor describes.
enum class Kind : int {
  pointwise = 0,
  engine_config = 3,
  engine_heuristics = 4,
  execution_plan = 5,
  operation_pointwise = 13,
  operation_graph = 15,
  variant_pack = 16,
  tensor = 17,
  matmul = 18,
  operation_matmul = 19,
  reduction = 21,
  operation_reduction = 22,
};

/// The type of an attribute's elements.
enum class Type : int {
  handle = 0,
  data_type = 1,
  boolean = 2,
  int64 = 3,
  address = 6,
  heuristic_mode = 8,
  pointwise_mode = 14,
  descriptor = 15,
  reduction_mode = 18,
};

enum class Attribute : int {
  pointwise_mode = 0,
  pointwise_compute_type = 1,
  pointwise_axis = 9,
  heuristics_mode = 200,
  heuristics_graph = 201,
  heuristics_results = 202,
  plan_handle = 400,
  plan_engine_config = 401,
  plan_workspace_bytes = 402,
  operation_pointwise_descriptor = 750,
  operation_pointwise_x = 751,
  operation_pointwise_b = 752,
  operation_pointwise_y = 753,
  operation_pointwise_t = 758,
  graph_handle = 800,
  graph_operations = 801,
  tensor_alignment = 900,
  tensor_data_type = 901,
  tensor_sizes = 902,
  tensor_strides = 903,
  tensor_id = 906,
  tensor_is_virtual = 907,
  tensor_is_by_value = 908,
  variant_pack_ids = 1000,
  variant_pack_addresses = 1001,
  variant_pack_workspace = 1003,
  matmul_compute_type = 1500,
  operation_matmul_a = 1520,
  operation_matmul_b = 1521,
  operation_matmul_c = 1522,
  operation_matmul_descriptor = 1523,
  reduction_mode = 1600,
  reduction_compute_type = 1601,
  operation_reduction_x = 1610,
  operation_reduction_y = 1611,
  operation_reduction_descriptor = 1612,
};

enum class DataType : int { fp32 = 0, fp16 = 2, int32 = 4, bf16 = 9, boolean = 11 };

enum class Pointwise : int {
  add = 0,
  multiply = 1,
  divide = 6,
  subtract = 9,
  exp = 13,
  log = 15,
  greater = 302,
  greater_or_equal = 303,
  index_along_axis = 501,
  select = 601,  ///< T ? X : B
};

enum class Reduction : int { sum = 0, max = 3 };

/// How engines are proposed: A is the quick model that frameworks use.
enum class Heuristic : int { mode_a = 3 };

/// The entry points, in C's terms.
struct Api {
  size_t (*get_version)() = nullptr;  ///< 91900 for 9.19.0
  const char* (*get_error_string)(Status) = nullptr;
  void (*get_last_error_string)(char* text, size_t capacity) = nullptr;  ///< since 9.0
  Status (*create)(Handle*) = nullptr;
  Status (*destroy)(Handle) = nullptr;
  Status (*set_stream)(Handle, CUstream_st*) = nullptr;
  Status (*create_descriptor)(Kind, DescriptorAddress*) = nullptr;
  Status (*destroy_descriptor)(DescriptorAddress) = nullptr;
  Status (*finalize)(DescriptorAddress) = nullptr;
  Status (*set_attribute)(DescriptorAddress, Attribute, Type, int64_t count, const void* elements) = nullptr;
  Status (*get_attribute)(DescriptorAddress, Attribute, Type, int64_t capacity, int64_t* count,
                          void* elements) = nullptr;
  Status (*execute)(Handle, DescriptorAddress plan, DescriptorAddress variant_pack) = nullptr;
};

/// The one copy, loaded on first use; nullptr when missing: missing() then says why and what to install.
/// The library opens its parts itself, when they are first needed, from the folder that it lies in.
const Api* api();
const std::string& missing();

/// "9.19.0". Versions differ in speed: the one that ran belongs beside every number.
std::string version_text(const Api& api);

/// The condition that failed in this thread's last failing call, in cuDNN's words; "" when it gives none.
std::string last_error(const Api& api);

/// "CUDNN_STATUS_NOT_SUPPORTED: why".
std::string describe(const Api& api, Status status);

/// Throws CaseError("cuDNN: ATTEMPT: ...") unless `status` is success.
void check(const Api& api, Status status, const std::string& attempt);

}  // namespace attnprof::cudnn
