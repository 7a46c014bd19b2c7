# tessera_add_kernels(<program> [<file>.cu]...) builds a program, or a library, that has kernels of its own
# (tessera/user_kernel.hpp): it sets the flags that the bits depend on, and makes of the .cu files the plug-in with the
# device code, lib<program>_kernels_cuda.so, beside the program. Without nvcc there is no plug-in: the program is built
# all the same, runs on the processor, and says at run time what is missing.
#
# Variables: TESSERA_KERNELS_CUDA is ON (nvcc must be there), OFF or AUTO; CMAKE_CUDA_ARCHITECTURES names the
# architectures, CMAKE_CUDA_COMPILER or the environment's CUDACXX nvcc, and CMAKE_CUDA_FLAGS further flags. The
# program's property TESSERA_KERNELS_FILE is the plug-in, for install(FILES): it belongs beside the installed program.
# Not CMake's language CUDA: a project need not enable it, and a function cannot.

set(TESSERA_KERNELS_CUDA AUTO CACHE STRING "Build the device code of user kernels: ON, OFF or AUTO (where nvcc is)")
set_property(CACHE TESSERA_KERNELS_CUDA PROPERTY STRINGS AUTO ON OFF)

# tessera_kernel_architectures(<result>): nvcc's flags for the architectures, which CMake writes as 80, 80-real or
# 80-virtual.
function(tessera_kernel_architectures result)
  set(architectures ${CMAKE_CUDA_ARCHITECTURES})
  if(NOT architectures)
    set(architectures 75-real 80-real 90)
  endif()
  set(flags "")
  foreach(architecture ${architectures})
    if(NOT architecture MATCHES "^([0-9]+[af]?)(-real|-virtual)?$")
      list(APPEND flags -arch=${architecture}) # native, all, all-major
      continue()
    endif()
    set(code sm_${CMAKE_MATCH_1})
    if(CMAKE_MATCH_2 STREQUAL "-virtual")
      set(code compute_${CMAKE_MATCH_1})
    elseif(CMAKE_MATCH_2 STREQUAL "")
      set(code "[compute_${CMAKE_MATCH_1},sm_${CMAKE_MATCH_1}]")
    endif()
    list(APPEND flags "-gencode=arch=compute_${CMAKE_MATCH_1},code=${code}")
  endforeach()
  set(${result} ${flags} PARENT_SCOPE)
endfunction()

function(tessera_add_kernels program)
  target_compile_options(${program} PRIVATE $<$<COMPILE_LANGUAGE:CXX>:-ffp-contract=off -fno-math-errno>)
  # Of two modules in a process each has its own functors, also where these share C++ names.
  get_target_property(type ${program} TYPE)
  if(type STREQUAL "MODULE_LIBRARY")
    target_compile_options(${program} PRIVATE $<$<COMPILE_LANG_AND_ID:CXX,GNU>:-fno-gnu-unique>)
  endif()
  set(name lib${program}_kernels_cuda.so)
  set(sources ${ARGN})
  if(sources)
    target_compile_definitions(${program} PRIVATE TESSERA_USER_KERNELS="${name}")
  else()
    target_compile_definitions(${program} PRIVATE TESSERA_USER_KERNELS="")
    return()
  endif()
  set(TESSERA_NVCC "${CMAKE_CUDA_COMPILER}")
  if(NOT TESSERA_NVCC AND NOT TESSERA_KERNELS_CUDA STREQUAL "OFF")
    unset(TESSERA_NVCC)
    find_program(TESSERA_NVCC nvcc HINTS ENV CUDACXX ENV CUDA_HOME ENV CUDA_PATH PATHS /usr/local/cuda PATH_SUFFIXES bin
                 DOC "nvcc, for the device code of user kernels")
    mark_as_advanced(TESSERA_NVCC)
  endif()
  if(TESSERA_KERNELS_CUDA STREQUAL "OFF")
    return()
  endif()
  if(NOT TESSERA_NVCC)
    if(TESSERA_KERNELS_CUDA STREQUAL "AUTO")
      message(STATUS "Tessera: ${program} has no device code, because nvcc was not found")
      return()
    endif()
    message(FATAL_ERROR "TESSERA_KERNELS_CUDA=ON, but nvcc was not found: set CUDACXX to its path")
  endif()

  get_target_property(folder ${program} RUNTIME_OUTPUT_DIRECTORY)
  if(NOT type STREQUAL "EXECUTABLE")
    get_target_property(folder ${program} LIBRARY_OUTPUT_DIRECTORY)
  endif()
  if(NOT folder)
    get_target_property(folder ${program} BINARY_DIR)
  endif()
  tessera_kernel_architectures(architectures)
  separate_arguments(further NATIVE_COMMAND "${CMAKE_CUDA_FLAGS}")
  if(CMAKE_CUDA_HOST_COMPILER)
    list(APPEND further -ccbin ${CMAKE_CUDA_HOST_COMPILER})
  endif()
  set(includes "$<TARGET_PROPERTY:${program},INCLUDE_DIRECTORIES>")
  set(tessera_includes "$<TARGET_PROPERTY:tessera::tessera,INTERFACE_INCLUDE_DIRECTORIES>")
  set(objects "")
  foreach(source ${sources})
    cmake_path(ABSOLUTE_PATH source BASE_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR} NORMALIZE)
    cmake_path(GET source FILENAME file)
    set(object ${CMAKE_CURRENT_BINARY_DIR}/${program}_kernels/${file}.o)
    add_custom_command(OUTPUT ${object}
      COMMAND ${CMAKE_COMMAND} -E make_directory ${CMAKE_CURRENT_BINARY_DIR}/${program}_kernels
      COMMAND ${CMAKE_CUDA_COMPILER_LAUNCHER} ${TESSERA_NVCC} -std=c++20 -O3 -fmad=false
        -Xcompiler=-fPIC,-ffp-contract=off,-fvisibility=hidden ${architectures} ${further}
        "$<$<BOOL:${includes}>:-I$<JOIN:${includes},;-I>>"
        "$<$<BOOL:${tessera_includes}>:-I$<JOIN:${tessera_includes},;-I>>"
        -MD -MF ${object}.d -c ${source} -o ${object}
      DEPENDS ${source} DEPFILE ${object}.d
      COMMENT "Compiling the device code of ${program}: ${file}" COMMAND_EXPAND_LISTS VERBATIM)
    list(APPEND objects ${object})
  endforeach()
  set(plugin ${folder}/${name})
  # In a tree that carries the compiler's libraries they lie beside the plug-in or above it.
  set(rpath -Xlinker -rpath -Xlinker "$ORIGIN:$ORIGIN/..")
  add_custom_command(OUTPUT ${plugin}
    COMMAND ${CMAKE_COMMAND} -E make_directory ${folder}
    COMMAND ${TESSERA_NVCC} -shared -cudart static ${architectures} ${further} ${rpath} ${objects} -o ${plugin}
    DEPENDS ${objects} COMMENT "Linking ${name}" COMMAND_EXPAND_LISTS VERBATIM)
  add_custom_target(${program}_kernels ALL DEPENDS ${plugin})
  add_dependencies(${program} ${program}_kernels)
  set_target_properties(${program} PROPERTIES TESSERA_KERNELS_FILE ${plugin})
endfunction()
