#include "baselines/cudnn/graph.hpp"

#include <fmt/format.h>

#include "core/error.hpp"

namespace attnprof::cudnn {
namespace {

Sizes packed_strides(const Sizes& sizes) {
  return {sizes[1] * sizes[2] * sizes[3], sizes[2] * sizes[3], sizes[3], 1};
}

}  // namespace

Descriptor::Descriptor(const Api& api, Kind kind) : api_(&api) {
  check(api, api.create_descriptor(kind, &address_), "creating a descriptor");
}

Descriptor::~Descriptor() {
  if (address_) api_->destroy_descriptor(address_);
}

void Descriptor::set(Attribute attribute, Type type, int64_t count, const void* elements) {
  const Status status = api_->set_attribute(address_, attribute, type, count, elements);
  if (status != 0) check(*api_, status, fmt::format("setting attribute {}", static_cast<int>(attribute)));
}

void Descriptor::set(Attribute attribute, const Descriptor& value) {
  const DescriptorAddress address = value.address();
  set(attribute, Type::descriptor, 1, &address);
}

void Descriptor::finalize(const std::string& what) {
  check(*api_, api_->finalize(address_), what);
}

TensorId Graph::add(Descriptor descriptor, DataType type, const Sizes& sizes, const Sizes& strides) {
  const TensorId id{static_cast<int64_t>(tensors_.size())};
  descriptor.set(Attribute::tensor_data_type, type);
  descriptor.set(Attribute::tensor_sizes, Type::int64, 4, sizes.data());
  descriptor.set(Attribute::tensor_strides, Type::int64, 4, strides.data());
  descriptor.set(Attribute::tensor_id, id.value);
  descriptor.set(Attribute::tensor_alignment, int64_t{16});
  descriptor.finalize("describing a tensor");
  tensors_.push_back({std::move(descriptor), sizes});
  return id;
}

TensorId Graph::in_memory(DataType type, const Sizes& sizes, const Sizes& strides, void* address) {
  const TensorId id = add(Descriptor(api_, Kind::tensor), type, sizes, strides);
  bound_ids_.push_back(id.value);
  bound_addresses_.push_back(address);
  return id;
}

TensorId Graph::scalar(DataType type, const void* value) {
  Descriptor descriptor(api_, Kind::tensor);
  descriptor.set(Attribute::tensor_is_by_value, true);
  const TensorId id = add(std::move(descriptor), type, {1, 1, 1, 1}, {1, 1, 1, 1});
  std::memcpy(scalars_.emplace_back().data(), value, 4);
  bound_ids_.push_back(id.value);
  bound_addresses_.push_back(scalars_.back().data());
  return id;
}

TensorId Graph::intermediate(DataType type, const Sizes& sizes) {
  Descriptor descriptor(api_, Kind::tensor);
  descriptor.set(Attribute::tensor_is_virtual, true);
  return add(std::move(descriptor), type, sizes, packed_strides(sizes));
}

TensorId Graph::matmul(TensorId a, TensorId b, std::optional<TensorId> into) {
  const Sizes& left = tensor(a).sizes;
  const TensorId c =
      into ? *into : intermediate(DataType::fp32, {left[0], left[1], left[2], tensor(b).sizes[3]});
  Descriptor how(api_, Kind::matmul);
  how.set(Attribute::matmul_compute_type, DataType::fp32);
  how.finalize("describing a matrix product");
  Descriptor operation(api_, Kind::operation_matmul);
  operation.set(Attribute::operation_matmul_a, tensor(a).descriptor);
  operation.set(Attribute::operation_matmul_b, tensor(b).descriptor);
  operation.set(Attribute::operation_matmul_c, tensor(c).descriptor);
  operation.set(Attribute::operation_matmul_descriptor, how);
  operation.finalize("adding a matrix product");
  parts_.push_back(std::move(how));
  operations_.push_back(std::move(operation));
  return c;
}

TensorId Graph::pointwise(Pointwise mode, const PointwiseOptions& options, TensorId x,
                          std::optional<TensorId> b, std::optional<TensorId> t) {
  const TensorId y = options.into ? *options.into : intermediate(options.result, tensor(x).sizes);
  Descriptor how(api_, Kind::pointwise);
  how.set(Attribute::pointwise_mode, Type::pointwise_mode, 1, &mode);
  how.set(Attribute::pointwise_compute_type, options.compute);
  if (options.axis) how.set(Attribute::pointwise_axis, *options.axis);
  how.finalize("describing an elementwise operation");
  Descriptor operation(api_, Kind::operation_pointwise);
  operation.set(Attribute::operation_pointwise_descriptor, how);
  operation.set(Attribute::operation_pointwise_x, tensor(x).descriptor);
  if (b) operation.set(Attribute::operation_pointwise_b, tensor(*b).descriptor);
  if (t) operation.set(Attribute::operation_pointwise_t, tensor(*t).descriptor);
  operation.set(Attribute::operation_pointwise_y, tensor(y).descriptor);
  operation.finalize(fmt::format("adding elementwise operation {}", static_cast<int>(mode)));
  parts_.push_back(std::move(how));
  operations_.push_back(std::move(operation));
  return y;
}

TensorId Graph::reduce(Reduction mode, TensorId x) {
  Sizes sizes = tensor(x).sizes;
  sizes[3] = 1;
  const TensorId y = intermediate(DataType::fp32, sizes);
  Descriptor how(api_, Kind::reduction);
  how.set(Attribute::reduction_mode, Type::reduction_mode, 1, &mode);
  how.set(Attribute::reduction_compute_type, DataType::fp32);
  how.finalize("describing a reduction");
  Descriptor operation(api_, Kind::operation_reduction);
  operation.set(Attribute::operation_reduction_descriptor, how);
  operation.set(Attribute::operation_reduction_x, tensor(x).descriptor);
  operation.set(Attribute::operation_reduction_y, tensor(y).descriptor);
  operation.finalize("adding a reduction");
  parts_.push_back(std::move(how));
  operations_.push_back(std::move(operation));
  return y;
}

namespace {

Descriptor finished_graph(const Api& api, const Graph& graph, Handle handle) {
  std::vector<DescriptorAddress> operations;
  for (const Descriptor& operation : graph.operations()) operations.push_back(operation.address());
  Descriptor finished(api, Kind::operation_graph);
  finished.set(Attribute::graph_operations, Type::descriptor, static_cast<int64_t>(operations.size()),
               operations.data());
  finished.set(Attribute::graph_handle, Type::handle, 1, &handle);
  finished.finalize("finishing the graph");
  return finished;
}

/// Engine configurations that the heuristic proposes, best first.
std::vector<Descriptor> proposals(const Api& api, const Descriptor& graph) {
  Descriptor heuristics(api, Kind::engine_heuristics);
  heuristics.set(Attribute::heuristics_graph, graph);
  const Heuristic mode = Heuristic::mode_a;
  heuristics.set(Attribute::heuristics_mode, Type::heuristic_mode, 1, &mode);
  heuristics.finalize("asking for engines");
  int64_t count = 0;
  check(api,
        api.get_attribute(heuristics.address(), Attribute::heuristics_results, Type::descriptor, 0, &count,
                          nullptr),
        "counting engines");
  std::vector<Descriptor> configs;
  std::vector<DescriptorAddress> addresses;
  for (int64_t i = 0; i < count; ++i)
    addresses.push_back(configs.emplace_back(api, Kind::engine_config).address());
  check(api,
        api.get_attribute(heuristics.address(), Attribute::heuristics_results, Type::descriptor, count,
                          &count, addresses.data()),
        "listing engines");
  while (static_cast<int64_t>(configs.size()) > count) configs.pop_back();
  return configs;
}

}  // namespace

Plan make_plan(const Api& api, const Graph& graph, Handle handle) {
  Descriptor finished = finished_graph(api, graph, handle);
  std::vector<Descriptor> configs = proposals(api, finished);
  std::string refusal = last_error(api);
  if (refusal.empty()) refusal = "no engine takes this problem";
  for (Descriptor& config : configs) {
    Plan plan{.descriptor = Descriptor(api, Kind::execution_plan), .workspace_bytes = 0, .parts = {}};
    plan.descriptor.set(Attribute::plan_engine_config, config);
    plan.descriptor.set(Attribute::plan_handle, Type::handle, 1, &handle);
    if (const Status status = api.finalize(plan.descriptor.address()); status != 0) {
      refusal = describe(api, status);
      continue;
    }
    int64_t count = 0;
    check(api,
          api.get_attribute(plan.descriptor.address(), Attribute::plan_workspace_bytes, Type::int64, 1,
                            &count, &plan.workspace_bytes),
          "asking for the workspace's size");
    plan.parts.push_back(std::move(finished));
    plan.parts.push_back(std::move(config));
    return plan;
  }
  throw CaseError("cuDNN has no plan: " + refusal);
}

Descriptor bind(const Api& api, const Graph& graph, void* workspace) {
  Descriptor pack(api, Kind::variant_pack);
  const int64_t count = static_cast<int64_t>(graph.bound_ids().size());
  pack.set(Attribute::variant_pack_ids, Type::int64, count, graph.bound_ids().data());
  pack.set(Attribute::variant_pack_addresses, Type::address, count, graph.bound_addresses().data());
  pack.set(Attribute::variant_pack_workspace, Type::address, 1, &workspace);
  pack.finalize("binding addresses");
  return pack;
}

}  // namespace attnprof::cudnn
