# GPU support needs headers only (cuda.h, nvrtc.h, CUPTI, cublasLt.h): the libraries are loaded at run time.
# They come from a CUDA toolkit, or from PyPI wheels (scripts/cuda-wheels puts those under .cuda/).
set(ATTNPROF_WITH_CUDA OFF)
if(NOT ATTNPROF_CUDA STREQUAL "OFF")
  find_path(ATTNPROF_CUDA_INCLUDE cupti_range_profiler.h
    HINTS $ENV{CUDA_HOME}/include $ENV{CUDA_HOME}/extras/CUPTI/include ${PROJECT_SOURCE_DIR}/.cuda/include
          /usr/local/cuda/include /usr/local/cuda/extras/CUPTI/include /usr/local/cuda/targets/x86_64-linux/include)
  find_path(ATTNPROF_CUDA_H_INCLUDE cuda.h HINTS ${ATTNPROF_CUDA_INCLUDE} ${ATTNPROF_CUDA_INCLUDE}/../../../include
          ${ATTNPROF_CUDA_INCLUDE}/../include)
  find_path(ATTNPROF_NVRTC_INCLUDE nvrtc.h HINTS ${ATTNPROF_CUDA_H_INCLUDE})
  find_path(ATTNPROF_CUBLAS_INCLUDE cublasLt.h HINTS ${ATTNPROF_CUDA_H_INCLUDE})
  find_path(ATTNPROF_NVTX_INCLUDE nvtx3/nvToolsExt.h HINTS ${ATTNPROF_CUDA_H_INCLUDE})  # optional: ranges stay unnamed without
  if(ATTNPROF_CUDA_INCLUDE AND ATTNPROF_CUDA_H_INCLUDE AND ATTNPROF_NVRTC_INCLUDE AND ATTNPROF_CUBLAS_INCLUDE)
    set(ATTNPROF_WITH_CUDA ON)
    add_library(attnprof_cuda_headers INTERFACE)
    target_include_directories(attnprof_cuda_headers SYSTEM INTERFACE
      ${ATTNPROF_CUDA_INCLUDE} ${ATTNPROF_CUDA_H_INCLUDE} ${ATTNPROF_NVRTC_INCLUDE} ${ATTNPROF_CUBLAS_INCLUDE})
    if(ATTNPROF_NVTX_INCLUDE)
      target_include_directories(attnprof_cuda_headers SYSTEM INTERFACE ${ATTNPROF_NVTX_INCLUDE})
    endif()
    target_compile_definitions(attnprof_cuda_headers INTERFACE ATTNPROF_CUDA_ROOT="${ATTNPROF_CUDA_H_INCLUDE}/.."
                                                               ATTNPROF_WITH_CUDA)
  elseif(ATTNPROF_CUDA STREQUAL "ON")
    message(FATAL_ERROR "ATTNPROF_CUDA=ON, but the CUDA headers (cuda.h, nvrtc.h, cublasLt.h, "
                        "cupti_range_profiler.h; CUDA 12.6 or newer) were not found. Set CUDA_HOME, or run scripts/cuda-wheels.")
  endif()
endif()
if(NOT ATTNPROF_WITH_CUDA)
  target_compile_definitions(attnprof_options INTERFACE ATTNPROF_CUDA_ROOT="/usr/local/cuda")  # where to look at run time
endif()
message(STATUS "attnprof: GPU support ${ATTNPROF_WITH_CUDA}")
