# tessera_add_kernels(<program> [<file>.cu]...) builds a program, or a library, that has kernels of its own
# (tessera/user_kernel/user_kernel.hpp): it sets the flags that the bits depend on, and makes of the .cu files the plug-ins with the
# device code beside the program: lib<program>_kernels_cuda.so by nvcc, and lib<program>_kernels_opencl.so, which holds
# SPIR-V, by clang and llvm-spirv. Without a compiler there is no such plug-in: the program is built all the same, runs
# on the processor, and says at run time what is missing. Further calls for a program add files.
#
# The device's compilers get the definitions, folders of headers and options with which the program's own C++ is compiled,
# even where they are set after the call: for the target, in the libraries that it links, for the directory, and in
# CMAKE_CXX_FLAGS. They get what the source properties of the .cu file say as well. What they cannot follow stops the
# build.
#
# Variables: TESSERA_KERNELS_CUDA is ON (nvcc must be there), OFF or AUTO; CMAKE_CUDA_ARCHITECTURES names the
# architectures, CMAKE_CUDA_COMPILER or the environment's CUDACXX nvcc, and CMAKE_CUDA_FLAGS further flags.
# TESSERA_KERNELS_OPENCL is ON (clang and llvm-spirv must be there), OFF or AUTO. Version 15 of both is looked for
# (Debian: clang-15 and llvm-spirv-15); TESSERA_SPIRV_CLANG and TESSERA_SPIRV_TRANSLATOR name others, of one version.
# The program's property TESSERA_KERNELS_FILE lists the plug-ins, for install(FILES): they belong beside the installed
# program.
# CMake's language CUDA is not used: a project need not enable it, and a function cannot. A plug-in is a target of C++,
# of which tessera_nvcc.sh and tessera_spirv.sh compile and link each file.

set(TESSERA_KERNELS_CUDA AUTO CACHE STRING "Build the device code of user kernels: ON, OFF or AUTO (where nvcc is)")
set(TESSERA_KERNELS_OPENCL AUTO CACHE STRING
  "Build the device code of user kernels in SPIR-V: ON, OFF or AUTO (where clang and llvm-spirv are)")
set_property(CACHE TESSERA_KERNELS_CUDA TESSERA_KERNELS_OPENCL PROPERTY STRINGS AUTO ON OFF)

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

# tessera_find_nvcc(<result> <program>): nvcc, or nothing where the program goes without device code.
function(tessera_find_nvcc result program)
  set(${result} "" PARENT_SCOPE)
  if(TESSERA_KERNELS_CUDA STREQUAL "OFF")
    return()
  endif()
  set(TESSERA_NVCC "${CMAKE_CUDA_COMPILER}")
  if(NOT TESSERA_NVCC)
    unset(TESSERA_NVCC)
    find_program(TESSERA_NVCC nvcc HINTS ENV CUDACXX ENV CUDA_HOME ENV CUDA_PATH PATHS /usr/local/cuda PATH_SUFFIXES bin
                 DOC "nvcc, for the device code of user kernels")
    mark_as_advanced(TESSERA_NVCC)
  endif()
  if(TESSERA_NVCC)
    set(${result} "${TESSERA_NVCC}" PARENT_SCOPE)
  elseif(TESSERA_KERNELS_CUDA STREQUAL "AUTO")
    message(STATUS "Tessera: ${program} has no device code, because nvcc was not found")
  else()
    message(FATAL_ERROR "TESSERA_KERNELS_CUDA=ON, but nvcc was not found: set CUDACXX to its path")
  endif()
endfunction()

# tessera_find_spirv(<result> <program>): the settings of tessera_spirv.sh that name its compilers, or nothing where the
# program goes without SPIR-V.
function(tessera_find_spirv result program)
  set(${result} "" PARENT_SCOPE)
  if(TESSERA_KERNELS_OPENCL STREQUAL "OFF")
    return()
  endif()
  find_program(TESSERA_SPIRV_CLANG clang++-15 DOC "clang, for user kernels in SPIR-V")
  find_program(TESSERA_SPIRV_TRANSLATOR llvm-spirv-15 DOC "llvm-spirv of clang's version, for user kernels in SPIR-V")
  mark_as_advanced(TESSERA_SPIRV_CLANG TESSERA_SPIRV_TRANSLATOR)
  set(absent "")
  if(NOT TESSERA_SPIRV_CLANG)
    list(APPEND absent "clang++-15 (Debian: clang-15, or another one in TESSERA_SPIRV_CLANG)")
  endif()
  if(NOT TESSERA_SPIRV_TRANSLATOR)
    list(APPEND absent "llvm-spirv-15 (Debian: llvm-spirv-15, or another one in TESSERA_SPIRV_TRANSLATOR)")
  endif()
  if(NOT absent)
    set(text "clang ${TESSERA_SPIRV_CLANG}\ntranslator ${TESSERA_SPIRV_TRANSLATOR}\n")
    execute_process(COMMAND ${TESSERA_SPIRV_CLANG} -dumpversion OUTPUT_VARIABLE version ERROR_QUIET)
    if(version MATCHES "^1[56][.]") # later versions write opaque pointers, which only their own llvm-spirv reads
      string(APPEND text "compile -Xclang\ncompile -no-opaque-pointers\n")
    endif()
    set(${result} "${text}" PARENT_SCOPE)
    return()
  endif()
  list(JOIN absent " and " absent)
  if(TESSERA_KERNELS_OPENCL STREQUAL "AUTO")
    message(STATUS "Tessera: ${program} has no device code for OpenCL, because there is no ${absent}")
  else()
    message(FATAL_ERROR "TESSERA_KERNELS_OPENCL=ON, but there is no ${absent}")
  endif()
endfunction()

# tessera_add_kernels_target(<program> <target> <form> <script> <settings>): the plug-in's target, without sources.
# <form> is cuda or opencl, and <script> is given the lines of <settings>.
function(tessera_add_kernels_target program target form script text)
  get_target_property(here ${program} SOURCE_DIR)
  if(NOT here STREQUAL CMAKE_CURRENT_SOURCE_DIR)
    message(FATAL_ERROR "tessera_add_kernels(${program}) is called in ${CMAKE_CURRENT_SOURCE_DIR}, and ${program} was "
      "added in ${here}, which may have other flags: call it there")
  endif()
  add_library(${target} MODULE)
  target_link_libraries(${target} PRIVATE "$<TARGET_PROPERTY:${program},LINK_LIBRARIES>")
  target_include_directories(${target} PRIVATE "$<TARGET_PROPERTY:${program},INCLUDE_DIRECTORIES>")
  target_compile_definitions(${target} PRIVATE "$<TARGET_PROPERTY:${program},COMPILE_DEFINITIONS>")
  target_compile_options(${target} PRIVATE "$<TARGET_PROPERTY:${program},COMPILE_OPTIONS>")
  set(settings "${CMAKE_CURRENT_BINARY_DIR}/CMakeFiles/${target}.settings")
  set(script "${CMAKE_CURRENT_FUNCTION_LIST_DIR}/${script}")
  set_target_properties(${target} PROPERTIES
    PREFIX lib OUTPUT_NAME ${program}_kernels_${form} DEBUG_POSTFIX ""
    CXX_COMPILER_LAUNCHER "sh;${script};${settings}" CXX_LINKER_LAUNCHER "sh;${script};${settings}"
    LINK_DEPENDS "${settings};${script}"
    UNITY_BUILD OFF DISABLE_PRECOMPILE_HEADERS ON EXPORT_COMPILE_COMMANDS OFF CXX_SCAN_FOR_MODULES OFF
    INTERPROCEDURAL_OPTIMIZATION OFF CXX_CLANG_TIDY "" CXX_CPPCHECK "" CXX_CPPLINT "" CXX_INCLUDE_WHAT_YOU_USE ""
    LINK_WHAT_YOU_USE OFF)
  # The plug-in lies beside the program, or for a static library where shared libraries lie.
  get_target_property(type ${program} TYPE)
  if(type MATCHES "^(EXECUTABLE|(SHARED|MODULE)_LIBRARY)$")
    set_target_properties(${target} PROPERTIES LIBRARY_OUTPUT_DIRECTORY "$<TARGET_FILE_DIR:${program}>")
  endif()
  add_dependencies(${program} ${target})
  set_property(TARGET ${program} APPEND PROPERTY TESSERA_KERNELS_FILE "$<TARGET_FILE:${target}>")
  set(text "program ${program}\nkind ${CMAKE_CXX_COMPILER_ID}\n${text}")
  set_target_properties(${target} PROPERTIES TESSERA_KERNELS_SETTINGS "${text}")
  # What the project sets after this call counts too.
  cmake_language(EVAL CODE "cmake_language(DEFER DIRECTORY [[${CMAKE_SOURCE_DIR}]]
    CALL tessera_finish_kernels [[${program}]] [[${target}]] [[${settings}]] [[${script}]])")
endfunction()

# tessera_nvcc_settings(<result> <nvcc>): what tessera_nvcc.sh needs to know of nvcc.
function(tessera_nvcc_settings result nvcc)
  tessera_kernel_architectures(architectures)
  separate_arguments(further NATIVE_COMMAND "${CMAKE_CUDA_FLAGS}")
  if(CMAKE_CUDA_HOST_COMPILER)
    list(APPEND further -ccbin ${CMAKE_CUDA_HOST_COMPILER})
  endif()
  set(text "nvcc ${nvcc}\n")
  foreach(flag IN LISTS architectures further)
    string(APPEND text "compile ${flag}\nlink ${flag}\n")
  endforeach()
  set(launchers ${CMAKE_CUDA_COMPILER_LAUNCHER})
  list(REVERSE launchers)
  foreach(word IN LISTS launchers)
    string(APPEND text "launcher ${word}\n")
  endforeach()
  set(${result} "${text}" PARENT_SCOPE)
endfunction()

# tessera_finish_kernels(<program> <target> <settings> <script>): takes over the properties that no generator expression
# does, and writes the settings of the script.
function(tessera_finish_kernels program target settings script)
  foreach(property CXX_STANDARD CXX_STANDARD_REQUIRED CXX_EXTENSIONS COMPILE_FLAGS COMPILE_FEATURES)
    get_target_property(value ${program} ${property})
    if(NOT value MATCHES "NOTFOUND$")
      set_target_properties(${target} PROPERTIES ${property} "${value}")
    endif()
  endforeach()
  get_target_property(type ${program} TYPE)
  get_target_property(exports ${program} ENABLE_EXPORTS)
  if(exports OR type MATCHES "^(SHARED|MODULE)_LIBRARY$")
    get_target_property(symbol ${program} DEFINE_SYMBOL)
    if(NOT symbol)
      string(MAKE_C_IDENTIFIER ${program} symbol)
      string(APPEND symbol "_EXPORTS")
    endif()
    set_target_properties(${target} PROPERTIES DEFINE_SYMBOL ${symbol})
  endif()

  get_target_property(files ${target} TESSERA_KERNELS_SOURCES)
  get_target_property(stubs ${target} SOURCES)
  foreach(source stub IN ZIP_LISTS files stubs)
    foreach(property COMPILE_DEFINITIONS COMPILE_OPTIONS COMPILE_FLAGS INCLUDE_DIRECTORIES)
      get_source_file_property(value "${source}" TARGET_DIRECTORY ${program} ${property})
      if(value)
        set_property(SOURCE "${stub}" TARGET_DIRECTORY ${program} APPEND PROPERTY ${property} "${value}")
      endif()
    endforeach()
    set_property(SOURCE "${stub}" TARGET_DIRECTORY ${program} APPEND PROPERTY
      OBJECT_DEPENDS "${source};${settings};${script}")
  endforeach()

  get_target_property(text ${target} TESSERA_KERNELS_SETTINGS)
  get_target_property(sources ${program} SOURCES)
  foreach(source IN LISTS sources)
    set(definitions "")
    if(NOT source MATCHES "\\$<|[.](h|hpp|cuh|cu)$|NOTFOUND$")
      get_source_file_property(definitions "${source}" TARGET_DIRECTORY ${program} COMPILE_DEFINITIONS)
      foreach(property COMPILE_OPTIONS COMPILE_FLAGS)
        get_source_file_property(value "${source}" TARGET_DIRECTORY ${program} ${property})
        string(REGEX MATCHALL "-D *[A-Za-z_][^ ;]*" words "${value}")
        list(TRANSFORM words REPLACE "^-D *" "")
        list(APPEND definitions ${words})
      endforeach()
    endif()
    foreach(definition IN LISTS definitions)
      if(definition MATCHES "^(-D)?[A-Za-z_][A-Za-z_0-9]*(=|$)" AND NOT definition MATCHES "NOTFOUND$")
        string(REGEX REPLACE "^-D" "" definition "${definition}")
        string(APPEND text "elsewhere ${definition}\t${source}\n")
      endif()
    endforeach()
  endforeach()
  file(CONFIGURE OUTPUT "${settings}" CONTENT "${text}" @ONLY)
endfunction()

# tessera_add_kernels_sources(<program> <target> <form> <file>.cu...): adds a source for each file, which includes it.
function(tessera_add_kernels_sources program target form)
  foreach(source ${ARGN})
    cmake_path(ABSOLUTE_PATH source BASE_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR} NORMALIZE)
    cmake_path(GET source FILENAME file)
    string(MD5 key "${form} ${source}") # files of other folders may have the same name
    string(SUBSTRING ${key} 0 8 key)
    set(stub "${CMAKE_CURRENT_BINARY_DIR}/tessera_kernels/${program}/${key}/${file}.cpp")
    get_target_property(stubs ${target} SOURCES)
    if(NOT "${stub}" IN_LIST stubs)
      file(CONFIGURE OUTPUT "${stub}" CONTENT "#include \"${source}\"\n" @ONLY)
      target_sources(${target} PRIVATE "${stub}")
      set_property(TARGET ${target} APPEND PROPERTY TESSERA_KERNELS_SOURCES "${source}")
    endif()
  endforeach()
endfunction()

function(tessera_add_kernels program)
  get_target_property(called ${program} TESSERA_KERNELS_NAME)
  if(called MATCHES "NOTFOUND$")
    target_compile_options(${program} PRIVATE $<$<COMPILE_LANGUAGE:CXX>:-ffp-contract=off -fno-math-errno>)
    # Each of two modules in a process has its own functors, even where these share C++ names.
    get_target_property(type ${program} TYPE)
    if(type STREQUAL "MODULE_LIBRARY")
      target_compile_options(${program} PRIVATE $<$<COMPILE_LANG_AND_ID:CXX,GNU>:-fno-gnu-unique>)
    endif()
    target_compile_definitions(${program} PRIVATE TESSERA_USER_KERNELS="$<TARGET_PROPERTY:${program},TESSERA_KERNELS_NAME>")
    set_target_properties(${program} PROPERTIES TESSERA_KERNELS_NAME "")
  endif()
  if(NOT ARGN)
    return()
  endif()
  set_target_properties(${program} PROPERTIES TESSERA_KERNELS_NAME lib${program}_kernels_cuda.so)
  tessera_find_nvcc(nvcc ${program})
  if(nvcc)
    set(target ${program}_kernels)
    if(NOT TARGET ${target})
      tessera_nvcc_settings(text ${nvcc})
      tessera_add_kernels_target(${program} ${target} cuda tessera_nvcc.sh "${text}")
    endif()
    tessera_add_kernels_sources(${program} ${target} cuda ${ARGN})
  endif()
  tessera_find_spirv(text ${program})
  if(text)
    set(target ${program}_kernels_opencl)
    if(NOT TARGET ${target})
      tessera_add_kernels_target(${program} ${target} opencl tessera_spirv.sh "${text}")
    endif()
    tessera_add_kernels_sources(${program} ${target} opencl ${ARGN})
  endif()
endfunction()
