// cuBLASLt's entry points, found in libcublasLt at run time: what a batched matrix product needs.
#pragma once

#include <cublasLt.h>

#include <string>

namespace attnprof {

struct CublasLtApi {
  decltype(&::cublasLtCreate) create = nullptr;
  decltype(&::cublasLtDestroy) destroy = nullptr;
  decltype(&::cublasLtGetVersion) get_version = nullptr;
  decltype(&::cublasLtMatmulDescCreate) matmul_desc_create = nullptr;
  decltype(&::cublasLtMatmulDescDestroy) matmul_desc_destroy = nullptr;
  decltype(&::cublasLtMatmulDescSetAttribute) matmul_desc_set_attribute = nullptr;
  decltype(&::cublasLtMatrixLayoutCreate) matrix_layout_create = nullptr;
  decltype(&::cublasLtMatrixLayoutDestroy) matrix_layout_destroy = nullptr;
  decltype(&::cublasLtMatrixLayoutSetAttribute) matrix_layout_set_attribute = nullptr;
  decltype(&::cublasLtMatmulPreferenceCreate) matmul_preference_create = nullptr;
  decltype(&::cublasLtMatmulPreferenceDestroy) matmul_preference_destroy = nullptr;
  decltype(&::cublasLtMatmulPreferenceSetAttribute) matmul_preference_set_attribute = nullptr;
  decltype(&::cublasLtMatmulAlgoGetHeuristic) matmul_algo_get_heuristic = nullptr;
  decltype(&::cublasLtMatmul) matmul = nullptr;
};

/// The one copy, loaded on first use (it takes a second: the library is large); nullptr when missing:
/// cublas_lt_missing() then says why and what to install.
const CublasLtApi* cublas_lt_api();
const std::string& cublas_lt_missing();

/// "CUBLAS_STATUS_NOT_SUPPORTED" and its like.
std::string describe(cublasStatus_t status);

}  // namespace attnprof
