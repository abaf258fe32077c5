# Embeds every .cu and .cuh of kernels/ and baselines/ into the binary: attnprof::embedded_sources() of
# gpu/embedded_sources.hpp. NVRTC compiles them at run time, so the tool needs no source tree beside it.
function(attnprof_embed_sources target)
  file(GLOB device_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/kernels/*.cu ${PROJECT_SOURCE_DIR}/kernels/*.cuh
       ${PROJECT_SOURCE_DIR}/baselines/*.cu ${PROJECT_SOURCE_DIR}/baselines/*.cuh)
  set(out ${PROJECT_BINARY_DIR}/embedded_sources.cpp)
  add_custom_command(OUTPUT ${out}
    COMMAND ${CMAKE_COMMAND} -DOUT=${out} "-DFILES=${device_sources}" -P ${PROJECT_SOURCE_DIR}/cmake/write_embedded.cmake
    DEPENDS ${device_sources} ${PROJECT_SOURCE_DIR}/cmake/write_embedded.cmake VERBATIM)
  target_sources(${target} PRIVATE ${out})
endfunction()
