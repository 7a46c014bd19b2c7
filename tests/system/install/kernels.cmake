# The device code of tessera_add_kernels() is compiled with the definitions, folders and options of the host's code: the
# sources of kernels/ stop where a value differs, and the PTX has the values. What nvcc cannot follow stops the build.

include(${CMAKE_CURRENT_LIST_DIR}/run.cmake)

find_program(nvcc nvcc HINTS ENV CUDACXX PATHS /usr/local/cuda/bin)
if(NOT nvcc OR SOURCE MATCHES "'")
  message("skipped: there is no nvcc, or the path has a quote")
  return()
endif()
file(REMOVE_RECURSE ${WORK})
file(COPY ${CMAKE_CURRENT_LIST_DIR}/kernels DESTINATION ${WORK})
foreach(variable CXXFLAGS CUDAFLAGS)
  unset(ENV{${variable}})
endforeach()

# configure(<case> <generator> <argument>...): in ${WORK}/<case>.
function(configure case generator)
  run(COMMAND ${CMAKE_COMMAND} -S ${WORK}/kernels -B ${WORK}/${case} -G ${generator} -D CMAKE_MAKE_PROGRAM=${MAKE_PROGRAM}
    -D CMAKE_CXX_COMPILER=${CXX} -D KERNELS_MODULE=${SOURCE}/cmake/TesseraKernels.cmake -D TESSERA_KERNELS_CUDA=ON
    -D TESSERA_KERNELS_OPENCL=OFF
    -D CMAKE_CUDA_ARCHITECTURES=90-virtual -D CMAKE_CUDA_FLAGS=--no-compress ${ARGN})
endfunction()

# expect_ptx(<plug-in> <name> <value>): the device code has a variable of this value.
function(expect_ptx plugin name value)
  file(STRINGS ${WORK}/${plugin} found REGEX "[.]u32 ${name} = ${value};")
  if(NOT found)
    message(FATAL_ERROR "${plugin} has no device code with ${name} = ${value}")
  endif()
endfunction()

# expect_stop(<case> <regular expression> <argument>...): the build stops with these words.
function(expect_stop case pattern)
  configure(${case} ${GENERATOR} -D CASE=${case} ${ARGN})
  execute_process(COMMAND ${CMAKE_COMMAND} --build ${WORK}/${case} RESULT_VARIABLE result OUTPUT_VARIABLE output ERROR_VARIABLE output)
  if(result EQUAL 0)
    message(FATAL_ERROR "the case ${case} is built")
  endif()
  expect("${output}" "${pattern}" "the case ${case} stops with other words")
endfunction()

configure(works ${GENERATOR} -D CASE=works -D CMAKE_BUILD_TYPE=Release)
run(COMMAND ${CMAKE_COMMAND} --build ${WORK}/works)
run(COMMAND ${WORK}/works/bin/of_target OUTPUT output)
expect("${output}" "value 3, assertions off, plug-in libof_target_kernels_cuda[.]so" "of_target")
expect_ptx(works/bin/libof_target_kernels_cuda.so assertions_off 3)
expect_ptx(works/libof_source_kernels_cuda.so value_in_folder 3)
foreach(name assertions_off value_of_more)
  expect_ptx(works/plugins/libof_module_kernels_cuda.so ${name} 3)
endforeach()
expect_ptx(works/plugins/libof_module_kernels_cuda.so value_of_folder 5)

# A header that changes, also one that a linked target makes, is compiled again.
file(WRITE ${WORK}/kernels/made.in "#define MADE 7\n__attribute__((unused)) static void made() {}\n#if defined(__CUDACC__)\n__device__ int made_anew = MADE;\n#endif\n")
run(COMMAND ${CMAKE_COMMAND} --build ${WORK}/works)
expect_ptx(works/libof_libraries_kernels_cuda.so made_anew 7)
run(COMMAND ${CMAKE_COMMAND} --build ${WORK}/works OUTPUT output)
if(output MATCHES "Building")
  message(FATAL_ERROR "nothing has changed, and the build compiles:\n${output}")
endif()

# CMAKE_CXX_FLAGS, with several configurations in one folder
if(GENERATOR MATCHES "Ninja")
  configure(flags "Ninja Multi-Config" -D CASE=flags -D CMAKE_CXX_FLAGS=-DVALUE=3)
  foreach(build Debug Release)
    run(COMMAND ${CMAKE_COMMAND} --build ${WORK}/flags --config ${build})
  endforeach()
  run(COMMAND ${WORK}/flags/Debug/program OUTPUT output)
  expect("${output}" "value 3, assertions on" "the program of a Debug configuration")
  expect_ptx(flags/Debug/libprogram_kernels_cuda.so assertions_on 3)
  expect_ptx(flags/Release/libprogram_kernels_cuda.so assertions_off 3)
endif()

expect_stop(source_alone "host.cpp is compiled with VALUE=3, a property of that source alone" -D CMAKE_CXX_FLAGS=-DLENIENT)
expect_stop(unsigned_char "nvcc does not know -funsigned-char")
expect_stop(odd_path "nvcc finds nothing in a path with a quote, a dollar")
expect_stop(two_lists "more than one of its [.]cu files has TESSERA_CUDA_KERNELS")
