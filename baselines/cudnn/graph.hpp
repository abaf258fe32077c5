// A graph of tensor operations for cuDNN, and the plan that runs it.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <deque>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "gpu/api/cudnn_api.hpp"

namespace attnprof::cudnn {

/// Owner of one backend descriptor. Setters throw CaseError.
class Descriptor {
 public:
  Descriptor(const Api& api, Kind kind);
  ~Descriptor();
  Descriptor(Descriptor&& other) noexcept
      : api_(other.api_), address_(std::exchange(other.address_, nullptr)) {}
  Descriptor& operator=(Descriptor&&) = delete;
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;

  DescriptorAddress address() const { return address_; }
  void set(Attribute attribute, Type type, int64_t count, const void* elements);
  void set(Attribute attribute, const Descriptor& value);
  void set(Attribute attribute, int64_t value) { set(attribute, Type::int64, 1, &value); }
  void set(Attribute attribute, bool value) { set(attribute, Type::boolean, 1, &value); }
  void set(Attribute attribute, DataType value) { set(attribute, Type::data_type, 1, &value); }
  void finalize(const std::string& what);

 private:
  const Api* api_;
  DescriptorAddress address_ = nullptr;
};

/// [batch, heads, rows, columns], as every tensor of an attention graph.
using Sizes = std::array<int64_t, 4>;

/// A tensor of a Graph, by its number.
struct TensorId {
  int64_t value = -1;
};

/// Operations are added in order; what they produce is a tensor that lives only inside the fused kernel,
/// unless a tensor in memory is named as its place.
class Graph {
 public:
  explicit Graph(const Api& api) : api_(api) {}

  /// `strides` in elements. The address must be aligned to 16 bytes.
  TensorId in_memory(DataType type, const Sizes& sizes, const Sizes& strides, void* address);
  TensorId scalar(float value) { return scalar(DataType::fp32, &value); }
  TensorId scalar(int32_t value) { return scalar(DataType::int32, &value); }

  /// C [.., m, n] = A [.., m, k] B [.., k, n] with fp32 accumulation; heads of B may divide those of A.
  TensorId matmul(TensorId a, TensorId b, std::optional<TensorId> into = {});

  struct PointwiseOptions {
    DataType result = DataType::fp32;
    DataType compute = DataType::fp32;
    std::optional<int64_t> axis = {};
    std::optional<TensorId> into = {};  ///< its type counts then, and `result` does not
  };
  /// Elementwise, broadcasting; the result has the sizes of `x`. `b` and `t` where the mode has a second and
  /// third operand.
  TensorId pointwise(Pointwise mode, const PointwiseOptions& options, TensorId x,
                     std::optional<TensorId> b = {}, std::optional<TensorId> t = {});
  /// Over the columns: the result is [batch, heads, rows, 1], fp32.
  TensorId reduce(Reduction mode, TensorId x);

  const std::vector<Descriptor>& operations() const { return operations_; }
  /// Numbers and addresses of the tensors in memory and of the scalars, in the same order.
  const std::vector<int64_t>& bound_ids() const { return bound_ids_; }
  const std::vector<void*>& bound_addresses() const { return bound_addresses_; }

 private:
  struct Tensor {
    Descriptor descriptor;
    Sizes sizes;
  };
  TensorId scalar(DataType type, const void* value);
  TensorId intermediate(DataType type, const Sizes& sizes);
  TensorId add(Descriptor descriptor, DataType type, const Sizes& sizes, const Sizes& strides);
  const Tensor& tensor(TensorId id) const { return tensors_[static_cast<size_t>(id.value)]; }

  const Api& api_;
  std::deque<Tensor> tensors_;
  std::vector<Descriptor> operations_;
  std::vector<Descriptor> parts_;  ///< that the operations name
  std::vector<int64_t> bound_ids_;
  std::vector<void*> bound_addresses_;
  std::deque<std::array<char, 4>> scalars_;  ///< a deque: addresses stay
};

struct Plan {
  Descriptor descriptor;
  int64_t workspace_bytes = 0;
  std::vector<Descriptor> parts;  ///< that the plan was made of
};

/// The first of the engines that cuDNN's heuristic A proposes which takes the graph. Throws CaseError with
/// cuDNN's own words when there is none.
Plan make_plan(const Api& api, const Graph& graph, Handle handle);

/// The addresses that an execution reads and writes.
Descriptor bind(const Api& api, const Graph& graph, void* workspace);

}  // namespace attnprof::cudnn
