// The numbers that src/gpu/api/cudnn_api.hpp declares by hand are those of cuDNN's header, if installed.
#include "catch.hpp"

#if __has_include(<cudnn.h>)

#include <cudnn.h>

#include "gpu/api/cudnn_api.hpp"

using namespace attnprof::cudnn;

namespace {

template <class Ours, class Theirs>
void same(Ours ours, Theirs theirs) {
  static_assert(sizeof(Ours) == sizeof(Theirs));
  REQUIRE(static_cast<int>(ours) == static_cast<int>(theirs));
}

}  // namespace

TEST_CASE("cuDNN's numbers, declared by hand, are those of its header", "[cudnn]") {
  same(Kind::pointwise, CUDNN_BACKEND_POINTWISE_DESCRIPTOR);
  same(Kind::engine_config, CUDNN_BACKEND_ENGINECFG_DESCRIPTOR);
  same(Kind::engine_heuristics, CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR);
  same(Kind::execution_plan, CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR);
  same(Kind::operation_pointwise, CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR);
  same(Kind::operation_graph, CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR);
  same(Kind::variant_pack, CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR);
  same(Kind::tensor, CUDNN_BACKEND_TENSOR_DESCRIPTOR);
  same(Kind::matmul, CUDNN_BACKEND_MATMUL_DESCRIPTOR);
  same(Kind::operation_matmul, CUDNN_BACKEND_OPERATION_MATMUL_DESCRIPTOR);
  same(Kind::reduction, CUDNN_BACKEND_REDUCTION_DESCRIPTOR);
  same(Kind::operation_reduction, CUDNN_BACKEND_OPERATION_REDUCTION_DESCRIPTOR);

  same(Type::handle, CUDNN_TYPE_HANDLE);
  same(Type::data_type, CUDNN_TYPE_DATA_TYPE);
  same(Type::boolean, CUDNN_TYPE_BOOLEAN);
  same(Type::int64, CUDNN_TYPE_INT64);
  same(Type::address, CUDNN_TYPE_VOID_PTR);
  same(Type::heuristic_mode, CUDNN_TYPE_HEUR_MODE);
  same(Type::pointwise_mode, CUDNN_TYPE_POINTWISE_MODE);
  same(Type::descriptor, CUDNN_TYPE_BACKEND_DESCRIPTOR);
  same(Type::reduction_mode, CUDNN_TYPE_REDUCTION_OPERATOR_TYPE);

  same(Attribute::pointwise_mode, CUDNN_ATTR_POINTWISE_MODE);
  same(Attribute::pointwise_compute_type, CUDNN_ATTR_POINTWISE_MATH_PREC);
  same(Attribute::pointwise_axis, CUDNN_ATTR_POINTWISE_AXIS);
  same(Attribute::heuristics_mode, CUDNN_ATTR_ENGINEHEUR_MODE);
  same(Attribute::heuristics_graph, CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH);
  same(Attribute::heuristics_results, CUDNN_ATTR_ENGINEHEUR_RESULTS);
  same(Attribute::plan_handle, CUDNN_ATTR_EXECUTION_PLAN_HANDLE);
  same(Attribute::plan_engine_config, CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG);
  same(Attribute::plan_workspace_bytes, CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE);
  same(Attribute::operation_pointwise_descriptor, CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR);
  same(Attribute::operation_pointwise_x, CUDNN_ATTR_OPERATION_POINTWISE_XDESC);
  same(Attribute::operation_pointwise_b, CUDNN_ATTR_OPERATION_POINTWISE_BDESC);
  same(Attribute::operation_pointwise_y, CUDNN_ATTR_OPERATION_POINTWISE_YDESC);
  same(Attribute::operation_pointwise_t, CUDNN_ATTR_OPERATION_POINTWISE_TDESC);
  same(Attribute::graph_handle, 800);  // CUDNN_ATTR_OPERATIONGRAPH_HANDLE, whose use warns since 9.8
  same(Attribute::graph_operations, CUDNN_ATTR_OPERATIONGRAPH_OPS);
  same(Attribute::tensor_alignment, CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT);
  same(Attribute::tensor_data_type, CUDNN_ATTR_TENSOR_DATA_TYPE);
  same(Attribute::tensor_sizes, CUDNN_ATTR_TENSOR_DIMENSIONS);
  same(Attribute::tensor_strides, CUDNN_ATTR_TENSOR_STRIDES);
  same(Attribute::tensor_id, CUDNN_ATTR_TENSOR_UNIQUE_ID);
  same(Attribute::tensor_is_virtual, CUDNN_ATTR_TENSOR_IS_VIRTUAL);
  same(Attribute::tensor_is_by_value, CUDNN_ATTR_TENSOR_IS_BY_VALUE);
  same(Attribute::variant_pack_ids, CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS);
  same(Attribute::variant_pack_addresses, CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS);
  same(Attribute::variant_pack_workspace, CUDNN_ATTR_VARIANT_PACK_WORKSPACE);
  same(Attribute::matmul_compute_type, CUDNN_ATTR_MATMUL_COMP_TYPE);
  same(Attribute::operation_matmul_a, CUDNN_ATTR_OPERATION_MATMUL_ADESC);
  same(Attribute::operation_matmul_b, CUDNN_ATTR_OPERATION_MATMUL_BDESC);
  same(Attribute::operation_matmul_c, CUDNN_ATTR_OPERATION_MATMUL_CDESC);
  same(Attribute::operation_matmul_descriptor, CUDNN_ATTR_OPERATION_MATMUL_DESC);
  same(Attribute::reduction_mode, CUDNN_ATTR_REDUCTION_OPERATOR);
  same(Attribute::reduction_compute_type, CUDNN_ATTR_REDUCTION_COMP_TYPE);
  same(Attribute::operation_reduction_x, CUDNN_ATTR_OPERATION_REDUCTION_XDESC);
  same(Attribute::operation_reduction_y, CUDNN_ATTR_OPERATION_REDUCTION_YDESC);
  same(Attribute::operation_reduction_descriptor, CUDNN_ATTR_OPERATION_REDUCTION_DESC);

  same(DataType::fp32, CUDNN_DATA_FLOAT);
  same(DataType::fp16, CUDNN_DATA_HALF);
  same(DataType::int32, CUDNN_DATA_INT32);
  same(DataType::bf16, CUDNN_DATA_BFLOAT16);
  same(DataType::boolean, CUDNN_DATA_BOOLEAN);

  same(Pointwise::add, CUDNN_POINTWISE_ADD);
  same(Pointwise::multiply, CUDNN_POINTWISE_MUL);
  same(Pointwise::divide, CUDNN_POINTWISE_DIV);
  same(Pointwise::subtract, CUDNN_POINTWISE_SUB);
  same(Pointwise::exp, CUDNN_POINTWISE_EXP);
  same(Pointwise::log, CUDNN_POINTWISE_LOG);
  same(Pointwise::greater, CUDNN_POINTWISE_CMP_GT);
  same(Pointwise::greater_or_equal, CUDNN_POINTWISE_CMP_GE);
  same(Pointwise::index_along_axis, CUDNN_POINTWISE_GEN_INDEX);
  same(Pointwise::select, CUDNN_POINTWISE_BINARY_SELECT);
  same(Reduction::sum, CUDNN_REDUCE_TENSOR_ADD);
  same(Reduction::max, CUDNN_REDUCE_TENSOR_MAX);
  same(Heuristic::mode_a, CUDNN_HEUR_MODE_A);
}

#else

TEST_CASE("cuDNN's numbers, declared by hand, are those of its header", "[cudnn]") {
  WARN("skipped: there is no cudnn.h to compare with");
}

#endif
