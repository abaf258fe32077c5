#include "gpu/device/product.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "core/error.hpp"
#include "gpu/api/cublas_lt_api.hpp"
#include "gpu/api/driver_api.hpp"

namespace attnprof {

namespace {

/// Kernels that put the batch on grid y or z stop here.
constexpr int64_t kMaxMatricesPerCall = 65535;

void check_lt(cublasStatus_t status, const std::string& attempt) {
  if (status != CUBLAS_STATUS_SUCCESS) throw CaseError(attempt + ": " + describe(status));
}

cudaDataType_t cuda_type(DType t) {
  switch (t) {
    case DType::fp32:
      return CUDA_R_32F;
    case DType::fp16:
      return CUDA_R_16F;
    case DType::bf16:
      return CUDA_R_16BF;
  }
  return CUDA_R_32F;
}

uint32_t alignment(const void* address) {
  const auto bits = reinterpret_cast<uintptr_t>(address) | 256u;
  return static_cast<uint32_t>(bits & (~bits + 1));
}

/// Destroys a cuBLASLt object with the function that came with it.
template <class Handle, class Destroy>
struct Owned {
  Handle handle = nullptr;
  Destroy destroy = nullptr;
  Owned() = default;
  Owned(const Owned&) = delete;
  Owned& operator=(const Owned&) = delete;
  ~Owned() {
    if (handle != nullptr) destroy(handle);
  }
};
using Description = Owned<cublasLtMatmulDesc_t, decltype(&cublasLtMatmulDescDestroy)>;
using Layout = Owned<cublasLtMatrixLayout_t, decltype(&cublasLtMatrixLayoutDestroy)>;
using Preference = Owned<cublasLtMatmulPreference_t, decltype(&cublasLtMatmulPreferenceDestroy)>;

void create_layout(const CublasLtApi& lt, Layout& layout, DType dtype, int64_t rows, int64_t columns,
                   int64_t pitch, int64_t stride, int64_t batch) {
  layout.destroy = lt.matrix_layout_destroy;
  // cuBLASLt counts columns first: our row-major [rows, columns] is its column-major [columns, rows].
  check_lt(lt.matrix_layout_create(&layout.handle, cuda_type(dtype), static_cast<uint64_t>(columns),
                                   static_cast<uint64_t>(rows), pitch),
           "describing a matrix to cuBLASLt");
  const auto count = static_cast<int32_t>(batch);
  check_lt(
      lt.matrix_layout_set_attribute(layout.handle, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, &count, sizeof count),
      "setting a batch count");
  check_lt(lt.matrix_layout_set_attribute(layout.handle, CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, &stride,
                                          sizeof stride),
           "setting a batch stride");
}

}  // namespace

struct Product::Part {
  const char* a = nullptr;
  const char* b = nullptr;
  char* c = nullptr;
  Description description;
  Layout a_layout, b_layout, c_layout;
  cublasLtMatmulAlgo_t algorithm{};
};

Product::Product(GpuDevice& gpu, const ProductLaunch& what)
    : gpu_(&gpu), lt_(&gpu.cublas_lt()), handle_(gpu.cublas_lt_handle()), what_(what) {
  const int64_t batch = what.shape.batch;
  for (int64_t first = 0; first < batch; first += kMaxMatricesPerCall) {
    parts_.push_back(plan(first, std::min(kMaxMatricesPerCall, batch - first)));
    parts_.back()->algorithm = fastest(*parts_.back(), candidates(*parts_.back()));
  }
}

Product::~Product() = default;
Product::Product(Product&&) noexcept = default;

std::unique_ptr<Product::Part> Product::plan(int64_t first_matrix, int64_t matrices) const {
  const CublasLtApi& lt = *lt_;
  const ProductShape& s = what_.shape;
  const int64_t b_rows = s.b_transposed ? s.n : s.k;
  const int64_t b_columns = s.b_transposed ? s.k : s.n;
  const int64_t a_stride = s.m * s.a_pitch, b_stride = b_rows * s.b_pitch, c_stride = s.m * s.c_pitch;

  auto part = std::make_unique<Part>();
  const int64_t bytes = dtype_bytes(s.dtype);
  part->a = static_cast<const char*>(what_.a) + first_matrix * a_stride * bytes;
  part->b = static_cast<const char*>(what_.b) + first_matrix * b_stride * bytes;
  part->c = static_cast<char*>(what_.c) + first_matrix * c_stride * bytes;

  part->description.destroy = lt.matmul_desc_destroy;
  check_lt(lt.matmul_desc_create(&part->description.handle,
                                 s.tf32 ? CUBLAS_COMPUTE_32F_FAST_TF32 : CUBLAS_COMPUTE_32F, CUDA_R_32F),
           "describing a product to cuBLASLt");
  // C^T = op(B)^T A^T in cuBLASLt's column-major terms, so B comes first.
  const cublasOperation_t b_operation = s.b_transposed ? CUBLAS_OP_T : CUBLAS_OP_N;
  check_lt(lt.matmul_desc_set_attribute(part->description.handle, CUBLASLT_MATMUL_DESC_TRANSA, &b_operation,
                                        sizeof b_operation),
           "setting a transposition");
  create_layout(lt, part->a_layout, s.dtype, s.m, s.k, s.a_pitch, a_stride, matrices);
  create_layout(lt, part->b_layout, s.dtype, b_rows, b_columns, s.b_pitch, b_stride, matrices);
  create_layout(lt, part->c_layout, s.dtype, s.m, s.n, s.c_pitch, c_stride, matrices);
  return part;
}

std::vector<cublasLtMatmulHeuristicResult_t> Product::candidates(const Part& part) const {
  const CublasLtApi& lt = *lt_;
  Preference preference;
  preference.destroy = lt.matmul_preference_destroy;
  check_lt(lt.matmul_preference_create(&preference.handle), "creating a cuBLASLt preference");
  const auto set = [&](cublasLtMatmulPreferenceAttributes_t what, const auto& value) {
    check_lt(lt.matmul_preference_set_attribute(preference.handle, what, &value, sizeof value),
             "setting a cuBLASLt preference");
  };
  set(CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, static_cast<uint64_t>(what_.scratch_bytes));
  set(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, alignment(part.b));
  set(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES, alignment(part.a));
  set(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, alignment(part.c));
  set(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES, alignment(part.c));

  constexpr int kProposals = 8;
  std::vector<cublasLtMatmulHeuristicResult_t> found(kProposals);
  int count = 0;
  const cublasStatus_t status = lt.matmul_algo_get_heuristic(
      handle_, part.description.handle, part.b_layout.handle, part.a_layout.handle, part.c_layout.handle,
      part.c_layout.handle, preference.handle, kProposals, found.data(), &count);
  if (status != CUBLAS_STATUS_SUCCESS || count == 0) {
    throw CaseError(fmt::format("cuBLASLt has no algorithm for {} of {} x {} x {} (m, n, k) in {}: {}",
                                what_.name, what_.shape.m, what_.shape.n, what_.shape.k,
                                to_string(what_.shape.dtype), describe(status)));
  }
  found.resize(static_cast<size_t>(count));
  std::erase_if(found, [](const auto& f) { return f.state != CUBLAS_STATUS_SUCCESS; });
  return found;
}

cublasLtMatmulAlgo_t Product::fastest(const Part& part,
                                      const std::vector<cublasLtMatmulHeuristicResult_t>& found) const {
  constexpr int kRuns = 3;
  const DriverApi& driver = gpu_->driver();
  CUevent start = nullptr, stop = nullptr;
  check(driver, driver.event_create(&start, CU_EVENT_DEFAULT), "creating an event");
  check(driver, driver.event_create(&stop, CU_EVENT_DEFAULT), "creating an event");
  float best_ms = std::numeric_limits<float>::infinity();
  const cublasLtMatmulAlgo_t* best = nullptr;
  std::string refusal = "none proposed";
  for (const auto& candidate : found) {
    try {
      enqueue(part, candidate.algo);  // warms up, and some refuse only here
    } catch (const CaseError& error) {
      refusal = error.what();
      continue;
    }
    driver.event_record(start, gpu_->stream());
    for (int run = 0; run < kRuns; ++run) enqueue(part, candidate.algo);
    driver.event_record(stop, gpu_->stream());
    gpu_->synchronize("timing a cuBLASLt algorithm for " + what_.name);
    float ms = 0;
    if (driver.event_elapsed_time(&ms, start, stop) == CUDA_SUCCESS && ms < best_ms) {
      best_ms = ms;
      best = &candidate.algo;
    }
  }
  driver.event_destroy(start);
  driver.event_destroy(stop);
  if (best == nullptr)
    throw CaseError(fmt::format("every cuBLASLt algorithm for {} failed: {}", what_.name, refusal));
  return *best;
}

void Product::enqueue(const Part& part, const cublasLtMatmulAlgo_t& algorithm) const {
  const float beta = 0.0f;
  const cublasStatus_t status =
      lt_->matmul(handle_, part.description.handle, &what_.shape.alpha, part.b, part.b_layout.handle, part.a,
                  part.a_layout.handle, &beta, part.c, part.c_layout.handle, part.c, part.c_layout.handle,
                  &algorithm, what_.scratch, static_cast<size_t>(what_.scratch_bytes),
                  reinterpret_cast<cudaStream_t>(gpu_->stream()));
  if (status != CUBLAS_STATUS_SUCCESS) check_lt(status, "launching " + what_.name);
}

void Product::launch() const {
  for (const auto& part : parts_) enqueue(*part, part->algorithm);
}

}  // namespace attnprof
