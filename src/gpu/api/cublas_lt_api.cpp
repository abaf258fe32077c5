#include "gpu/api/cublas_lt_api.hpp"

#include <vector>

#include "gpu/api/shared_library.hpp"

namespace attnprof {
namespace {

struct LoadedCublasLt {
  SharedLibrary library;
  CublasLtApi api;
  std::string missing;

  LoadedCublasLt()
      : library(std::vector<std::string>{"libcublasLt.so.13", "libcublasLt.so.12", "libcublasLt.so"}) {
    if (!library) {
      missing = "cuBLASLt cannot be loaded: " + library.error() +
                "; install it (CUDA toolkit, or pip install nvidia-cublas)";
      return;
    }
    const std::string absent = load_symbols(
        library, {slot("cublasLtCreate", api.create), slot("cublasLtDestroy", api.destroy),
                  slot("cublasLtGetVersion", api.get_version),
                  slot("cublasLtMatmulDescCreate", api.matmul_desc_create),
                  slot("cublasLtMatmulDescDestroy", api.matmul_desc_destroy),
                  slot("cublasLtMatmulDescSetAttribute", api.matmul_desc_set_attribute),
                  slot("cublasLtMatrixLayoutCreate", api.matrix_layout_create),
                  slot("cublasLtMatrixLayoutDestroy", api.matrix_layout_destroy),
                  slot("cublasLtMatrixLayoutSetAttribute", api.matrix_layout_set_attribute),
                  slot("cublasLtMatmulPreferenceCreate", api.matmul_preference_create),
                  slot("cublasLtMatmulPreferenceDestroy", api.matmul_preference_destroy),
                  slot("cublasLtMatmulPreferenceSetAttribute", api.matmul_preference_set_attribute),
                  slot("cublasLtMatmulAlgoGetHeuristic", api.matmul_algo_get_heuristic),
                  slot("cublasLtMatmul", api.matmul)});
    if (!absent.empty()) missing = "cuBLASLt is not usable: " + library.path() + " has no " + absent;
  }
};

const LoadedCublasLt& loaded() {
  static const LoadedCublasLt cublas_lt;
  return cublas_lt;
}

}  // namespace

const CublasLtApi* cublas_lt_api() {
  return loaded().missing.empty() ? &loaded().api : nullptr;
}
const std::string& cublas_lt_missing() {
  return loaded().missing;
}

std::string describe(cublasStatus_t status) {
  switch (status) {
    case CUBLAS_STATUS_SUCCESS:
      return "CUBLAS_STATUS_SUCCESS";
    case CUBLAS_STATUS_NOT_INITIALIZED:
      return "CUBLAS_STATUS_NOT_INITIALIZED";
    case CUBLAS_STATUS_ALLOC_FAILED:
      return "CUBLAS_STATUS_ALLOC_FAILED";
    case CUBLAS_STATUS_INVALID_VALUE:
      return "CUBLAS_STATUS_INVALID_VALUE";
    case CUBLAS_STATUS_ARCH_MISMATCH:
      return "CUBLAS_STATUS_ARCH_MISMATCH";
    case CUBLAS_STATUS_EXECUTION_FAILED:
      return "CUBLAS_STATUS_EXECUTION_FAILED";
    case CUBLAS_STATUS_INTERNAL_ERROR:
      return "CUBLAS_STATUS_INTERNAL_ERROR";
    case CUBLAS_STATUS_NOT_SUPPORTED:
      return "CUBLAS_STATUS_NOT_SUPPORTED";
    default:
      return "cublasStatus_t " + std::to_string(static_cast<int>(status));
  }
}

}  // namespace attnprof
