# The device code in SPIR-V of tessera_add_kernels() is compiled with the definitions, folders and options of the host's
# code: the sources of spirv/ stop where a value differs, and the kernels' names have the values. What cannot be compiled
# stops the build.

include(${CMAKE_CURRENT_LIST_DIR}/run.cmake)

find_program(clang clang++-15)
find_program(translator llvm-spirv-15)
if(NOT clang OR NOT translator OR SOURCE MATCHES "'")
  message("skipped: there is no clang++-15 or llvm-spirv-15 (Debian: clang-15, llvm-spirv-15), or the path has a quote")
  return()
endif()
file(REMOVE_RECURSE ${WORK})
file(COPY ${CMAKE_CURRENT_LIST_DIR}/spirv DESTINATION ${WORK})
unset(ENV{CXXFLAGS})
set(arguments -D CMAKE_MAKE_PROGRAM=${MAKE_PROGRAM} -D CMAKE_CXX_COMPILER=${CXX} -D SOURCE=${SOURCE}
  -D TESSERA_KERNELS_CUDA=OFF)

# configure(<case> <generator> <argument>...): in ${WORK}/<case>.
function(configure case generator)
  run(COMMAND ${CMAKE_COMMAND} -S ${WORK}/spirv -B ${WORK}/${case} -G ${generator} ${arguments} -D CASE=${case}
    -D TESSERA_KERNELS_OPENCL=ON ${ARGN})
endfunction()

# expect_kernel(<plug-in> <value>): the SPIR-V has a kernel of the functor with this value.
function(expect_kernel plugin value)
  file(STRINGS ${WORK}/${plugin} found REGEX "SpirvForEachI4FillILi${value}E")
  if(NOT found)
    message(FATAL_ERROR "${plugin} has no kernel of Fill<${value}>")
  endif()
endfunction()

# expect_stop(<case> <regular expression> <argument>...): the build stops with these words.
function(expect_stop case pattern)
  configure(${case} ${GENERATOR} ${ARGN})
  execute_process(COMMAND ${CMAKE_COMMAND} --build ${WORK}/${case} RESULT_VARIABLE result OUTPUT_VARIABLE output ERROR_VARIABLE output)
  if(result EQUAL 0)
    message(FATAL_ERROR "the case ${case} is built")
  endif()
  expect("${output}" "${pattern}" "the case ${case} stops with other words")
endfunction()

configure(works ${GENERATOR} -D CMAKE_BUILD_TYPE=Release)
run(COMMAND ${CMAKE_COMMAND} --build ${WORK}/works)
run(COMMAND ${WORK}/works/of_target OUTPUT output)
expect("${output}" "value 3, plug-in libof_target_kernels_cuda[.]so" "of_target")
foreach(plugin libof_target libof_libraries plugins/libof_module)
  expect_kernel(works/${plugin}_kernels_opencl.so 3)
endforeach()
run(COMMAND ${CMAKE_COMMAND} --build ${WORK}/works OUTPUT output)
if(output MATCHES "Building")
  message(FATAL_ERROR "nothing has changed, and the build compiles:\n${output}")
endif()
file(APPEND ${WORK}/spirv/functors.hpp "// a later line\n")
run(COMMAND ${CMAKE_COMMAND} --build ${WORK}/works OUTPUT output)
expect("${output}" "functors[.]cu" "a header has changed, and the build does not compile its .cu")

expect_stop(source_alone "host.cpp is compiled with VALUE=3, a property of that source alone" -D CMAKE_CXX_FLAGS=-DLENIENT)
expect_stop(two_lists "more than one of its [.]cu files has TESSERA_CUDA_KERNELS")
expect_stop(cuda_alone "cuda_alone[.]cu for SPIR-V.*__CUDACC__.*TESSERA_KERNELS_OPENCL=OFF")

# Without a compiler: AUTO builds the program and says so, ON stops.
foreach(state AUTO ON)
  execute_process(COMMAND ${CMAKE_COMMAND} -S ${WORK}/spirv -B ${WORK}/absent_${state} -G ${GENERATOR} ${arguments}
      -D TESSERA_KERNELS_OPENCL=${state} -D TESSERA_SPIRV_CLANG=OFF -D CASE=absent
    RESULT_VARIABLE result OUTPUT_VARIABLE output ERROR_VARIABLE output)
  string(REGEX REPLACE "[ \n]+" " " output "${output}")
  expect("${output}" "there is no clang[+][+]-15 \\(Debian: clang-15, or another one in TESSERA_SPIRV_CLANG" "${state} without clang")
  if((result EQUAL 0 AND state STREQUAL "ON") OR (NOT result EQUAL 0 AND state STREQUAL "AUTO"))
    message(FATAL_ERROR "${state} without clang: CMake ends with ${result}")
  endif()
endforeach()
