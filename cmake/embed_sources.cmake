# Embeds files of kernels/ and baselines/ into the binary, as text: what gpu/embedded_sources.hpp declares. The tool
# needs no source tree beside it.
function(attnprof_embed target function)
  set(out ${PROJECT_BINARY_DIR}/${function}.cpp)
  add_custom_command(OUTPUT ${out}
    COMMAND ${CMAKE_COMMAND} -DOUT=${out} -DFUNCTION=${function} "-DFILES=${ARGN}" -P ${PROJECT_SOURCE_DIR}/cmake/write_embedded.cmake
    DEPENDS ${ARGN} ${PROJECT_SOURCE_DIR}/cmake/write_embedded.cmake VERBATIM)
  target_sources(${target} PRIVATE ${out})
endfunction()

# Every .cu and .cuh: NVRTC compiles them at run time.
function(attnprof_embed_sources target)
  file(GLOB files CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/kernels/*.cu ${PROJECT_SOURCE_DIR}/kernels/*.cuh
       ${PROJECT_SOURCE_DIR}/baselines/*.cu ${PROJECT_SOURCE_DIR}/baselines/*.cuh)
  attnprof_embed(${target} embedded_sources ${files})
endfunction()

# The tiles that are known to be good, by device: kernels/tuned_*.csv.
function(attnprof_embed_tuned target)
  file(GLOB files CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/kernels/tuned_*.csv)
  attnprof_embed(${target} shipped_tuned ${files})
endfunction()
