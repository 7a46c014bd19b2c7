# CMakeLists.txt says what this does. The installed tree is renamed before the programs run, so that they can use
# neither a path of the first prefix nor one of the build tree.

include(${CMAKE_CURRENT_LIST_DIR}/run.cmake)

# In the example's output, each backend that was built has computed, and none was looked for elsewhere.
function(check_product output)
  foreach(backend OPENMP TBB)
    string(TOLOWER ${backend} name)
    if(${backend} AND NOT output MATCHES "${name}: ‖c‖ = [0-9]")
      message(FATAL_ERROR "the ${name} plug-in was not found in the moved tree:\n${output}")
    endif()
  endforeach()
endfunction()

file(REMOVE_RECURSE ${WORK})
run(COMMAND ${CMAKE_COMMAND} --install ${BUILD} --prefix ${WORK}/before)
run(COMMAND ${CMAKE_COMMAND} --install ${BUILD} --prefix ${WORK}/before --component bundle)
set(prefix "${WORK}/moved tree")
file(RENAME ${WORK}/before ${prefix})
set(sanitize "")
if(SANITIZE)
  set(sanitize -fsanitize=${SANITIZE})
endif()

# find_package. nvcc finds no header in a path with a quote, and SPIR-V is not taken in from one.
set(device_code AUTO)
if(prefix MATCHES "'")
  set(device_code OFF)
endif()
run(COMMAND ${CMAKE_COMMAND} -S ${OUTSIDE} -B ${WORK}/outside -G ${GENERATOR} -D CMAKE_MAKE_PROGRAM=${MAKE_PROGRAM}
    -D CMAKE_PREFIX_PATH=${prefix} -D EXAMPLE=${EXAMPLE} -D KERNELS=${KERNELS} -D CMAKE_CUDA_ARCHITECTURES=90
    -D TESSERA_KERNELS_CUDA=${device_code} -D TESSERA_KERNELS_OPENCL=${device_code}
    -D CMAKE_CXX_COMPILER=${CXX} -D CMAKE_BUILD_TYPE=Release -D CMAKE_CXX_FLAGS=${sanitize})
run(COMMAND ${CMAKE_COMMAND} --build ${WORK}/outside)
run(COMMAND ${WORK}/outside/product OUTPUT output)
check_product("${output}")
run(COMMAND ${WORK}/outside/layer 100 reference OUTPUT output)
if(NOT output MATCHES "reference: -?[0-9]")
  message(FATAL_ERROR "a program with kernels of its own printed:\n${output}")
endif()
find_program(nvcc nvcc HINTS ENV CUDACXX PATHS /usr/local/cuda/bin)
find_program(clang_for_spirv clang++-15)
find_program(translator llvm-spirv-15)
foreach(target layer operations)
  if(nvcc AND device_code AND NOT EXISTS ${WORK}/outside/lib${target}_kernels_cuda.so)
    message(FATAL_ERROR "${nvcc} is there, but tessera_add_kernels() made no plug-in beside ${target}")
  endif()
  if(clang_for_spirv AND translator AND device_code AND NOT EXISTS ${WORK}/outside/lib${target}_kernels_opencl.so)
    message(FATAL_ERROR "${clang_for_spirv} is there, but tessera_add_kernels() made no SPIR-V beside ${target}")
  endif()
endforeach()

# pkg-config, which takes a quote in the path for one of the shell's unless it is told the prefix, with backslashes
find_program(pkg_config pkg-config REQUIRED)
set(ENV{PKG_CONFIG_PATH} ${prefix}/${LIBDIR}/pkgconfig)
string(REGEX REPLACE "([ '\"\\])" "\\\\\\1" escaped "${prefix}")
run(COMMAND ${pkg_config} --define-variable=prefix=${escaped} --cflags --libs tessera OUTPUT flags)
separate_arguments(flags UNIX_COMMAND "${flags}")
run(COMMAND ${CXX} ${sanitize} ${EXAMPLE} -o ${WORK}/by_pkg_config ${flags})
run(COMMAND ${WORK}/by_pkg_config OUTPUT output)
check_product("${output}")

# The programs
if(APPS)
  run(COMMAND ${prefix}/bin/gemm_compare --kernels canonical --sizes 17 --no-progress OUTPUT output)
  if(NOT output MATCHES "canonical .*pass")
    message(FATAL_ERROR "gemm_compare in the moved tree printed:\n${output}")
  endif()
  run(COMMAND ${prefix}/bin/gemm_compare --op-plugin ${WORK}/outside/liboperations.so --op jacobi --shape 20x30
      --backend reference --no-progress OUTPUT output)
  if(NOT output MATCHES "jacobi .*pass")
    message(FATAL_ERROR "gemm_compare in the moved tree printed of an operation from outside:\n${output}")
  endif()
  # The lens has its headers, the rungs and its run-time library with it. A package of programs comes without Tessera's
  # headers, and a sanitizer's library needs that sanitizer's program.
  if(NOT SANITIZE AND CXX MATCHES "(g\\+\\+|c\\+\\+)(-[0-9]+)?$" AND NOT CXX MATCHES "clang")
    file(RENAME ${prefix}/include ${WORK}/include)
    foreach(rung float4 transposed_b) # one that copies an operand first, too
      run(COMMAND ${CMAKE_COMMAND} -E env CXX=${CXX} ${prefix}/bin/gemm_compare --lens ${rung} --shape 40x30x20 --json
          ${WORK}/lens.json OUTPUT output)
      file(READ ${WORK}/lens.json document)
      string(FIND "${document}" "${prefix}/share/tessera/lens/backends/cuda/gemm/textbook" place)
      if(NOT output MATCHES "product: right" OR place EQUAL -1 OR NOT document MATCHES "\"kernel_line\": [1-9]")
        message(FATAL_ERROR "the lens in the moved tree printed of ${rung}:\n${output}")
      endif()
    endforeach()
    file(RENAME ${WORK}/include ${prefix}/include)
  endif()
  run(COMMAND ${prefix}/bin/tessera_info OUTPUT output)
  string(FIND "${output}" "${BUILD}/lib" place)
  if(NOT place EQUAL -1)
    message(FATAL_ERROR "the moved tessera_info uses the build tree:\n${output}")
  endif()
endif()

# In the bundle, only the C library comes from elsewhere, and the MPI that plug-ins use. A sanitizer's runtime comes from
# its compiler.
if(NOT SANITIZE)
  file(GLOB binaries ${prefix}/bin/* ${prefix}/${LIBDIR}/tessera/*.so)
  list(FILTER binaries EXCLUDE REGEX "/libtessera_(mpi|scalapack)_")
  foreach(binary ${binaries})
    run(COMMAND ldd ${binary} OUTPUT output)
    string(REGEX REPLACE
      "[^\n]*(${prefix}|linux-vdso|ld-linux|/lib(c|m|dl|rt|pthread)\\.so)[^\n]*\n" "" output "${output}")
    if(NOT output STREQUAL "")
      message(FATAL_ERROR "${binary} needs from outside the bundle:\n${output}")
    endif()
  endforeach()
endif()
run(COMMAND ${prefix}/bin/tessera_conformance --run_test=matrix -- --backend=reference)
