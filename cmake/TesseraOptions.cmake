# This file defines the options of the build, but the ones of the backends, which TesseraBackends.cmake lists. AUTO builds
# something where its packages are found.

include(GNUInstallDirs)

set(tessera_is_top_level ${PROJECT_IS_TOP_LEVEL})
option(TESSERA_BUILD_APPS "Build gemm_compare and tessera_info" ${tessera_is_top_level})
option(TESSERA_BUILD_TESTS "Build the tests" ${tessera_is_top_level})
set(TESSERA_TESTS all CACHE STRING "The tests that TESSERA_BUILD_TESTS builds: all, or user, as ./tessera test runs them")
set_property(CACHE TESSERA_TESTS PROPERTY STRINGS all user)
option(TESSERA_EXTENSIONS "Build what goes beyond the core (src/extensions) and the bindings for other languages (src/bindings)" ON)
option(TESSERA_WERROR "Treat warnings as errors" OFF)
option(TESSERA_DEBIAN_PACKAGES "Configure for cpack, which then makes Debian packages; ./tessera deb does both" OFF)
set(TESSERA_MPI AUTO CACHE STRING "Build the plug-ins for MPI, one for each library that pkg-config finds: ON, OFF or AUTO")
set_property(CACHE TESSERA_MPI PROPERTY STRINGS AUTO ON OFF)
set(TESSERA_XTENSOR AUTO CACHE STRING "Use xtensor, which writes .csv files: ON, OFF or AUTO")
set(TESSERA_JSON AUTO CACHE STRING
  "Use nlohmann_json for tuning tables, certificates as JSON and what Auto has measured: ON, OFF or AUTO")
set_property(CACHE TESSERA_XTENSOR TESSERA_JSON PROPERTY STRINGS AUTO ON OFF)
set(TESSERA_PYTHON OFF CACHE STRING "Build the Python package (needs Python's headers and nanobind): ON, OFF or AUTO")
set_property(CACHE TESSERA_PYTHON PROPERTY STRINGS AUTO ON OFF)
option(TESSERA_FUZZ "Build the targets of tests/fuzz as programs of libFuzzer, for which the compiler must be clang" OFF)
set(TESSERA_SANITIZE "" CACHE STRING "Sanitizers to build with, as -fsanitize takes them: address,undefined or thread")
# The default is machine code for Turing, for Ampere and Ada, and for Hopper; newer devices compile the PTX of 80 when
# they load it.
set(TESSERA_CUDA_ARCHITECTURES "75-real;80;90a-real" CACHE STRING
  "CUDA architectures to compile for; release: the architectures of a release")
# What a release is compiled for. Ampere's code for 8.0 runs on 8.6, 8.7 and 8.9 as it is, and code for 10.0 and 12.0 on
# the other Blackwells of the same major number. A device of 11.0, and any that comes, compiles the PTX of 10.0.
set(tessera_release_architectures 75-real 80-real 90a-real 100 120-real)
set(tessera_compress_device_code OFF)
if(TESSERA_CUDA_ARCHITECTURES STREQUAL "release")
  set(tessera_compress_device_code ON)
  set(TESSERA_CUDA_ARCHITECTURES ${tessera_release_architectures}) # hides the cache's entry
endif()
# OFF halves the time to compile kernels. It is meant for machines that check the build and have no GPU.
option(TESSERA_OPTIMIZE_DEVICE_CODE "Optimise CUDA device code" ON)

# Within another project this holds for Tessera's own folders, and the project's own build type stays as it is.
if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE Release)
  if(PROJECT_IS_TOP_LEVEL)
    set(CMAKE_BUILD_TYPE Release CACHE STRING "Debug, Release, RelWithDebInfo or MinSizeRel" FORCE)
  endif()
endif()

# How a project around this one compiles its own files is not how these are compiled: which of them are joined, whether
# a newer compiler's warnings stop the build, what linters find, and link-time optimisation, which may move code between
# files whose flags differ. Plug-ins are found by their names, which have no postfix.
set(tessera_joining_is_given OFF)
if(PROJECT_IS_TOP_LEVEL)
  if(DEFINED CMAKE_UNITY_BUILD)
    set(tessera_joining_is_given ON)
  endif()
else()
  set(CMAKE_UNITY_BUILD OFF) # tessera_join_files() joins what can be joined
  set(CMAKE_UNITY_BUILD_BATCH_SIZE 8)
  foreach(setting COMPILE_WARNING_AS_ERROR INTERPROCEDURAL_OPTIMIZATION INTERPROCEDURAL_OPTIMIZATION_DEBUG
          INTERPROCEDURAL_OPTIMIZATION_RELEASE INTERPROCEDURAL_OPTIMIZATION_RELWITHDEBINFO
          INTERPROCEDURAL_OPTIMIZATION_MINSIZEREL)
    set(CMAKE_${setting} OFF)
  endforeach()
  foreach(setting CXX_CLANG_TIDY CXX_CPPCHECK CXX_CPPLINT CXX_INCLUDE_WHAT_YOU_USE)
    set(CMAKE_${setting} "")
  endforeach()
endif()
foreach(build DEBUG RELEASE RELWITHDEBINFO MINSIZEREL)
  set(CMAKE_${build}_POSTFIX "")
endforeach()

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_CXX_VISIBILITY_PRESET hidden)
set(CMAKE_VISIBILITY_INLINES_HIDDEN ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)

# The build tree looks like the install tree: programs in bin, the library and its plug-ins in lib.
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bin)
set(CMAKE_LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/lib)

# The install tree may be moved: programs find the library from where they are. An absolute folder for libraries stays.
file(RELATIVE_PATH tessera_program_rpath "/prefix/${CMAKE_INSTALL_BINDIR}" "/prefix/${CMAKE_INSTALL_LIBDIR}")
set(tessera_program_rpath "$ORIGIN/${tessera_program_rpath}")
if(IS_ABSOLUTE "${CMAKE_INSTALL_LIBDIR}" OR IS_ABSOLUTE "${CMAKE_INSTALL_BINDIR}")
  set(tessera_program_rpath "${CMAKE_INSTALL_FULL_LIBDIR}")
endif()
set(CMAKE_INSTALL_RPATH "${tessera_program_rpath}")
if(TESSERA_DEBIAN_PACKAGES) # packages stay where they are, and hold no path of the build
  set(CMAKE_SKIP_INSTALL_RPATH ON)
  add_compile_options($<$<COMPILE_LANGUAGE:CXX>:-ffile-prefix-map=${PROJECT_SOURCE_DIR}=.>)
  add_link_options(LINKER:-z,relro,-z,now)
endif()

if(TESSERA_FUZZ)
  if(NOT CMAKE_CXX_COMPILER_ID MATCHES Clang)
    message(FATAL_ERROR "TESSERA_FUZZ=ON needs clang, whose libFuzzer it uses, and the compiler is ${CMAKE_CXX_COMPILER_ID}: "
      "add -DCMAKE_CXX_COMPILER=clang++-16, or use tests/fuzz/run.sh")
  endif()
  add_compile_options($<$<COMPILE_LANGUAGE:CXX>:-fsanitize=fuzzer-no-link>) # libFuzzer sees which code an input reaches
endif()
if(TESSERA_SANITIZE)
  add_compile_options($<$<COMPILE_LANGUAGE:CXX>:-fsanitize=${TESSERA_SANITIZE}>
                      $<$<COMPILE_LANGUAGE:CXX>:-fno-sanitize-recover=all> $<$<COMPILE_LANGUAGE:CXX>:-fno-omit-frame-pointer>)
  add_link_options(-fsanitize=${TESSERA_SANITIZE})
  # Instrumented code is slow to optimise, so a Debug build optimises only the code that computes, and only a little.
  set(tessera_hot_code_options $<$<COMPILE_LANGUAGE:CXX>:-O1>)
  # Clones of functions for FMA are chosen before a sanitizer is ready, so there are none. A sanitized build runs where it
  # was built: with FMA there, std::fma is an instruction and no call. The bits are equal.
  if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64" AND NOT CMAKE_CROSSCOMPILING)
    include(CheckCXXSourceRuns)
    check_cxx_source_runs("int main() { return !__builtin_cpu_supports(\"fma\"); }" TESSERA_BUILT_WHERE_FMA_IS)
    if(TESSERA_BUILT_WHERE_FMA_IS)
      list(APPEND tessera_hot_code_options $<$<COMPILE_LANGUAGE:CXX>:-mfma>)
    endif()
  endif()
  # Unrolled micro-kernels would take half a minute even so, and tests run as fast without optimising them.
  set(tessera_unrolled_code_options -O0)
  # Other code leaves out the checks that double its compile time; AddressSanitizer notices null pointers too.
  set(tessera_cold_code_options $<$<COMPILE_LANGUAGE:CXX>:-fno-sanitize=null,vptr,alignment,object-size>)
endif()
