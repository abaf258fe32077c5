# Embeds files into the binary as text. `function` is a name in namespace attnprof, declared in `header`, that returns them:
# const std::vector<EmbeddedSource>& (core/embedded_file.hpp). So the tool needs no source tree beside it.
function(attnprof_embed target function header)
  set(out ${PROJECT_BINARY_DIR}/${function}.cpp)
  add_custom_command(OUTPUT ${out}
    COMMAND ${CMAKE_COMMAND} -DOUT=${out} -DFUNCTION=${function} -DHEADER=${header} "-DFILES=${ARGN}"
            -P ${PROJECT_SOURCE_DIR}/cmake/write_embedded.cmake
    DEPENDS ${ARGN} ${PROJECT_SOURCE_DIR}/cmake/write_embedded.cmake VERBATIM)
  target_sources(${target} PRIVATE ${out})
endfunction()

# Every .cu and .cuh of kernels/ and baselines/: NVRTC compiles them at run time.
function(attnprof_embed_sources target)
  file(GLOB files CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/kernels/*.cu ${PROJECT_SOURCE_DIR}/kernels/*.cuh
       ${PROJECT_SOURCE_DIR}/baselines/*.cu ${PROJECT_SOURCE_DIR}/baselines/*.cuh)
  attnprof_embed(${target} embedded_sources gpu/embedded_sources.hpp ${files})
endfunction()

# The tiles that are known to be good, by device: kernels/tuned_*.csv.
function(attnprof_embed_tuned target)
  file(GLOB files CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/kernels/tuned_*.csv)
  attnprof_embed(${target} shipped_tuned gpu/embedded_sources.hpp ${files})
endfunction()

# What the page of `attnprof report` is made of.
function(attnprof_embed_page target)
  file(GLOB files CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/html/page/*)
  attnprof_embed(${target} page_parts html/page_parts.hpp ${files})
endfunction()
